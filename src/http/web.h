// The dashboard: the files of web/, built and packed into the program.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "http/message.h"

namespace braid::http {

struct WebFile {
  std::string_view path;    // "/assets/index-4f2a.js"
  std::string_view type;    // the media type
  std::string_view tag;     // the ETag, with its quotation marks
  std::string_view packed;  // by gzip
};
/// Empty if the program was built without the dashboard (-DBRAID_WEB=OFF). Made by web/embed.mjs.
std::span<const WebFile> WebFiles();

/// A file, or for the address of a view the page that shows it; nothing for any other path or method.
std::optional<Response> WebResponse(const Request& request);

}  // namespace braid::http
