// Reads a request's fields strictly: every field must be known, unique and of its type.
#pragma once

#include <simdjson.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/shop/shop.h"

namespace braid::shop {

/// Fields are read by name; Finish() returns the first mistake. A null counts as absent. Must not outlive the parsed
/// text.
class RequestFields {
 public:
  /// `where` goes before the names in messages: "product."
  RequestFields(simdjson::dom::object object, std::string where);

  /// Empty if it is not there.
  std::string Text(std::string_view name);
  /// `code` refuses what is not an integer; without an `otherwise` the field must be there.
  int64_t Integer(std::string_view name, Refused code, std::optional<int64_t> otherwise = std::nullopt);
  bool Flag(std::string_view name);
  /// A decimal in a string; Refused::kBadPrice.
  std::optional<Money> Amount(std::string_view name);
  /// Strings, numbers and booleans by name.
  Attrs Attributes(std::string_view name);
  std::vector<ZoneStock> Stocks(std::string_view name);
  std::optional<simdjson::dom::object> Object(std::string_view name);
  /// user_id or session_id.
  Owner OwnerFields() { return {.user_id = Text("user_id"), .session_id = Text("session_id")}; }
  /// Accepted without effect.
  void Ignore(std::string_view name) { Take(name); }
  /// Keeps the first error, if there is none yet.
  void Fail(const Status& status);

  /// OK, or the first mistake; a field that was not read is a mistake, too.
  Status Finish();

 private:
  struct Field {
    std::string_view name;
    simdjson::dom::element value;
    bool taken = false;
  };
  /// Null if it is not there.
  const simdjson::dom::element* Take(std::string_view name);
  void Fail(Refused code, std::string_view name, std::string_view what);

  const std::string where_;
  std::vector<Field> fields_;
  Status status_;
};

/// Of the thread's parser: lives until the next call on the same thread. Refused::kBadRequest.
Result<simdjson::dom::object> ParseRequest(std::string_view text);

}  // namespace braid::shop
