// Document: a BSON document as a C++ value, built from nested lists and read by path and type.
//
//   Document order{{"_id", 7}, {"user", "ann"}, {"at", Date{1'700'000'000'000}},
//                  {"items", Array{Document{{"product", "P1"}, {"qty", 3}}}},
//                  {"address", {{"city", "Bern"}, {"zip", "3000"}}}};
//   order.Append("paid", true);
//   Result<int64_t> quantity = order.Get<int64_t>("items.0.qty");   // 3
//   std::string city = order.GetOr<std::string>("address.city", "unknown");
//   for (const Element& field : order) std::cout << field.key() << "\n";
//   std::cout << order.ToJson();                                    // Extended JSON; FromJson() reads it
//   mongoc_collection_insert_one(orders, order.get(), …);           // libbson's and libmongoc's functions still work
//
// libbson does the encoding. Documents, arrays and elements may be read by several threads at a time and changed by
// one.
#pragma once

#include <bson/bson.h>

#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "braid/status.h"

namespace braid {

class Array;
class Document;
class Element;
struct DocumentField;

/// A date, in milliseconds since 1970, UTC.
struct Date {
  int64_t ms = 0;
  auto operator<=>(const Date&) const = default;
};

struct ObjectId {
  std::array<uint8_t, 12> bytes{};

  /// A new ObjectId that no other process generates.
  static ObjectId New();
  /// From 24 hexadecimal digits; kFailedToParse.
  static Result<ObjectId> FromHex(std::string_view hex);
  std::string ToHex() const;
  auto operator<=>(const ObjectId&) const = default;
};

/// A decimal number of 34 digits, in the BID encoding of IEEE 754.
struct Decimal128 {
  uint64_t high = 0;
  uint64_t low = 0;

  /// Such as "9.50", "-1E+3", "NaN"; kFailedToParse.
  static Result<Decimal128> Parse(std::string_view text);
  std::string ToString() const;
  /// Compares the encodings: 9.5 and 9.50 differ.
  bool operator==(const Decimal128&) const = default;
};

struct Binary {
  std::string bytes;
  uint8_t subtype = 0;
  bool operator==(const Binary&) const = default;
};

/// The type of a field, numbered as in BSON.
enum class FieldType : uint8_t {
  kDouble = 1,
  kString = 2,
  kDocument = 3,
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
  kCodeWithScope = 15,
  kInt32 = 16,
  kTimestamp = 17,
  kInt64 = 18,
  kDecimal128 = 19,
  kMaxKey = 127,
  kMinKey = 255,
};

/// What a field can be given. An argument, never a variable: it refers to what it was made from. An integer becomes an
/// int32 if its C++ type has at most 32 bits and is not uint32_t, else an int64; uint64_t and size_t are to be
/// converted by the caller. Other types (regular expressions, timestamps, …) come from FromJson() or from an Element.
class DocumentValue {
 public:
  DocumentValue(std::nullptr_t) : value_(nullptr) {}  // NOLINT(google-explicit-constructor): that is its purpose
  template <std::same_as<bool> T>
  DocumentValue(T value) : value_(value) {}  // NOLINT(google-explicit-constructor)
  template <std::signed_integral T>
  DocumentValue(T value) : value_(Narrowest(value)) {}  // NOLINT(google-explicit-constructor)
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool> && sizeof(T) <= 4) DocumentValue(T value)  // NOLINT(google-explicit-constructor)
      : value_(Narrowest(value)) {}
  DocumentValue(double value) : value_(value) {}                              // NOLINT(google-explicit-constructor)
  DocumentValue(const char* text) : value_(std::string_view(text)) {}         // NOLINT(google-explicit-constructor)
  DocumentValue(std::string_view text) : value_(text) {}                      // NOLINT(google-explicit-constructor)
  DocumentValue(const std::string& text) : value_(std::string_view(text)) {}  // NOLINT(google-explicit-constructor)
  DocumentValue(Date date) : value_(date) {}                                  // NOLINT(google-explicit-constructor)
  DocumentValue(std::chrono::system_clock::time_point time);      // NOLINT(google-explicit-constructor): a date
  DocumentValue(const ObjectId& id) : value_(id) {}               // NOLINT(google-explicit-constructor)
  DocumentValue(const Decimal128& number) : value_(number) {}     // NOLINT(google-explicit-constructor)
  DocumentValue(const Binary& binary) : value_(&binary) {}        // NOLINT(google-explicit-constructor)
  DocumentValue(const Document& document) : value_(&document) {}  // NOLINT(google-explicit-constructor)
  DocumentValue(const Array& array) : value_(&array) {}           // NOLINT(google-explicit-constructor)
  DocumentValue(const Element& element) : value_(&element) {}     // NOLINT(google-explicit-constructor): its value
  DocumentValue(std::initializer_list<DocumentField> fields);     // NOLINT(google-explicit-constructor): a sub-document
  DocumentValue(const DocumentValue&) = delete;
  DocumentValue& operator=(const DocumentValue&) = delete;

