#include "braid/document.h"

#include <cmath>
#include <limits>

#include "base/assert.h"
#include "base/strings.h"

namespace braid {
namespace {

const char* NameOf(FieldType type) {
  switch (type) {
    case FieldType::kDouble: return "a double";
    case FieldType::kString: return "a string";
    case FieldType::kDocument: return "a document";
    case FieldType::kArray: return "an array";
    case FieldType::kBinary: return "a binary";
    case FieldType::kUndefined: return "undefined";
    case FieldType::kObjectId: return "an ObjectId";
    case FieldType::kBool: return "a boolean";
    case FieldType::kDate: return "a date";
    case FieldType::kNull: return "null";
    case FieldType::kRegex: return "a regular expression";
    case FieldType::kDbPointer: return "a DBPointer";
    case FieldType::kCode: return "code";
    case FieldType::kSymbol: return "a symbol";
    case FieldType::kCodeWithScope: return "code with a scope";
    case FieldType::kInt32: return "an int32";
    case FieldType::kTimestamp: return "a timestamp";
    case FieldType::kInt64: return "an int64";
    case FieldType::kDecimal128: return "a Decimal128";
    case FieldType::kMaxKey: return "MaxKey";
    case FieldType::kMinKey: return "MinKey";
  }
  return "of an unknown type";
}

bson_iter_t FirstOf(const bson_t& bson) {
  bson_iter_t at{};
  bson_iter_init(&at, &bson);
  return at;
}

std::string TakeText(char* text, size_t length) {
  if (text == nullptr) return {};
  std::string taken(text, length);
  bson_free(text);
  return taken;
}

// Why libbson does not append a field: nothing else makes it refuse one.
std::string RefusedField(std::string_view key) {
  return StrCat("the field '", OneLine(std::string(key)),
                "' cannot be appended: its key, or one inside its value, has a NUL byte, ",
                "or the document would have more than 2 GiB");
}

// How libbson appends each type; `key` has no NUL byte, which it checks.
struct ValueAppender {
  bson_t* bson;
  std::string_view key;
  const char* name() const { return key.data(); }
  int length() const { return static_cast<int>(key.size()); }

