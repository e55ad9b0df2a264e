#include "http/sealing.h"

#include <xxhash.h>
#include <zlib.h>

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"

namespace braid::http {
namespace {

constexpr size_t kWorthCompressing = 1024;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

bool IsAllowed(std::string_view origin, const SealOptions& options) {
  return std::ranges::any_of(options.allow_origins,
                             [&](const std::string& allowed) { return allowed == "*" || allowed == origin; });
}

}  // namespace

bool HasTag(std::string_view header, std::string_view tag) {
  if (tag.starts_with("W/")) tag.remove_prefix(2);
  if (Trim(header) == "*") return true;
  for (std::string_view part : Split(header, ',')) {
    part = Trim(part);
    if (part.starts_with("W/")) part.remove_prefix(2);
    if (part == tag) return true;
  }
  return false;
}

namespace {

// The name in "name:port" or "[::1]:port".
std::string_view HostName(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool IsAddress(std::string_view name) {
  if (name.starts_with('[')) return true;
  return !name.empty() && name.find_first_not_of("0123456789.") == std::string_view::npos;
}

void AddCors(const Request& request, const SealOptions& options, Response& response) {
  const std::string_view origin = request.Header("origin");
  if (options.allow_origins.empty()) return;
  response.headers.emplace_back("Vary", "Origin");
  if (origin.empty() || !IsAllowed(origin, options)) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", std::string(origin));
  response.headers.emplace_back("Access-Control-Expose-Headers", "ETag");
}

}  // namespace

bool AcceptsGzip(std::string_view accept_encoding) {
  for (const std::string_view part : Split(accept_encoding, ',')) {
    const size_t semicolon = part.find(';');
    const std::string_view name = Trim(part.substr(0, semicolon));
    if (name != "gzip" && name != "*") continue;
    const std::string_view quality = semicolon == std::string_view::npos ? "" : Trim(part.substr(semicolon + 1));
    // q=0, q=0.0 and so on say no.
    return !quality.starts_with("q=") || quality.find_first_of("123456789") != std::string_view::npos;
  }
  return false;
}

std::string Gunzip(std::string_view packed) {
  z_stream stream{};
  constexpr int kGzipOnly = 15 + 16;
  BRAID_ASSERT(inflateInit2(&stream, kGzipOnly) == Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  int ended = Z_OK;
  while (ended == Z_OK) {
    char part[16 * 1024];
    stream.next_out = reinterpret_cast<Bytef*>(part);
    stream.avail_out = sizeof(part);
    ended = inflate(&stream, Z_NO_FLUSH);
    text.append(part, sizeof(part) - stream.avail_out);
  }
  BRAID_ASSERT(ended == Z_STREAM_END);
  inflateEnd(&stream);
  return text;
}

std::string Gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  BRAID_ASSERT(deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  BRAID_ASSERT(ended == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Weak, for the same body is sent compressed and not.
std::string ETagOf(std::string_view body) {
  const XXH128_hash_t hash = XXH3_128bits(body.data(), body.size());
  const std::string_view bytes(reinterpret_cast<const char*>(&hash), sizeof(hash));
  return StrCat("W/\"", Hex(bytes), "\"");
}

void SealResponse(const Request& request, const SealOptions& options, Response& response) {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  AddCors(request, options, response);
  if (response.encoded) return;
  if (response.cacheable && response.status == 200 && response.producer == nullptr) {
    const std::string tag = ETagOf(response.body);
    response.headers.emplace_back("ETag", tag);
    response.headers.emplace_back("Cache-Control", "no-cache");
    if (const std::string_view known = request.Header("if-none-match"); !known.empty() && HasTag(known, tag)) {
      response.status = 304;
      response.body.clear();
    }
  } else {
    response.headers.emplace_back("Cache-Control", "no-store");
  }
  if (response.producer != nullptr || response.feed != nullptr || response.body.size() < kWorthCompressing) return;
  response.headers.emplace_back("Vary", "Accept-Encoding");
  if (!AcceptsGzip(request.Header("accept-encoding"))) return;
  response.body = Gzip(response.body);
  response.headers.emplace_back("Content-Encoding", "gzip");
}

Response OptionsResponse(const Request& request, const SealOptions& options, const std::vector<std::string>& allow) {
  std::string methods;
  for (const std::string& method : allow) methods += StrCat(methods.empty() ? "" : ", ", method);
  Response response{.status = 204};
  response.headers.emplace_back("Allow", methods + ", OPTIONS");
  if (const std::string_view origin = request.Header("origin"); !origin.empty() && IsAllowed(origin, options)) {
    response.headers.emplace_back("Access-Control-Allow-Methods", methods);
    response.headers.emplace_back("Access-Control-Allow-Headers", "Content-Type, Idempotency-Key, If-None-Match");
    response.headers.emplace_back("Access-Control-Max-Age", "600");
  }
  return response;
}

Status CheckOrigin(const Request& request, const SealOptions& options) {
  const std::string_view host = request.Header("host");
  const std::string_view name = HostName(host);
  const bool any = std::ranges::find(options.allow_origins, "*") != options.allow_origins.end();
  // A name that an attacker's DNS has pointed at 127.0.0.1 makes his page one of the same origin.
  if (!any && !host.empty() && name != "localhost" && !name.ends_with(".localhost") && !IsAddress(name)) {
    return Status(Code::kUnauthorized,
                  StrCat("the host '", name, "' is not this server: use its address, such as 127.0.0.1, or localhost"));
  }
  const std::string_view origin = request.Header("origin");
  if (origin.empty() || request.method == "OPTIONS" || IsAllowed(origin, options)) return {};
  if (origin == StrCat("http://", host)) return {};
  return Status(Code::kUnauthorized,
                StrCat("pages of ", origin, " may not use this server; allow them with --http-allow-origin"));
}

}  // namespace braid::http
