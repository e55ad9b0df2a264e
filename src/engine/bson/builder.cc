#include "engine/bson/builder.h"

#include <bson/bson.h>

#include <charconv>

namespace braid::bson {

ObjectId ObjectId::Generate() {
  bson_oid_t oid;
  bson_oid_init(&oid, nullptr);
  ObjectId id;
  std::memcpy(id.bytes, oid.bytes, sizeof(id.bytes));
  return id;
}

void Builder::Begin() {
  levels_.push_back({out_.size()});
  out_.append(4, '\0');
}

void Builder::Head(Type type, std::string_view name) {
  out_.push_back(static_cast<char>(type));
  out_.append(name);
  out_.push_back('\0');
}

Builder& Builder::Open(Type type, std::string_view name) {
  Head(type, name);
  Begin();
  return *this;
}

Builder& Builder::Close() {
  BRAID_ASSERT(!levels_.empty());
  out_.push_back('\0');
  const size_t start = levels_.back().start;
  const auto size = static_cast<uint32_t>(out_.size() - start);
  std::memcpy(out_.data() + start, &size, sizeof(size));
  levels_.pop_back();
  return *this;
}

Document Builder::Finish() {
  BRAID_ASSERT(levels_.size() == 1 && levels_.front().start == 0);
  Close();
  return Document(std::move(out_));
}

std::string_view Builder::NextName() {
  const auto [end, error] = std::to_chars(name_, name_ + sizeof(name_), levels_.back().next++);
  return {name_, static_cast<size_t>(end - name_)};
}

Builder& Builder::Append(std::string_view name, const Value& value) {
  if (value.missing()) return *this;
  Head(value.type(), name);
  out_.append(value.bytes());
  return *this;
}

Builder& Builder::Append(std::string_view name, int32_t value) {
  Head(Type::kInt32, name);
  Raw(&value, sizeof(value));
  return *this;
}

Builder& Builder::Append(std::string_view name, int64_t value) {
  Head(Type::kInt64, name);
  Raw(&value, sizeof(value));
  return *this;
}

Builder& Builder::Append(std::string_view name, double value) {
  Head(Type::kDouble, name);
  Raw(&value, sizeof(value));
  return *this;
}

Builder& Builder::Append(std::string_view name, bool value) {
  Head(Type::kBool, name);
  out_.push_back(value ? 1 : 0);
  return *this;
}

Builder& Builder::Append(std::string_view name, std::string_view value) {
  Head(Type::kString, name);
  const auto size = static_cast<uint32_t>(value.size() + 1);
  Raw(&size, sizeof(size));
  out_.append(value);
  out_.push_back('\0');
  return *this;
}

Builder& Builder::Append(std::string_view name, View document) {
  Head(Type::kObject, name);
  out_.append(document.bytes());
  return *this;
}

Builder& Builder::AppendArray(std::string_view name, View array) {
  Head(Type::kArray, name);
  out_.append(array.bytes());
  return *this;
}

Builder& Builder::Append(std::string_view name, Decimal128 value) {
  Head(Type::kDecimal128, name);
  Raw(&value, sizeof(value));
  return *this;
}

Builder& Builder::Append(std::string_view name, Date value) {
  Head(Type::kDate, name);
  Raw(&value.millis, sizeof(value.millis));
  return *this;
}

Builder& Builder::Append(std::string_view name, Timestamp value) {
  Head(Type::kTimestamp, name);
  Raw(&value.value, sizeof(value.value));
  return *this;
}

Builder& Builder::Append(std::string_view name, ObjectId value) {
  Head(Type::kObjectId, name);
  Raw(value.bytes, sizeof(value.bytes));
  return *this;
}

Builder& Builder::Append(std::string_view name, Null) {
  Head(Type::kNull, name);
  return *this;
}

Builder& Builder::Append(std::string_view name, MinKey) {
  Head(Type::kMinKey, name);
  return *this;
}

Builder& Builder::Append(std::string_view name, MaxKey) {
  Head(Type::kMaxKey, name);
  return *this;
}

Builder& Builder::Append(std::string_view name, Binary value) {
  Head(Type::kBinary, name);
  const auto size = static_cast<uint32_t>(value.bytes.size());
  Raw(&size, sizeof(size));
  out_.push_back(static_cast<char>(value.subtype));
  out_.append(value.bytes);
  return *this;
}

Builder& Builder::Append(std::string_view name, Regex value) {
  Head(Type::kRegex, name);
  out_.append(value.pattern);
  out_.push_back('\0');
  out_.append(value.options);
  out_.push_back('\0');
  return *this;
}

Builder& Builder::AppendAll(View document) {
  out_.append(document.data() + 4, document.size() - 5);
  return *this;
}

Document ErrorReply(const Status& status) {
  Builder builder;
  builder.Append("ok", 0.0).Append("errmsg", status.message()).Append("code", static_cast<int32_t>(status.code()));
  builder.Append("codeName", CodeName(status.code()));
  if (!status.details().empty()) builder.AppendAll(View(status.details()));
  return builder.Finish();
}

}  // namespace braid::bson
