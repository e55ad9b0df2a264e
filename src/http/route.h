// Route: one entry of the table that answers requests and that the OpenAPI document is made from.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/message.h"

namespace braid::http {

class Api;

struct Parameter {
  enum class Place { kPath, kQuery, kHeader };
  enum class Type { kText, kInteger, kBoolean };
  std::string_view name;
  std::string_view help;
  Place place = Place::kQuery;
  Type type = Type::kText;
  bool required = false;
  std::string_view fallback = {};  // the default; empty: none
  int64_t min = INT64_MIN;         // of an integer
  int64_t max = INT64_MAX;
  std::string_view choices = {};  // the texts that are allowed, with commas between them; empty: any
};

/// The parameters of a request, by the types of its route.
class Arguments {
 public:
  /// From the parts of the path, the query and the header. An unknown, repeated, missing or ill-typed one is kBadValue
  /// with its name.
  static Result<Arguments> Parse(std::span<const Parameter> parameters, const Fields& path, const Request& request);

  /// The parameter must be one of the route's. The text that was given, or its fallback.
  const std::string& Text(std::string_view name) const;
  int64_t Integer(std::string_view name) const;
  std::optional<int64_t> OptionalInteger(std::string_view name) const;
  bool Bool(std::string_view name) const { return Text(name) == "true"; }

 private:
  Fields values_;  // every parameter of the route
};

/// The arguments of a handler.
struct Call {
  Arguments arguments;
  std::string body = {};
  bool wants_lines = false;  // the client asked for NDJSON, which the route can give
};

/// A body of lines that is processed as it arrives. On workers' threads, one at a time.
class Upload {
 public:
  virtual ~Upload() = default;
  /// Whole lines without their ends; empty ones are left out. `numbers` count from 1.
  virtual Status Take(std::span<const std::string_view> lines, std::span<const uint64_t> numbers) = 0;
  virtual Result<Response> Finish() = 0;
};

struct Route {
  std::string_view method;
  std::string_view path;  // "/v1/blocks/{hash}"
  std::string_view group;
  std::string_view summary;
  std::span<const Parameter> parameters = {};
  std::string_view takes = {};       // the schema of the JSON body; empty: there is none
  std::string_view gives = "Error";  // the schema of the response
  Result<Response> (*run)(Api& api, const Call& call) = nullptr;
  /// Set: the body may be NDJSON, too.
  Result<std::unique_ptr<Upload>> (*upload)(Api& api, const Call& call) = nullptr;
  bool gives_lines = false;        // the response can be NDJSON, too
  std::string_view media = kJson;  // of the response
  bool cacheable = false;
  bool takes_long = false;  // reads a large part of the store
  unsigned success = 200;
};

/// Which route a request is for.
struct Match {
  const Route* route = nullptr;    // null: none
  Fields path;                     // the parameters in its path, decoded
  std::vector<std::string> allow;  // the methods that the path has, if it is the method that does not match
};
/// HEAD counts as GET.
Match FindRoute(std::span<const Route> routes, const Request& request);

/// Percent-decoding; `plus_is_space` as in a query. Nothing if it is malformed.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_space);

}  // namespace braid::http
