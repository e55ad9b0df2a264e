// Documents: many documents of a few fields each, side by side in memory, for code that makes millions of them.
#pragma once

#include <mongoc/mongoc.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"

namespace braid::client {

/// A document is made between Begin() and End(), and a document within it between Open() and Close(). Appending a field
/// copies its bytes and nothing else, where libbson finds out each time where the document is, may grow it, and keeps
/// it complete. Keys and texts are not checked: the server does. Every integer is an int64.
class Documents {
 public:
  void Begin() {
    BRAID_ASSERT(open_.empty());
    OpenHere();
  }
  void End() {
    Close();
    BRAID_ASSERT(open_.empty());
    ends_.push_back(size_);
  }

  Documents& Open(std::string_view key) {
    Field(kDocument, key, 0);
    OpenHere();
    return *this;
  }
  void Close();

  Documents& Text(std::string_view key, std::string_view value) {
    char* const at = Field(kText, key, sizeof(uint32_t) + value.size() + 1);
    const auto length = static_cast<uint32_t>(value.size() + 1);
    std::memcpy(at, &length, sizeof(length));
    if (!value.empty()) std::memcpy(at + sizeof(length), value.data(), value.size());
    at[sizeof(length) + value.size()] = '\0';
    return *this;
  }
  Documents& Integer(std::string_view key, int64_t value) {
    std::memcpy(Field(kInt64, key, sizeof(value)), &value, sizeof(value));
    return *this;
  }
  /// Milliseconds since 1970.
  Documents& Date(std::string_view key, int64_t value) {
    std::memcpy(Field(kDate, key, sizeof(value)), &value, sizeof(value));
    return *this;
  }
  Documents& Decimal(std::string_view key, const bson_decimal128_t& value) {
    char* const at = Field(kDecimal, key, 2 * sizeof(uint64_t));
    std::memcpy(at, &value.low, sizeof(value.low));
    std::memcpy(at + sizeof(value.low), &value.high, sizeof(value.high));
    return *this;
  }

  size_t size() const { return ends_.size(); }
  size_t bytes() const { return size_; }
  /// Keeps the memory.
  void Clear();

  /// Valid until the next call of any other member.
  std::string_view operator[](size_t position) const;
  /// Valid until the next call of any member.
  std::vector<const bson_t*> All();

 private:
  static constexpr char kText = 0x02;
  static constexpr char kDocument = 0x03;
  static constexpr char kDate = 0x09;
  static constexpr char kInt64 = 0x12;
  static constexpr char kDecimal = 0x13;

  char* Extend(size_t count) {
    if (count > space_.size() - size_) Grow(count);
    char* const at = space_.data() + size_;
    size_ += count;
    return at;
  }
  void Grow(size_t count);
  void OpenHere() {
    open_.push_back(size_);
    Extend(sizeof(uint32_t));
  }
  // Where the value begins.
  char* Field(char type, std::string_view key, size_t value_bytes) {
    BRAID_ASSERT(!open_.empty());
    char* const at = Extend(1 + key.size() + 1 + value_bytes);
    *at = type;
    std::memcpy(at + 1, key.data(), key.size());
    at[1 + key.size()] = '\0';
    return at + 1 + key.size() + 1;
  }

  std::string space_;         // its size is the room that there is; what is used comes first
  size_t size_ = 0;           // used
  std::vector<size_t> open_;  // where each unfinished document begins, the outermost first
  std::vector<size_t> ends_;
  struct View {  // as an argument of a template, bson_t alone would lose its alignment
    bson_t bson;
  };
  std::vector<View> views_;
};

}  // namespace braid::client