 private:
  friend class Document;
  struct Fields {
    const DocumentField* first;
    size_t count;
  };
  using Any = std::variant<std::nullptr_t, bool, int32_t, int64_t, double, std::string_view, Date, ObjectId, Decimal128,
                           const Binary*, const Document*, const Array*, const Element*, Fields>;
  template <std::integral T>
  static Any Narrowest(T value) {
    if constexpr (sizeof(T) < 4 || (sizeof(T) == 4 && std::signed_integral<T>)) return static_cast<int32_t>(value);
    return static_cast<int64_t>(value);
  }
  const Any value_;
};

/// A key and its value in the list that a Document is made from.
struct DocumentField {
  std::string_view key;
  DocumentValue value;
};

/// A field of a document, or an element of an array, as it is read. A view: it lives as long as the Document or Array
/// that it came from is neither changed nor destroyed.
class Element {
 public:
  std::string_view key() const;  ///< in an array its position, "0", "1", …
  FieldType type() const;
  bool is_null() const { return type() == FieldType::kNull; }

  /// The value as a T, which is one of
  ///   bool, std::string, std::string_view (a view, as this is one), Date, ObjectId, Decimal128, Binary, Document,
  ///   Array:
  ///     of exactly this type;
  ///   int64_t, int32_t: any int32, int64 or double that is a whole number and fits;
  ///   double: any int32, int64 or double.
  /// Otherwise kTypeMismatch, which names the actual type.
  template <typename T>
  Result<T> As() const = delete;

 private:
  friend class Document;
  friend class ElementIterator;
  explicit Element(const bson_iter_t& at) : at_(at) {}
  Status NotA(const char* what) const;
  bson_iter_t at_;
};
template <>
Result<bool> Element::As() const;
template <>
Result<int32_t> Element::As() const;
template <>
Result<int64_t> Element::As() const;
template <>
Result<double> Element::As() const;
template <>
Result<std::string_view> Element::As() const;
template <>
Result<std::string> Element::As() const;
template <>
Result<Date> Element::As() const;
template <>
Result<ObjectId> Element::As() const;
template <>
Result<Decimal128> Element::As() const;
template <>
Result<Binary> Element::As() const;
template <>
Result<Document> Element::As() const;
template <>
Result<Array> Element::As() const;

/// Walks over the elements of a document or an array, in their order. Ends early where the bytes are damaged.
class ElementIterator;

enum class JsonFormat {
  kRelaxed,    ///< numbers and dates as people write them: what is read back may have other types of numbers
  kCanonical,  ///< every type is kept: {"$numberInt": "1"}
};

/// An ordered list of fields that owns its bytes. A value like std::string: copies are deep, moves are cheap, a
/// moved-from one is empty. Keys may come twice, as in BSON: reads find the first one.
class Document {
 public:
  Document() { bson_init(&bson_); }
  Document(std::initializer_list<DocumentField> fields);
  /// A copy; an empty document for a null pointer.
  Document(const bson_t* bson);  // NOLINT(google-explicit-constructor): so that bson_t* can be given for a Document
  Document(const Document& other) : Document(&other.bson_) {}
  Document(Document&& other) noexcept;
  Document& operator=(const Document& other);
  Document& operator=(Document&& other) noexcept;
  ~Document() { bson_destroy(&bson_); }

  /// From Extended JSON, relaxed or canonical; kFailedToParse says where it fails. Of several documents in one text the
  /// first is taken, and an array becomes {"0": …, "1": …}.
  static Result<Document> FromJson(std::string_view json);
  /// From the bytes of exactly one document, such as Status::details(); kInvalidBSON.
  static Result<Document> FromBytes(std::string_view bytes);
  /// A document for reading that shares the bytes of `bson`, which must live longer and must not change meanwhile. What
  /// is copied from it owns its bytes.
  static Document View(const bson_t& bson);

