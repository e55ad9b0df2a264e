#include "http/message.h"

#include <algorithm>

#include "base/strings.h"
#include "client/handles.h"

namespace braid::http {

std::string_view Request::Header(std::string_view name) const {
  for (const auto& [key, value] : headers) {
    if (key == name) return value;
  }
  return {};
}

Response ErrorResponse(unsigned status, std::string_view code, std::string_view message) {
  // What a client sent may be in the message, and may be anything.
  std::string text(message);
  if (!IsUtf8(text))
    std::ranges::replace_if(
        text, [](char c) { return static_cast<signed char>(c) < 0; }, '?');
  client::Bson error;
  error.Text("code", code).Text("message", text);
  client::Bson body;
  body.Document("error", error);
  return {.status = status, .body = client::ToJson(body)};
}

Response ErrorResponse(const Status& error) {
  return ErrorResponse(HttpStatusOf(error.code()), CodeName(error.code()), error.message());
}

unsigned HttpStatusOf(Code code) {
  switch (code) {
    case Code::kBadValue:
    case Code::kFailedToParse:
    case Code::kTypeMismatch:
    case Code::kInvalidLength:
    case Code::kInvalidOptions:
    case Code::kOverflow: return 400;
    case Code::kUnauthorized: return 403;
    case Code::kNamespaceNotFound: return 404;
    case Code::kChainBroken:
    case Code::kChainHalted:
    case Code::kDuplicateKey:
    case Code::kIllegalOperation:
    case Code::kTimelineFinal:
    case Code::kTimelineFork:
    case Code::kTimelineGap:
    case Code::kTimelineReorganised:
    case Code::kWriteConflict: return 409;
    case Code::kExceededMemoryLimit:
    case Code::kHostUnreachable:
    case Code::kInterrupted:
    case Code::kInterruptedAtShutdown:
    case Code::kLeaseLost:
    case Code::kOutOfDiskSpace:
    case Code::kQueueFull:
    case Code::kShutdownInProgress:
    case Code::kStoreReadOnly: return 503;
    case Code::kExceededTimeLimit:
    case Code::kMaxTimeMSExpired:
    case Code::kNetworkTimeout: return 504;
    default: return 500;
  }
}

std::string QuotedJson(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < ' ') {
      quoted += StrCat("\\u00", Hex({&c, 1}));
      continue;
    }
    if (c == '"' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "\"";
}

std::string_view ReasonOf(unsigned status) {
  switch (status) {
    case 100: return "Continue";
    case 200: return "OK";
    case 201: return "Created";
    case 204: return "No Content";
    case 304: return "Not Modified";
    case 400: return "Bad Request";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 409: return "Conflict";
    case 413: return "Content Too Large";
    case 415: return "Unsupported Media Type";
    case 422: return "Unprocessable Content";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    default: return "Unknown";
  }
}

void LineSplitter::Add(std::string_view line) {
  ++number_;
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (line.find_first_not_of(" \t") == std::string_view::npos) return;
  lines_.push_back(line);
  numbers_.push_back(number_);
}

Status LineSplitter::Take(std::string_view part) {
  lines_.clear();
  numbers_.clear();
  text_.erase(0, left_);
  text_.append(part);
  size_t begin = 0;
  for (size_t end = text_.find('\n'); end != std::string::npos; end = text_.find('\n', begin)) {
    if (end - begin > kLineBytesMax) break;
    Add(std::string_view(text_).substr(begin, end - begin));
    begin = end + 1;
  }
  left_ = begin;
  const size_t end = std::min(text_.find('\n', begin), text_.size());
  if (end - begin <= kLineBytesMax) return {};
  return Status(Code::kInvalidLength,
                StrCat("line ", number_ + 1, " is longer than ", kLineBytesMax, " bytes; nothing behind it was taken"));
}

Status LineSplitter::Finish() {
  lines_.clear();
  numbers_.clear();
  text_.erase(0, left_);
  left_ = text_.size();
  if (!text_.empty()) Add(text_);
  return {};
}

}  // namespace braid::http
