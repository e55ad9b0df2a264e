// Requests and responses, independent of the library that reads and writes them, and the lines of a body.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "braid/status.h"

namespace braid::http {

inline constexpr std::string_view kJson = "application/json";
inline constexpr std::string_view kNdjson = "application/x-ndjson";
inline constexpr std::string_view kEvents = "text/event-stream";

using Fields = std::vector<std::pair<std::string, std::string>>;

/// The line and the header of a request; its body comes separately.
struct Request {
  std::string method;  // "GET"
  std::string path;    // still percent-encoded, from the first slash to the question mark
  std::string query;   // still percent-encoded, behind the question mark
  Fields headers;      // names in lower case

  /// The first header of this name, which is in lower case; empty if there is none.
  std::string_view Header(std::string_view name) const;
};

/// A body that is too long, or whose length is too uncertain, to be made at once. Its functions run on a worker's
/// thread.
class Producer {
 public:
  virtual ~Producer() = default;
  /// Appends the next part to `out`; false: there is none. An error cuts the connection, so that the client notices.
  virtual Result<bool> Next(std::string& out) = 0;
};

/// A body without an end: events for a client that listens until it disconnects.
class Feed {
 public:
  virtual ~Feed() = default;
  /// Appends the events since the last call; nothing if there are none. Must not wait.
  virtual void Take(std::string& out) = 0;
  /// From now on `wake` is called, on any thread, whenever there is more to take. It must not wait.
  virtual void Listen(std::function<void()> wake) = 0;
};

struct Response {
  unsigned status = 200;
  std::string content_type = std::string(kJson);
  std::string body;
  Fields headers = {};
  std::unique_ptr<Producer> producer = nullptr;  // instead of the body
  std::unique_ptr<Feed> feed = nullptr;          // instead of either
  /// True if the response stays the same until the data changes: it gets an ETag, and a client that has it is answered
  /// with 304.
  bool cacheable = false;
  /// True if it already has its cache headers and content encoding.
  bool encoded = false;
};

/// {"error": {"code": …, "message": …}}
Response ErrorResponse(unsigned status, std::string_view code, std::string_view message);
/// The error of a service, with the status that HTTP has for it.
Response ErrorResponse(const Status& error);
unsigned HttpStatusOf(Code code);

/// The text as JSON, in quotation marks.
std::string QuotedJson(std::string_view text);

/// The reason phrase of the status line.
std::string_view ReasonOf(unsigned status);

/// Splits a stream into lines; its parts may end anywhere. One thread at a time.
class LineSplitter {
 public:
  /// A longer line is an error.
  static constexpr size_t kLineBytesMax = 4 << 20;

  /// Takes the next part. lines() are those that are complete now; the views live until the next call.
  Status Take(std::string_view part);
  /// Ends the stream: the text after the last line end is a line, too.
  Status Finish();

  /// Without their ends; those with nothing but blanks are left out.
  std::span<const std::string_view> lines() const { return lines_; }
  /// The number of each, from 1.
  std::span<const uint64_t> numbers() const { return numbers_; }

 private:
  void Add(std::string_view line);

  std::string text_;  // the part, behind what was left of the one before
  size_t left_ = 0;   // where the incomplete line begins in it
  uint64_t number_ = 0;
  std::vector<std::string_view> lines_;
  std::vector<uint64_t> numbers_;
};

}  // namespace braid::http
