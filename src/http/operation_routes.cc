// The routes for operators: health, metrics and the list of routes.
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "http/api.h"
#include "http/app.h"
#include "http/metrics.h"
#include "http/routes.h"

namespace braid::http {
namespace {

Result<client::BsonPtr> ServerStatus(Api& api) {
  client::Bson command;
  BSON_APPEND_INT32(command.get(), "serverStatus", 1);
  return client::RunCommand(api.clients().Acquire().get(), "admin", command.get());
}

Response HealthResponse(unsigned status, std::string_view word, std::string_view reason) {
  client::Bson json;
  json.Text("status", word);
  if (!reason.empty()) json.Text("reason", reason);
  return JsonResponse(json, status);
}

Result<Response> RunHealth(Api& /*api*/, const Call& /*call*/) { return HealthResponse(200, "ok", ""); }

Result<Response> RunReady(Api& api, const Call& /*call*/) {
  if (api.stopping()) return HealthResponse(503, "stopping", "the server is shutting down");
  const Result<client::BsonPtr> status = ServerStatus(api);
  if (!status.ok()) return HealthResponse(503, "unavailable", status.error().message());
  if (client::BoolOf(status->get(), "storageEngine.readOnly")) {
    return HealthResponse(503, "read-only", client::TextOf(status->get(), "storageEngine.readOnlyReason"));
  }
  return HealthResponse(200, "ready", "");
}

Result<Response> RunMetrics(Api& api, const Call& /*call*/) {
  BRAID_TRY(const client::BsonPtr status, ServerStatus(api));
  Exposition out;
  WriteEngineMetrics(*status, out);
  WriteServiceMetrics(api, out);
  api.metrics().Write(api.connections(), out);
  return Response{.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = out.text()};
}

Result<Response> RunLive(Api& api, const Call& call) {
  Response response{.content_type = std::string(kEvents)};
  response.feed = api.live().Listen(call.arguments.Integer("Last-Event-ID"),
                                    static_cast<size_t>(call.arguments.Integer("history")));
  return response;
}

Result<Response> RunOpenApi(Api& /*api*/, const Call& /*call*/) {
  static const std::string document = OpenApiDocument(AllRoutes(), AllSchemas());
  return Response{.body = document};
}

Result<Response> RunDocumentation(Api& /*api*/, const Call& /*call*/) {
  Response response{.content_type = "text/html; charset=utf-8", .body = std::string(DocumentationPage())};
  response.headers.emplace_back(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'");
  return response;
}

constexpr Parameter kLiveParameters[] = {
    {.name = "history",
     .help = "How many earlier samples come first.",
     .type = Parameter::Type::kInteger,
     .fallback = "0",
     .min = 0,
     .max = 300},
    {.name = "Last-Event-ID",
     .help = "The samples after this one come first, as browsers ask when they connect again.",
     .place = Parameter::Place::kHeader,
     .type = Parameter::Type::kInteger,
     .fallback = "0"},
};

constexpr std::string_view kOperation = "operation";
constexpr Route kOperationRoutes[] = {
    {.method = "GET",
     .path = "/healthz",
     .group = kOperation,
     .summary = "The process answers.",
     .gives = "Health",
     .run = RunHealth},
    {.method = "GET",
     .path = "/readyz",
     .group = kOperation,
     .summary = "The store answers and takes writes; 503 and the reason if it does not.",
     .gives = "Health",
     .run = RunReady},
    {.method = "GET",
     .path = "/metrics",
     .group = kOperation,
     .summary = "Figures of the server in the text format of Prometheus.",
     .run = RunMetrics,
     .media = "text/plain"},
    {.method = "GET",
     .path = "/v1/live",
     .group = kOperation,
     .summary = "Rates, latencies, memory and services as server-sent events: one JSON object per second.",
     .parameters = kLiveParameters,
     .run = RunLive,
     .media = kEvents},
    {.method = "GET",
     .path = "/openapi.json",
     .group = kOperation,
     .summary = "This document.",
     .gives = "OpenApi",
     .run = RunOpenApi,
     .cacheable = true},
    {.method = "GET",
     .path = "/docs",
     .group = kOperation,
     .summary = "A page that shows this document.",
     .run = RunDocumentation,
     .media = "text/html",
     .cacheable = true},
};

constexpr Schema kOperationSchemas[] = {
    {"Health",
     R"({"type": "object", "required": ["status"], "properties": {"status": {"type": "string"},
      "reason": {"type": "string"}}})"},
    {"OpenApi",
     R"({"type": "object", "required": ["openapi", "info", "paths", "components"],
      "properties": {"openapi": {"type": "string"}}})"},
};

}  // namespace

std::span<const Route> OperationRoutes() { return kOperationRoutes; }
std::span<const Schema> OperationSchemas() { return kOperationSchemas; }

}  // namespace braid::http
