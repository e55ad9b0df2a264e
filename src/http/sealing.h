// What is done to every response before it is sent: ETag, compression, and the header that browsers ask for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace braid::http {

struct SealOptions {
  /// Origins whose pages may use the API, such as "https://example.org"; "*" is every one. Empty: none.
  std::vector<std::string> allow_origins;
};

/// Makes a 304 of a cacheable response that the client has, compresses what is worth it and accepted, and adds the
/// header of CORS where the origin is allowed.
void SealResponse(const Request& request, const SealOptions& options, Response& response);

/// The answer to OPTIONS: what the path can do, and for browsers that they may do it.
Response OptionsResponse(const Request& request, const SealOptions& options, const std::vector<std::string>& allow);

/// A page of another origin, in the browser of somebody who can reach this server, must not change anything or read
/// what it could not know: OK, or why the request is refused.
Status CheckOrigin(const Request& request, const SealOptions& options);

/// True if the header Accept-Encoding allows gzip.
bool AcceptsGzip(std::string_view accept_encoding);
std::string Gzip(std::string_view text);
/// Of what was made by gzip and is known to be whole.
std::string Gunzip(std::string_view packed);
/// True if If-None-Match has this tag: a weak comparison, as for every GET.
bool HasTag(std::string_view if_none_match, std::string_view tag);
std::string ETagOf(std::string_view body);

}  // namespace braid::http
