#include "cli/advise/shard_key.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/hash.h"
#include "engine/bson/key_encoding.h"
#include "engine/sharding/shard_key.h"

namespace braid::advise {
namespace {

using bson::Value;

query::KeyPaths PathsOf(const std::vector<ShardKey::Field>& fields) {
  std::vector<std::string_view> paths;
  paths.reserve(fields.size());
  for (const ShardKey::Field& field : fields) paths.push_back(field.path);
  return query::KeyPaths(paths);
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
  BRAID_TRY(const sharding::ShardKey parsed, sharding::ShardKey::Parse(specification));
  std::vector<Field> fields;
  for (const auto& field : parsed.fields()) fields.push_back({field.path, field.hashed});
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