  bool operator()(std::nullptr_t) const { return bson_append_null(bson, name(), length()); }
  bool operator()(bool value) const { return bson_append_bool(bson, name(), length(), value); }
  bool operator()(int32_t value) const { return bson_append_int32(bson, name(), length(), value); }
  bool operator()(int64_t value) const { return bson_append_int64(bson, name(), length(), value); }
  bool operator()(double value) const { return bson_append_double(bson, name(), length(), value); }
  bool operator()(std::string_view value) const {
    if (value.size() >= std::numeric_limits<int>::max()) return false;
    const char* text = value.data() == nullptr ? "" : value.data();
    return bson_append_utf8(bson, name(), length(), text, static_cast<int>(value.size()));
  }
  bool operator()(Date value) const { return bson_append_date_time(bson, name(), length(), value.ms); }
  bool operator()(const ObjectId& value) const {
    bson_oid_t id;
    bson_oid_init_from_data(&id, value.bytes.data());
    return bson_append_oid(bson, name(), length(), &id);
  }
  bool operator()(const Decimal128& value) const {
    bson_decimal128_t number{};
    number.high = value.high;
    number.low = value.low;
    return bson_append_decimal128(bson, name(), length(), &number);
  }
  bool operator()(const Binary* value) const {
    if (value->bytes.size() >= std::numeric_limits<int>::max()) return false;
    return bson_append_binary(bson, name(), length(), static_cast<bson_subtype_t>(value->subtype),
                              reinterpret_cast<const uint8_t*>(value->bytes.data()),
                              static_cast<uint32_t>(value->bytes.size()));
  }
  bool operator()(const Document* value) const { return bson_append_document(bson, name(), length(), value->get()); }
  bool operator()(const Array* value) const { return bson_append_array(bson, name(), length(), value->get()); }
};

}  // namespace

ObjectId ObjectId::New() {
  bson_oid_t id;
  bson_oid_init(&id, nullptr);
  ObjectId made;
  std::copy(std::begin(id.bytes), std::end(id.bytes), made.bytes.begin());
  return made;
}

Result<ObjectId> ObjectId::FromHex(std::string_view hex) {
  if (!bson_oid_is_valid(hex.data(), hex.size()) || hex.size() != 24) {
    return Status(Code::kFailedToParse, StrCat("'", hex, "' is not an ObjectId: that is 24 hexadecimal digits"));
  }
  bson_oid_t id;
  bson_oid_init_from_string(&id, std::string(hex).c_str());
  ObjectId parsed;
  std::copy(std::begin(id.bytes), std::end(id.bytes), parsed.bytes.begin());
  return parsed;
}

std::string ObjectId::ToHex() const {
  bson_oid_t id;
  bson_oid_init_from_data(&id, bytes.data());
  char text[25];
  bson_oid_to_string(&id, text);
  return text;
}

Result<Decimal128> Decimal128::Parse(std::string_view text) {
  bson_decimal128_t number{};
  if (text.empty() || !bson_decimal128_from_string_w_len(text.data(), static_cast<int>(text.size()), &number)) {
    return Status(Code::kFailedToParse, StrCat("'", text, "' is not a decimal number of at most 34 digits"));
  }
  return Decimal128{.high = number.high, .low = number.low};
}

std::string Decimal128::ToString() const {
  bson_decimal128_t number{};
  number.high = high;
  number.low = low;
  char text[BSON_DECIMAL128_STRING];
  bson_decimal128_to_string(&number, text);
  return text;
}

DocumentValue::DocumentValue(std::chrono::system_clock::time_point time)
    : value_(Date{std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count()}) {}

DocumentValue::DocumentValue(std::initializer_list<DocumentField> fields)
    : value_(Fields{.first = fields.begin(), .count = fields.size()}) {}

std::string_view Element::key() const { return {bson_iter_key(&at_), bson_iter_key_len(&at_)}; }

FieldType Element::type() const { return static_cast<FieldType>(bson_iter_type(&at_)); }

Status Element::NotA(const char* what) const {
  return Status(Code::kTypeMismatch, StrCat("it is ", NameOf(type()), " where ", what, " is needed"));
}

template <>
Result<bool> Element::As() const {
  if (type() != FieldType::kBool) return NotA("a boolean");
  return bson_iter_bool(&at_);
}

template <>
Result<int64_t> Element::As() const {
  if (type() == FieldType::kInt32) return int64_t{bson_iter_int32(&at_)};
  if (type() == FieldType::kInt64) return bson_iter_int64(&at_);
  if (type() != FieldType::kDouble) return NotA("an integer");
  const double value = bson_iter_double(&at_);
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (!(value >= -kLimit && value < kLimit) || std::trunc(value) != value) return NotA("an integer");
  return static_cast<int64_t>(value);
}

template <>
Result<int32_t> Element::As() const {
  BRAID_TRY(const int64_t value, As<int64_t>());
  if (value < INT32_MIN || value > INT32_MAX) return NotA("an integer of 32 bits");
  return static_cast<int32_t>(value);
}

template <>
Result<double> Element::As() const {
  if (type() == FieldType::kDouble) return bson_iter_double(&at_);
  if (type() == FieldType::kInt32) return static_cast<double>(bson_iter_int32(&at_));
  if (type() == FieldType::kInt64) return static_cast<double>(bson_iter_int64(&at_));
  return NotA("a number");
}

template <>
Result<std::string_view> Element::As() const {
  if (type() != FieldType::kString) return NotA("a string");
  uint32_t length = 0;
  const char* text = bson_iter_utf8(&at_, &length);
  return std::string_view(text, length);
}

template <>
Result<std::string> Element::As() const {
  BRAID_TRY(const std::string_view text, As<std::string_view>());
  return std::string(text);
}

template <>
Result<Date> Element::As() const {
  if (type() != FieldType::kDate) return NotA("a date");
  return Date{bson_iter_date_time(&at_)};
}

template <>
Result<ObjectId> Element::As() const {
  if (type() != FieldType::kObjectId) return NotA("an ObjectId");
  ObjectId id;
  const bson_oid_t* stored = bson_iter_oid(&at_);
  std::copy(std::begin(stored->bytes), std::end(stored->bytes), id.bytes.begin());
  return id;
}

template <>
Result<Decimal128> Element::As() const {
  bson_decimal128_t number{};
  if (type() != FieldType::kDecimal128 || !bson_iter_decimal128(&at_, &number)) return NotA("a Decimal128");
  return Decimal128{.high = number.high, .low = number.low};
}

template <>
Result<Binary> Element::As() const {
  if (type() != FieldType::kBinary) return NotA("a binary");
  bson_subtype_t subtype{};
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  bson_iter_binary(&at_, &subtype, &length, &bytes);
  return Binary{.bytes = std::string(reinterpret_cast<const char*>(bytes), length),
                .subtype = static_cast<uint8_t>(subtype)};
}

template <>
Result<Document> Element::As() const {
  if (type() != FieldType::kDocument) return NotA("a document");
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  bson_iter_document(&at_, &length, &bytes);
  return Document::FromBytes({reinterpret_cast<const char*>(bytes), length});
}

template <>
Result<Array> Element::As() const {
  if (type() != FieldType::kArray) return NotA("an array");
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  bson_iter_array(&at_, &length, &bytes);
  Array array;
  BRAID_TRY(array.fields_, Document::FromBytes({reinterpret_cast<const char*>(bytes), length}));
  for (auto element = array.begin(); element != array.end(); ++element) ++array.size_;
  return array;
}

Document::Document(std::initializer_list<DocumentField> fields) : Document() {
  for (const DocumentField& field : fields) Append(field.key, field.value);
}

Document::Document(const bson_t* bson) {
  if (bson == nullptr) {
    bson_init(&bson_);
  } else {
    bson_copy_to(bson, &bson_);
  }
}

// libbson moves what it owns; a view is a view again.
Document::Document(Document&& other) noexcept {
  if (!bson_steal(&bson_, &other.bson_)) {
    bson_init_static(&bson_, bson_get_data(&other.bson_), other.bson_.len);
  }
  bson_init(&other.bson_);
}

Document& Document::operator=(const Document& other) {
  if (this != &other) *this = Document(other);
  return *this;
}

Document& Document::operator=(Document&& other) noexcept {
  if (this != &other) {
    bson_destroy(&bson_);
    new (this) Document(std::move(other));
  }
  return *this;
}

Result<Document> Document::FromJson(std::string_view json) {
  Document parsed;
  bson_error_t error{};
  const bool ok =
      !json.empty() && bson_init_from_json(&parsed.bson_, json.data(), static_cast<ssize_t>(json.size()), &error);
  if (ok) return parsed;
  bson_init(&parsed.bson_);  // libbson has destroyed it
  return Status(Code::kFailedToParse, error.message[0] != '\0' ? error.message : "not a document");
}

Result<Document> Document::FromBytes(std::string_view bytes) {
  bson_t view;
  const bool ok = bson_init_static(&view, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  if (!ok || !bson_validate(&view, BSON_VALIDATE_NONE, nullptr)) {
    return Status(Code::kInvalidBSON, StrCat(bytes.size(), " bytes are not a BSON document"));
  }
  return Document(&view);
}

Document Document::View(const bson_t& bson) {
  Document view;
  const bool ok = bson_init_static(&view.bson_, bson_get_data(&bson), bson.len);
  BRAID_ASSERT(ok);
  return view;
}

bool Document::AppendTo(bson_t* bson, std::string_view key, const DocumentValue& value) {
  if (key.data() == nullptr) key = "";
  const auto& any = value.value_;
  const auto length = static_cast<int>(key.size());
  if (const auto* fields = std::get_if<DocumentValue::Fields>(&any)) {
    bson_t child;
    if (!bson_append_document_begin(bson, key.data(), length, &child)) return false;
    for (const DocumentField* field = fields->first; field != fields->first + fields->count; ++field) {
      if (!AppendTo(&child, field->key, field->value)) return false;
    }
    return bson_append_document_end(bson, &child);
  }
  if (const auto* element = std::get_if<const Element*>(&any)) {
    return bson_append_iter(bson, key.data(), length, &(*element)->at_);
  }
  const ValueAppender append{.bson = bson, .key = key};
  return std::visit(
      [&]<typename T>(const T& one) {
        if constexpr (std::is_invocable_v<const ValueAppender&, const T&>) return append(one);
        return false;
      },
      any);
}

Document& Document::Append(std::string_view key, const DocumentValue& value) {
  if (!AppendTo(&bson_, key, value)) AssertFailed(RefusedField(key).c_str(), __FILE__, __LINE__);
  return *this;
}

Status Document::TryAppend(std::string_view key, const DocumentValue& value) {
  Document field;  // so that this document stays as it is if only a part of the value can be appended
  if (!AppendTo(&field.bson_, key, value) || !bson_concat(&bson_, &field.bson_)) {
    return Status(Code::kBadValue, RefusedField(key));
  }
  return {};
}

Document& Document::AppendAll(const Document& other) {
  const bool ok = bson_concat(&bson_, other.get());
  BRAID_ASSERT(ok);
  return *this;
}

std::optional<Element> Document::Find(std::string_view path) const {
  bson_iter_t start{};
  bson_iter_t found{};
  const std::string name(path);
  if (!bson_iter_init(&start, &bson_) || !bson_iter_find_descendant(&start, name.c_str(), &found)) return std::nullopt;
  return Element(found);
}

Status Document::Missing(std::string_view path) {
  return Status(Code::kBadValue, StrCat(path, ": there is no such field"));
}

Status Document::At(std::string_view path, const Status& status) {
  return Status(status.code(), StrCat(path, ": ", status.message()));
}

ElementIterator Document::begin() const { return ElementIterator(bson_); }

std::string Document::ToJson(JsonFormat format) const {
  size_t length = 0;
  char* text = format == JsonFormat::kRelaxed ? bson_as_relaxed_extended_json(&bson_, &length)
                                              : bson_as_canonical_extended_json(&bson_, &length);
  return TakeText(text, length);
}

Array::Array(std::initializer_list<DocumentValue> values) {
  for (const DocumentValue& value : values) Append(value);
}

Array& Array::Append(const DocumentValue& value) {
  char space[16];
  const char* key = nullptr;
  const size_t length = bson_uint32_to_string(static_cast<uint32_t>(size_), &key, space, sizeof(space));
  fields_.Append({key, length}, value);
  ++size_;
  return *this;
}

std::optional<Element> Array::At(size_t position) const { return fields_.Find(StrCat(position)); }

ElementIterator Array::begin() const { return fields_.begin(); }

ElementIterator::ElementIterator(const bson_t& bson)
    : element_(FirstOf(bson)), at_end_(!bson_iter_next(&element_.at_)) {}

ElementIterator& ElementIterator::operator++() {
  at_end_ = !bson_iter_next(&element_.at_);
  return *this;
}

}  // namespace braid
