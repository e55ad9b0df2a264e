#include "http/web.h"

#include <algorithm>

#include "base/strings.h"
#include "http/sealing.h"

namespace braid::http {
namespace {

constexpr std::string_view kPage = "/index.html";
// The first components of the views' addresses. Other paths do not give the page, so that a mistyped route is "not
// found".
constexpr std::string_view kViews[] = {"shards", "staking", "storefront", "settlement", "explorer"};

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

bool IsView(std::string_view path) {
  const std::string_view first = path.substr(1, path.find('/', 1) - 1);
  return path == "/" || std::ranges::find(kViews, first) != std::end(kViews);
}

Response FileResponse(const Request& request, const WebFile& file) {
  Response response{.content_type = std::string(file.type)};
  response.encoded = true;
  // The name of an asset has the hash of its contents.
  const bool hashed = file.path.starts_with("/assets/");
  response.headers.emplace_back("Cache-Control", hashed ? "public, max-age=31536000, immutable" : "no-cache");
  response.headers.emplace_back("ETag", std::string(file.tag));
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (file.path == kPage) {
    response.headers.emplace_back("Content-Security-Policy", std::string(kPolicy));
    response.headers.emplace_back("Referrer-Policy", "no-referrer");
  }
  if (HasTag(request.Header("if-none-match"), file.tag)) {
    response.status = 304;
  } else if (AcceptsGzip(request.Header("accept-encoding"))) {
    response.body = file.packed;
    response.headers.emplace_back("Content-Encoding", "gzip");
  } else {
    response.body = Gunzip(file.packed);
  }
  return response;
}

}  // namespace

std::optional<Response> WebResponse(const Request& request) {
  if (request.method != "GET" && request.method != "HEAD") return std::nullopt;
  const bool view = request.path.starts_with('/') && IsView(request.path);
  const std::string_view wanted = view ? kPage : std::string_view(request.path);
  const auto file = std::ranges::find(WebFiles(), wanted, &WebFile::path);
  if (file != WebFiles().end()) return FileResponse(request, *file);
  if (!view || !WebFiles().empty()) return std::nullopt;
  return Response{.content_type = "text/plain; charset=utf-8",
                  .body = "This server was built without its dashboard (-DBRAID_WEB=OFF). The API is at /docs.\n"};
}

}  // namespace braid::http
