#include "cli/advise/shard_key.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/bson/number.h"

namespace braid::advise {
namespace {

using bson::Type;
using bson::Value;

query::KeyPaths PathsOf(const std::vector<ShardKey::Field>& fields) {
  std::vector<std::string_view> paths;
  paths.reserve(fields.size());
  for (const ShardKey::Field& field : fields) paths.push_back(field.path);
  return query::KeyPaths(paths);
}

bool IsOne(const Value& value) {
  const auto number = bson::NumberOf(value);
  return number && number->ToInt64Exact() == 1;
}

bool IsIdentifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$'; };
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  return !name.empty() && letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || digit(c); });
}

}  // namespace

ShardKey::ShardKey(std::vector<Field> fields) : fields_(std::move(fields)), paths_(PathsOf(fields_)) {}

Result<ShardKey> ShardKey::Parse(bson::View specification) {
  std::vector<Field> fields;
  size_t hashed = 0;
  for (const bson::Element& element : specification) {
    const bool is_hashed = element.value.Is(Type::kString) && element.value.AsString() == "hashed";
    if (!is_hashed && !IsOne(element.value)) {
      return Status(Code::kBadValue, StrCat("the field ", element.name, " of a shard key is 1 or \"hashed\", not ",
                                            bson::ToShell(element.value)));
    }
    if (element.name.empty() || element.name.starts_with('$') || element.name.starts_with('.') ||
        element.name.ends_with('.') || element.name.find("..") != std::string_view::npos) {
      return Status(Code::kBadValue, StrCat("'", element.name, "' cannot be a field of a shard key"));
    }
    hashed += is_hashed ? 1 : 0;
    fields.push_back({std::string(element.name), is_hashed});
  }
  if (fields.empty()) return Status(Code::kBadValue, "a shard key has at least one field");
  if (hashed > 1) return Status(Code::kBadValue, "a shard key has at most one hashed field");
  if (fields.size() > query::KeyPaths::kPathsMax) return Status(Code::kBadValue, "a shard key has at most 32 fields");
  return ShardKey(std::move(fields));
}

bool ShardKey::HasHashed() const {
  return std::any_of(fields_.begin(), fields_.end(), [](const Field& field) { return field.hashed; });
}

bson::Document ShardKey::ToBson() const {
  bson::Builder out;
  for (const Field& field : fields_) {
    if (field.hashed) {
      out.Append(field.path, "hashed");
    } else {
      out.Append(field.path, int32_t{1});
    }
  }
  return out.Finish();
}

std::string ShardKey::ToText() const {
  std::string text = "{";
  for (const Field& field : fields_) {
    text += StrCat(text.size() > 1 ? ", " : " ", IsIdentifier(field.path) ? field.path : StrCat("\"", field.path, "\""),
                   field.hashed ? ": \"hashed\"" : ": 1");
  }
  return text + " }";
}

std::optional<std::vector<Value>> ShardKey::ValuesOf(bson::View document) const {
  std::vector<Value> values(fields_.size());
  if (!paths_.PlainKey(document, values)) return std::nullopt;
  for (Value& value : values) {
    if (value.missing()) value = bson::Arena::Null();
  }
  return values;
}

std::string ShardKey::Encode(const std::vector<Value>& values) const {
  std::string key;
  bson::Arena arena;
  for (size_t i = 0; i < fields_.size(); ++i) {
    bson::AppendKey(&key, fields_[i].hashed ? arena.Int64(bson::MongoHash(values[i])) : values[i]);
  }
  return key;
}

bson::Document ShardKey::ToDocument(const std::vector<Value>& values) const {
  bson::Builder out;
  for (size_t i = 0; i < fields_.size(); ++i) out.Append(fields_[i].path, values[i]);
  return out.Finish();
}

}  // namespace braid::advise