  /// Adds a field at the end. A key with a NUL byte, or more than 2 GiB in all, is a mistake of the program: it ends
  /// with a message that names the key. For keys that come from outside the program use TryAppend().
  Document& Append(std::string_view key, const DocumentValue& value);
  /// The same for a key, or keys inside the value, that the program does not know: kBadValue for a NUL byte or more
  /// than 2 GiB in all, and nothing is added then.
  Status TryAppend(std::string_view key, const DocumentValue& value);
  /// Adds all fields of another document.
  Document& AppendAll(const Document& other);
  void Clear() { bson_reinit(&bson_); }  ///< keeps the memory for what is appended next

  bool empty() const { return bson_.len <= 5; }
  bool Has(std::string_view path) const { return Find(path).has_value(); }
  /// The element at a path: keys, and positions in arrays, with dots between them. A key that has a dot itself is found
  /// by iterating.
  std::optional<Element> Find(std::string_view path) const;
  /// The value at a path as a T; see Element::As() for what T can be. kBadValue if there is none, kTypeMismatch if it
  /// is of another type; both name the path.
  template <typename T>
  Result<T> Get(std::string_view path) const {
    const std::optional<Element> found = Find(path);
    if (!found) return Missing(path);
    Result<T> value = found->As<T>();
    if (!value.ok()) return At(path, value.error());
    return value;
  }
  /// The same, or `otherwise` if there is none or it is of another type.
  template <typename T>
  T GetOr(std::string_view path, T otherwise) const {
    const std::optional<Element> found = Find(path);
    if (!found) return otherwise;
    return found->As<T>().value_or(std::move(otherwise));
  }

  ElementIterator begin() const;
  static std::default_sentinel_t end() { return {}; }

  /// One line of Extended JSON; empty if a text of the document is not UTF-8, for which there is no JSON.
  std::string ToJson(JsonFormat format = JsonFormat::kRelaxed) const;
  std::string_view bytes() const { return {reinterpret_cast<const char*>(bson_get_data(&bson_)), bson_.len}; }

  /// For the functions of libbson and libmongoc. As a `reply` argument of libmongoc it must be empty.
  bson_t* get() { return &bson_; }
  const bson_t* get() const { return &bson_; }
  operator const bson_t&() const { return bson_; }  // NOLINT(google-explicit-constructor): for callbacks with a bson_t

  /// The same fields with the same types and values in the same order.
  bool operator==(const Document& other) const { return bson_equal(&bson_, &other.bson_); }

 private:
  static Status Missing(std::string_view path);
  static Status At(std::string_view path, const Status& status);
  /// False if libbson refuses a key or the size; `bson` may then hold a part of the value.
  static bool AppendTo(bson_t* bson, std::string_view key, const DocumentValue& value);

  bson_t bson_;
};

/// A list of values for a field of a document. A value like std::vector. Array{x} has the one element x, also if x is
/// an Array: a copy is Array(x).
class Array {
 public:
  Array() = default;
  Array(std::initializer_list<DocumentValue> values);
  /// Of the elements of any range, such as a std::vector<std::string>.
  template <typename Range>
  static Array Of(const Range& values) {
    Array array;
    for (const auto& value : values) array.Append(value);
    return array;
  }

  Array& Append(const DocumentValue& value);

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  /// The element at a position; nothing beyond the end.
  std::optional<Element> At(size_t position) const;
  ElementIterator begin() const;
  static std::default_sentinel_t end() { return {}; }

  /// The document {"0": …, "1": …} that BSON has for it.
  const bson_t* get() const { return fields_.get(); }
  bool operator==(const Array& other) const { return fields_ == other.fields_; }

 private:
  friend class Element;
  Document fields_;
  size_t size_ = 0;
};

class ElementIterator {
 public:
  using value_type = Element;
  using difference_type = std::ptrdiff_t;
  const Element& operator*() const { return element_; }
  const Element* operator->() const { return &element_; }
  ElementIterator& operator++();
  void operator++(int) { ++*this; }
  bool operator==(std::default_sentinel_t) const { return at_end_; }

 private:
  friend class Document;
  explicit ElementIterator(const bson_t& bson);
  Element element_;
  bool at_end_;
};

}  // namespace braid
