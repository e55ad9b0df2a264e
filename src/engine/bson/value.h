// Value and View: BSON read in place. Both are non-owning and trust their bytes: whatever comes from outside passes
// Validate() (validate.h) first.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/assert.h"

namespace braid::bson {

static_assert(std::endian::native == std::endian::little, "BSON is read in place: little-endian machines only");

enum class Type : uint8_t {
  kMissing = 0,  // no value at all; never stored
  kDouble = 1,
  kString = 2,
  kObject = 3,
  kArray = 4,
  kBinary = 5,
  kUndefined = 6,
  kObjectId = 7,
  kBool = 8,
  kDate = 9,
  kNull = 10,
  kRegex = 11,
  kDbPointer = 12,
  kCode = 13,
  kSymbol = 14,
  kCodeWScope = 15,
  kInt32 = 16,
  kTimestamp = 17,
  kInt64 = 18,
  kDecimal128 = 19,
  kMaxKey = 127,
  kMinKey = 255,
};

/// MongoDB's alias: "int" for kInt32, "missing" for kMissing.
std::string_view TypeName(Type type);

/// The 16 bytes of an IEEE 754 decimal in binary integer coding; arithmetic is in decimal.h.
struct Decimal128 {
  uint64_t low = 0;
  uint64_t high = 0;
  bool operator==(const Decimal128&) const = default;  // same bits, not same number
};

struct Binary {
  uint8_t subtype;
  std::string_view bytes;
};

struct Regex {
  std::string_view pattern;
  std::string_view options;
};

template <typename T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

class View;

/// One BSON value: its type and where its bytes lie. Default-constructed: missing. Accessors assert the type.
class Value {
 public:
  Value() = default;
  /// `data` points at the value's bytes (after type and name), `size` of them.
  Value(Type type, const char* data, uint32_t size) : data_(data), size_(size), type_(type) {}
  /// A document or array as a value.
  explicit Value(View object);

  Type type() const { return type_; }
  std::string_view bytes() const { return {data_, size_}; }
  bool missing() const { return type_ == Type::kMissing; }

  bool Is(Type type) const { return type_ == type; }
  bool IsNumber() const {
    return type_ == Type::kInt32 || type_ == Type::kInt64 || type_ == Type::kDouble || type_ == Type::kDecimal128;
  }
  /// missing, null or undefined: the values that expressions treat as absent.
  bool IsNullish() const { return type_ == Type::kMissing || type_ == Type::kNull || type_ == Type::kUndefined; }

  double AsDouble() const { return Fixed<double>(Type::kDouble); }
  int32_t AsInt32() const { return Fixed<int32_t>(Type::kInt32); }
  int64_t AsInt64() const { return Fixed<int64_t>(Type::kInt64); }
  bool AsBool() const { return Fixed<uint8_t>(Type::kBool) != 0; }
  int64_t AsDate() const { return Fixed<int64_t>(Type::kDate); }              ///< milliseconds since 1970
  uint64_t AsTimestamp() const { return Fixed<uint64_t>(Type::kTimestamp); }  ///< seconds << 32 | increment
  Decimal128 AsDecimal() const { return Fixed<Decimal128>(Type::kDecimal128); }
  /// string, symbol or code, without the terminator; may hold NUL bytes.
  std::string_view AsString() const {
    BRAID_ASSERT(type_ == Type::kString || type_ == Type::kSymbol || type_ == Type::kCode);
    return {data_ + 4, size_ - 5};
  }
  View AsView() const;  ///< object or array
  std::string_view AsObjectId() const {
    BRAID_ASSERT(type_ == Type::kObjectId);
    return {data_, 12};
  }
  Binary AsBinary() const;
  Regex AsRegex() const;
  std::string_view AsCodeOfScope() const;  ///< the code of a kCodeWScope
  View AsScope() const;                    ///< the scope of a kCodeWScope

  /// Same type and same bytes. For equality as MongoDB sees it, see compare.h.
  bool Identical(const Value& other) const { return type_ == other.type_ && bytes() == other.bytes(); }

 private:
  template <typename T>
  T Fixed(Type type) const {
    BRAID_ASSERT(type_ == type);
    return Load<T>(data_);
  }

  const char* data_ = nullptr;
  uint32_t size_ = 0;
  Type type_ = Type::kMissing;
};

/// A field of a document: name and value.
struct Element {
  std::string_view name;
  Value value;
};

/// A document or array in place. Iterates over its elements; an array's names are "0", "1", ….
class View {
 public:
  /// The empty document.
  View();
  /// `data` points at the length prefix of a well-formed document.
  explicit View(const char* data) : data_(data) {}
  explicit View(std::string_view bytes) : data_(bytes.data()) {}

  uint32_t size() const { return Load<uint32_t>(data_); }
  const char* data() const { return data_; }
  std::string_view bytes() const { return {data_, size()}; }
  bool empty() const { return size() <= 5; }

  class Iterator {
   public:
    using value_type = Element;
    using difference_type = std::ptrdiff_t;
    explicit Iterator(const char* at) : at_(at) { Read(); }
    const Element& operator*() const { return element_; }
    const Element* operator->() const { return &element_; }
    Iterator& operator++() {
      at_ = next_;
      Read();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(const Iterator& other) const { return at_ == other.at_; }
    /// The element's raw bytes: type, name, value.
    std::string_view raw() const { return {at_, static_cast<size_t>(next_ - at_)}; }

   private:
    void Read();
    const char* at_;
    const char* next_ = nullptr;
    Element element_;
  };
  Iterator begin() const { return Iterator(data_ + 4); }
  Iterator end() const { return Iterator(data_ + size() - 1); }

  /// The first field of that name; missing if there is none.
  Value Find(std::string_view name) const;
  bool Has(std::string_view name) const { return !Find(name).missing(); }
  /// The element at a position of an array (or the n-th field of a document); missing if past the end.
  Value At(size_t index) const;
  size_t Count() const;

 private:
  const char* data_;
};

/// The size of the value of `type` that starts at `data`. Trusts the bytes.
uint32_t ValueSize(Type type, const char* data);

/// A document that owns its bytes.
class Document {
 public:
  Document();  ///< empty document
  explicit Document(std::string bytes) : bytes_(std::move(bytes)) {}
  explicit Document(View view) : bytes_(view.bytes()) {}

  View view() const { return View(bytes_.data()); }
  operator View() const { return view(); }  // NOLINT(google-explicit-constructor)
  const std::string& bytes() const& { return bytes_; }
  std::string&& TakeBytes() && { return std::move(bytes_); }
  bool empty() const { return view().empty(); }
  Value Find(std::string_view name) const { return view().Find(name); }

 private:
  std::string bytes_;
};

/// A value that owns its bytes; for what outlives the document it was taken from.
class OwnedValue {
 public:
  OwnedValue() = default;
  explicit OwnedValue(const Value& value) : type_(value.type()), bytes_(value.bytes()) {}
  Value value() const { return {type_, bytes_.data(), static_cast<uint32_t>(bytes_.size())}; }
  operator Value() const { return value(); }  // NOLINT(google-explicit-constructor)

 private:
  Type type_ = Type::kMissing;
  std::string bytes_;
};

}  // namespace braid::bson
