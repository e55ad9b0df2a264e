// Builder: writes a BSON document front to back. Make() for small literals.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::bson {

struct Date {
  int64_t millis;
};
struct Timestamp {
  uint64_t value;  // seconds << 32 | increment
};
struct ObjectId {
  char bytes[12];
  static ObjectId Generate();
};
struct Null {};
struct MinKey {};
struct MaxKey {};

/// Appends fields in order; nested documents and arrays are opened and closed like brackets. In an array the names are
/// given by Next()/AppendNext, or by the caller.
class Builder {
 public:
  Builder() { Begin(); }
  /// Continues in a buffer whose content is kept: the document starts at its end. Take the bytes with Close(), not
  /// Finish().
  explicit Builder(std::string buffer) : out_(std::move(buffer)) { Begin(); }

  Builder& Append(std::string_view name, const Value& value);  ///< nothing if the value is missing
  Builder& Append(std::string_view name, int32_t value);
  Builder& Append(std::string_view name, int64_t value);
  Builder& Append(std::string_view name, uint32_t value) { return Append(name, static_cast<int64_t>(value)); }
  Builder& Append(std::string_view name, uint64_t value) { return Append(name, static_cast<int64_t>(value)); }
  Builder& Append(std::string_view name, double value);
  Builder& Append(std::string_view name, bool value);
  Builder& Append(std::string_view name, std::string_view value);
  Builder& Append(std::string_view name, const char* value) { return Append(name, std::string_view(value)); }
  Builder& Append(std::string_view name, const std::string& value) { return Append(name, std::string_view(value)); }
  Builder& Append(std::string_view name, View document);
  Builder& Append(std::string_view name, const Document& document) { return Append(name, document.view()); }
  Builder& Append(std::string_view name, const OwnedValue& value) { return Append(name, value.value()); }
  Builder& Append(std::string_view name, Decimal128 value);
  Builder& Append(std::string_view name, Date value);
  Builder& Append(std::string_view name, Timestamp value);
  Builder& Append(std::string_view name, ObjectId value);
  Builder& Append(std::string_view name, Null);
  Builder& Append(std::string_view name, MinKey);
  Builder& Append(std::string_view name, MaxKey);
  Builder& Append(std::string_view name, Binary value);
  Builder& Append(std::string_view name, Regex value);
  Builder& AppendArray(std::string_view name, View array);
  /// An element as another document holds it: type, name and value bytes.
  Builder& AppendRaw(std::string_view element) {
    out_.append(element);
    return *this;
  }
  /// Every field of a document.
  Builder& AppendAll(View document);

  Builder& OpenObject(std::string_view name) { return Open(Type::kObject, name); }
  Builder& OpenArray(std::string_view name) { return Open(Type::kArray, name); }
  Builder& Close();  ///< ends the innermost open document

  /// Appends to the array that is open (or to the top, if it is to be read as an array) under the next index.
  template <typename T>
  Builder& AppendNext(const T& value) {
    return Append(NextName(), value);
  }
  Builder& OpenNextObject() { return OpenObject(NextName()); }
  Builder& OpenNextArray() { return OpenArray(NextName()); }

  size_t size() const { return out_.size(); }
  /// Ends the document and hands it over.
  Document Finish();

 private:
  struct Level {
    size_t start;
    uint32_t next = 0;
  };
  void Begin();
  Builder& Open(Type type, std::string_view name);
  void Head(Type type, std::string_view name);
  void Raw(const void* data, size_t size) { out_.append(static_cast<const char*>(data), size); }
  std::string_view NextName();

  std::string out_;
  std::vector<Level> levels_;
  char name_[12];
};

/// Make("n", 3, "ok", 1.0): a document from names and values in turn.
template <typename... Args>
Document Make(const Args&... args) {
  Builder builder;
  auto add = [&builder](auto&& self, std::string_view name, const auto& value, const auto&... rest) -> void {
    builder.Append(name, value);
    if constexpr (sizeof...(rest) > 0) self(self, rest...);
  };
  if constexpr (sizeof...(args) > 0) add(add, args...);
  return builder.Finish();
}

/// The reply of a command that failed: {ok: 0, errmsg, code, codeName, …details}.
Document ErrorReply(const Status& status);

}  // namespace braid::bson
