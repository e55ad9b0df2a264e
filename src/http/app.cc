#include "http/app.h"

#include <algorithm>

#include "base/log.h"
#include "base/strings.h"
#include "http/message.h"
#include "http/web.h"

namespace braid::http {
namespace {

using std::chrono::steady_clock;

// "application/json" of "Application/JSON; charset=utf-8".
std::string MediaOf(std::string_view content_type) {
  std::string media(content_type.substr(0, content_type.find(';')));
  while (media.ends_with(' ')) media.pop_back();
  std::ranges::transform(media, media.begin(), [](unsigned char c) { return std::tolower(c); });
  return media;
}

Response MethodNotAllowed(const Request& request, const std::vector<std::string>& allow) {
  std::string methods;
  for (const std::string& method : allow) methods += StrCat(methods.empty() ? "" : ", ", method);
  Response response =
      ErrorResponse(405, "MethodNotAllowed", StrCat(request.path, " has no ", request.method, "; it has ", methods));
  response.headers.emplace_back("Allow", methods);
  return response;
}

// A request that has a route, or is refused.
class RouteExchange final : public Exchange {
 public:
  RouteExchange(Api& api, const SealOptions& options, Request request)
      : api_(api), options_(options), request_(std::move(request)), began_(steady_clock::now()) {
    api_.metrics().Began();
  }

  void Find(std::span<const Route> routes) {
    if (const Status status = CheckOrigin(request_, options_); !status.ok()) return Refuse(ErrorResponse(status));
    Match match = FindRoute(routes, request_);
    if (match.allow.empty()) {
      if (std::optional<Response> page = WebResponse(request_)) return Refuse(*std::move(page));
      return Refuse(ErrorResponse(404, "NotFound", StrCat("there is nothing at ", request_.path, "; see /docs")));
    }
    if (request_.method == "OPTIONS") return Refuse(OptionsResponse(request_, options_, match.allow));
    if (match.route == nullptr) return Refuse(MethodNotAllowed(request_, match.allow));
    route_ = match.route;
    Result<Arguments> arguments = Arguments::Parse(route_->parameters, match.path, request_);
    if (!arguments.ok()) return Refuse(ErrorResponse(arguments.error()));
    call_.arguments = *std::move(arguments);
    call_.wants_lines = route_->gives_lines && request_.Header("accept").find(kNdjson) != std::string_view::npos;
    CheckMedia();
  }

  std::optional<Response> Refusal() override { return std::move(refusal_); }
  bool streamed() const override { return streamed_; }
  bool takes_long() const override { return route_->takes_long; }

  std::optional<Response> Take(std::string_view part) override {
    return Guarded([&]() -> Result<std::optional<Response>> {
      const Status split = splitter_.Take(part);
      BRAID_CHECK_OK(TakeLines());  // those before the one that is too long
      if (!split.ok()) return std::optional(ErrorResponse(413, CodeName(split.code()), split.message()));
      return std::optional<Response>();
    });
  }

  Response Finish(std::string body) override {
    std::optional<Response> response = Guarded([&]() -> Result<std::optional<Response>> {
      if (streamed_) {
        BRAID_CHECK_OK(splitter_.Finish());
        BRAID_CHECK_OK(TakeLines());
        BRAID_TRY(Response finished, upload_->Finish());
        return std::optional(std::move(finished));
      }
      call_.body = std::move(body);
      if (!route_->takes.empty() && call_.body.empty()) return Status(Code::kBadValue, "the request has no body");
      BRAID_TRY(Response answer, route_->run(api_, call_));
      return std::optional(std::move(answer));
    });
    return *std::move(response);
  }

  void Seal(Response& response) override {
    if (route_ != nullptr && response.status == 200) response.cacheable = route_->cacheable;
    SealResponse(request_, options_, response);
  }

  void Sent(unsigned status, uint64_t bytes_read, uint64_t bytes_written) override {
    // Methods are whatever clients send; only those that exist are labels.
    const bool known = route_ != nullptr || request_.method == "GET" || request_.method == "POST";
    api_.metrics().Ended(route_ == nullptr ? "" : route_->path, known ? std::string_view(request_.method) : "", status,
                         steady_clock::now() - began_, bytes_read, bytes_written);
  }

 private:
  void Refuse(Response response) { refusal_ = std::move(response); }

  // Only types that a page of another origin cannot send without a CORS preflight.
  void CheckMedia() {
    if (route_->takes.empty()) return;
    const std::string media = MediaOf(request_.Header("content-type"));
    streamed_ = route_->upload != nullptr && media == kNdjson;
    if (streamed_ || media == kJson) return;
    Refuse(ErrorResponse(415, "UnsupportedMediaType",
                         StrCat("the Content-Type is '", media, "'; it must be ", kJson,
                                route_->upload != nullptr ? StrCat(" or ", kNdjson) : "")));
  }

  Status TakeLines() {
    if (upload_ == nullptr) {
      BRAID_TRY(upload_, route_->upload(api_, call_));
    }
    if (splitter_.lines().empty()) return {};
    return upload_->Take(splitter_.lines(), splitter_.numbers());
  }

  template <typename Function>
  std::optional<Response> Guarded(const Function& function) {
    try {
      Result<std::optional<Response>> response = function();
      if (response.ok()) return *std::move(response);
      return ErrorResponse(response.error());
    } catch (const std::exception& error) {  // of a library: our own code returns Status
      log::error("{} {} failed: {}", request_.method, request_.path, error.what());
      return ErrorResponse(500, "InternalError", error.what());
    }
  }

  Api& api_;
  const SealOptions& options_;
  const Request request_;
  const steady_clock::time_point began_;
  const Route* route_ = nullptr;  // null: there is none
  Call call_;
  std::optional<Response> refusal_;
  bool streamed_ = false;
  LineSplitter splitter_;
  std::unique_ptr<Upload> upload_;
};

}  // namespace

std::unique_ptr<Exchange> App::Begin(Request request) {
  auto exchange = std::make_unique<RouteExchange>(api_, options_, std::move(request));
  exchange->Find(routes_);
  return exchange;
}

Response App::Malformed(unsigned status, std::string_view code, std::string_view message) {
  Response response = ErrorResponse(status, code, message);
  SealResponse(Request(), options_, response);
  return response;
}

}  // namespace braid::http
