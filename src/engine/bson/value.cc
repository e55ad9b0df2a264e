#include "engine/bson/value.h"

namespace braid::bson {
namespace {
constexpr char kEmptyDocument[5] = {5, 0, 0, 0, 0};
}  // namespace

std::string_view TypeName(Type type) {
  switch (type) {
    case Type::kMissing: return "missing";
    case Type::kDouble: return "double";
    case Type::kString: return "string";
    case Type::kObject: return "object";
    case Type::kArray: return "array";
    case Type::kBinary: return "binData";
    case Type::kUndefined: return "undefined";
    case Type::kObjectId: return "objectId";
    case Type::kBool: return "bool";
    case Type::kDate: return "date";
    case Type::kNull: return "null";
    case Type::kRegex: return "regex";
    case Type::kDbPointer: return "dbPointer";
    case Type::kCode: return "javascript";
    case Type::kSymbol: return "symbol";
    case Type::kCodeWScope: return "javascriptWithScope";
    case Type::kInt32: return "int";
    case Type::kTimestamp: return "timestamp";
    case Type::kInt64: return "long";
    case Type::kDecimal128: return "decimal";
    case Type::kMaxKey: return "maxKey";
    case Type::kMinKey: return "minKey";
  }
  return "invalid";
}

Value::Value(View object) : data_(object.data()), size_(object.size()), type_(Type::kObject) {}

View Value::AsView() const {
  BRAID_ASSERT(type_ == Type::kObject || type_ == Type::kArray);
  return View(data_);
}

Binary Value::AsBinary() const {
  BRAID_ASSERT(type_ == Type::kBinary);
  return {static_cast<uint8_t>(data_[4]), {data_ + 5, Load<uint32_t>(data_)}};
}

Regex Value::AsRegex() const {
  BRAID_ASSERT(type_ == Type::kRegex);
  const std::string_view pattern(data_);
  return {pattern, std::string_view(data_ + pattern.size() + 1)};
}

std::string_view Value::AsCodeOfScope() const {
  BRAID_ASSERT(type_ == Type::kCodeWScope);
  return {data_ + 8, Load<uint32_t>(data_ + 4) - 1};
}

View Value::AsScope() const {
  BRAID_ASSERT(type_ == Type::kCodeWScope);
  return View(data_ + 8 + Load<uint32_t>(data_ + 4));
}

uint32_t ValueSize(Type type, const char* data) {
  switch (type) {
    case Type::kDouble:
    case Type::kDate:
    case Type::kTimestamp:
    case Type::kInt64: return 8;
    case Type::kString:
    case Type::kCode:
    case Type::kSymbol: return 4 + Load<uint32_t>(data);
    case Type::kObject:
    case Type::kArray:
    case Type::kCodeWScope: return Load<uint32_t>(data);
    case Type::kBinary: return 5 + Load<uint32_t>(data);
    case Type::kObjectId: return 12;
    case Type::kBool: return 1;
    case Type::kInt32: return 4;
    case Type::kDecimal128: return 16;
    case Type::kDbPointer: return 4 + Load<uint32_t>(data) + 12;
    case Type::kRegex: {
      const size_t pattern = std::strlen(data) + 1;
      return static_cast<uint32_t>(pattern + std::strlen(data + pattern) + 1);
    }
    case Type::kMissing:
    case Type::kUndefined:
    case Type::kNull:
    case Type::kMaxKey:
    case Type::kMinKey: return 0;
  }
  return 0;
}

View::View() : data_(kEmptyDocument) {}

void View::Iterator::Read() {
  const auto type = static_cast<Type>(static_cast<uint8_t>(*at_));
  if (type == Type::kMissing) return;  // the terminator: equal to end()
  element_.name = std::string_view(at_ + 1);
  const char* data = element_.name.data() + element_.name.size() + 1;
  const uint32_t size = ValueSize(type, data);
  element_.value = Value(type, data, size);
  next_ = data + size;
}

// Most names differ in one of their first bytes, and are short: comparing and finding the end in one go takes less time
// than two calls per element.
Value View::Find(std::string_view name) const {
  for (const char* at = data_ + sizeof(int32_t); *at != '\0';) {
    const auto type = static_cast<Type>(static_cast<uint8_t>(*at++));
    size_t same = 0;
    while (same < name.size() && at[same] == name[same] && at[same] != '\0') ++same;
    const bool found = same == name.size() && at[same] == '\0';
    const char* const data = at + same + std::strlen(at + same) + 1;
    const uint32_t size = ValueSize(type, data);
    if (found) return Value(type, data, size);
    at = data + size;
  }
  return {};
}

Value View::At(size_t index) const {
  for (const Element& element : *this) {
    if (index-- == 0) return element.value;
  }
  return {};
}

size_t View::Count() const {
  size_t count = 0;
  for (auto it = begin(); it != end(); ++it) ++count;
  return count;
}

Document::Document() : bytes_(kEmptyDocument, sizeof(kEmptyDocument)) {}

}  // namespace braid::bson
