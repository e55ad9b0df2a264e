// The OpenAPI document of a table of routes.
#include "http/routes.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"

namespace braid::http {
namespace {

std::string Joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += StrCat(text.empty() ? "" : ", ", part);
  return text;
}

std::string SchemaOf(const Parameter& parameter) {
  std::vector<std::string> fields;
  if (parameter.type == Parameter::Type::kInteger) {
    fields.emplace_back(R"("type": "integer")");
    if (parameter.min != INT64_MIN) fields.push_back(StrCat(R"("minimum": )", parameter.min));
    if (parameter.max != INT64_MAX) fields.push_back(StrCat(R"("maximum": )", parameter.max));
    if (!parameter.fallback.empty()) fields.push_back(StrCat(R"("default": )", parameter.fallback));
  } else if (parameter.type == Parameter::Type::kBoolean) {
    fields.emplace_back(R"("type": "boolean")");
    if (!parameter.fallback.empty()) fields.push_back(StrCat(R"("default": )", parameter.fallback));
  } else {
    fields.emplace_back(R"("type": "string")");
    if (!parameter.fallback.empty()) fields.push_back(StrCat(R"("default": )", QuotedJson(parameter.fallback)));
    if (!parameter.choices.empty()) {
      std::vector<std::string> choices;
      for (const std::string_view choice : Split(parameter.choices, ',')) choices.push_back(QuotedJson(choice));
      fields.push_back(StrCat(R"("enum": [)", Joined(choices), "]"));
    }
  }
  return StrCat("{", Joined(fields), "}");
}

std::string ParameterJson(const Parameter& parameter) {
  const std::string_view place = parameter.place == Parameter::Place::kPath    ? "path"
                                 : parameter.place == Parameter::Place::kQuery ? "query"
                                                                               : "header";
  return StrCat(R"({"name": )", QuotedJson(parameter.name), R"(, "in": )", QuotedJson(place), R"(, "required": )",
                parameter.required || place == "path", R"(, "description": )", QuotedJson(parameter.help),
                R"(, "schema": )", SchemaOf(parameter), "}");
}

std::string Reference(std::string_view schema) { return StrCat(R"({"$ref": "#/components/schemas/)", schema, R"("})"); }

std::string Content(std::string_view media, std::string_view schema) {
  const std::string inside = media == kJson ? Reference(schema) : R"({"type": "string"})";
  return StrCat(QuotedJson(media), R"(: {"schema": )", inside, "}");
}

std::string OperationJson(const Route& route) {
  std::vector<std::string> parameters;
  parameters.reserve(route.parameters.size());
  for (const Parameter& parameter : route.parameters) parameters.push_back(ParameterJson(parameter));
  std::string json = StrCat(R"({"summary": )", QuotedJson(route.summary), R"(, "tags": [)", QuotedJson(route.group),
                            R"(], "parameters": [)", Joined(parameters), "]");
  if (!route.takes.empty()) {
    json += StrCat(R"(, "requestBody": {"required": true, "content": {)", Content(kJson, route.takes),
                   route.upload != nullptr ? StrCat(", ", Content(kNdjson, "")) : "", "}}");
  }
  json += StrCat(R"(, "responses": {")", route.success, R"(": {"description": )", QuotedJson(ReasonOf(route.success)),
                 R"(, "content": {)", Content(route.media, route.gives),
                 route.gives_lines ? StrCat(", ", Content(kNdjson, "")) : "", "}}");
  if (route.cacheable) json += R"(, "304": {"description": "The client has it already (If-None-Match)."})";
  return json + R"(, "default": {"description": "An error.", "content": {)" + Content(kJson, "Error") + "}}}}";
}

}  // namespace

std::string OpenApiDocument(std::span<const Route> routes, std::span<const Schema> schemas) {
  std::vector<std::string> paths;
  std::vector<std::string_view> done;
  for (const Route& first : routes) {
    if (std::ranges::find(done, first.path) != done.end()) continue;
    done.push_back(first.path);
    std::vector<std::string> operations;
    for (const Route& route : routes) {
      if (route.path != first.path) continue;
      std::string method(route.method);
      std::ranges::transform(method, method.begin(), [](unsigned char c) { return std::tolower(c); });
      operations.push_back(StrCat(QuotedJson(method), ": ", OperationJson(route)));
    }
    paths.push_back(StrCat(QuotedJson(first.path), ": {", Joined(operations), "}"));
  }
  std::vector<std::string> named;
  named.reserve(schemas.size());
  for (const Schema& schema : schemas) named.push_back(StrCat(QuotedJson(schema.name), ": ", schema.json));
  return StrCat(R"({"openapi": "3.1.0", "info": {"title": "Braid", "version": "1", "description": )",
                R"("Staking statistics, storefront, settlement log and block explorer of one store."}, "paths": {)",
                Joined(paths), R"(}, "components": {"schemas": {)", Joined(named), "}}}");
}

}  // namespace braid::http
