#include "engine/sharding/shard_key.h"

#include <algorithm>
#include <array>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/builder.h"
#include "engine/bson/hash.h"
#include "engine/bson/json.h"
#include "engine/bson/key_encoding.h"
#include "engine/bson/number.h"
#include "engine/bson/validate.h"

namespace braid::sharding {
namespace {

using bson::Type;
using bson::Value;

Status BadPattern(std::string_view what, bson::View pattern) {
  return {Code::kBadValue, StrCat("Unsupported shard key pattern ", bson::ToShell(pattern), ". ", what)};
}

bool IsPath(std::string_view path) {
  return !path.empty() && path.front() != '.' && path.back() != '.' && path.find("..") == std::string_view::npos &&
         path.find('$') == std::string_view::npos;
}

bool IsOne(const Value& value) { return value.IsNumber() && bson::Number::Of(value).ToDouble() == 1; }

}  // namespace

Result<ShardKey> ShardKey::Parse(bson::View pattern) {
  ShardKey key;
  if (pattern.empty()) return Status(Code::kBadValue, "Shard key is empty");
  std::vector<std::string_view> paths;
  for (const bson::Element& field : pattern) {
    const bool hashed = field.value.Is(Type::kString) && field.value.AsString() == "hashed";
    if (!hashed && !IsOne(field.value)) {
      return BadPattern("Pattern must either be a single hashed field, or a list of ascending fields", pattern);
    }
    if (hashed && key.has_hashed_field()) return BadPattern("Only one field may be hashed", pattern);
    BRAID_CHECK_OK(bson::CheckPathLength(field.name));
    if (!IsPath(field.name)) return BadPattern("A field name is empty or has a '$'", pattern);
    for (const Field& earlier : key.fields_) {
      if (earlier.path == field.name) return BadPattern("A field is named twice", pattern);
    }
    key.fields_.push_back({std::string(field.name), hashed});
    paths.push_back(field.name);
  }
  if (paths.size() > query::KeyPaths::kPathsMax) return BadPattern("It has more than 32 fields", pattern);
  key.pattern_ = bson::Document(pattern);
  key.paths_ = query::KeyPaths(paths);
  return key;
}

bool ShardKey::has_hashed_field() const { return std::ranges::any_of(fields_, &Field::hashed); }

bool ShardKey::is_of_id() const {
  return std::ranges::all_of(fields_,
                             [](const Field& field) { return field.path == "_id" || field.path.starts_with("_id."); });
}

Result<std::vector<bson::OwnedValue>> ShardKey::Values(bson::View document, bool hash) const {
  std::array<Value, query::KeyPaths::kPathsMax> found;
  if (!paths_.PlainKey(document, found)) {
    return Status(Code::kShardKeyNotFound,
                  StrCat("The shard key ", bson::ToShell(pattern_), " may not have an array in it: document _id ",
                         bson::ToShell(document.Find("_id"))));
  }
  std::vector<bson::OwnedValue> values;
  bson::Arena arena;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (found[i].Is(Type::kRegex) || found[i].Is(Type::kUndefined)) {
      return Status(Code::kShardKeyNotFound,
                    StrCat("A value of type ", bson::TypeName(found[i].type()),
                           " cannot be stored in the shard key field '", fields_[i].path, "'"));
    }
    const Value value = found[i].missing() ? bson::Arena::Null() : found[i];
    values.emplace_back(hash && fields_[i].hashed ? arena.Int64(bson::MongoHash(value)) : value);
  }
  return values;
}

Result<std::string> ShardKey::KeyOf(bson::View document) const {
  std::string key;
  if (empty()) return key;
  BRAID_TRY(const auto values, Values(document, true));
  for (const bson::OwnedValue& value : values) bson::AppendKey(&key, value);
  return key;
}

Result<bson::Document> ShardKey::ValuesOf(bson::View document) const { return Named(document, true); }
Result<bson::Document> ShardKey::PlainValuesOf(bson::View document) const { return Named(document, false); }

Result<bson::Document> ShardKey::Named(bson::View document, bool hash) const {
  bson::Builder out;
  BRAID_TRY(const auto values, Values(document, hash));
  for (size_t i = 0; i < fields_.size(); ++i) out.Append(fields_[i].path, values[i]);
  return out.Finish();
}

Result<std::string> ShardKey::Encode(bson::View bound) const {
  std::string key;
  auto at = bound.begin();
  for (const Field& field : fields_) {
    if (at == bound.end() || at->name != field.path) {
      return Status(Code::kBadValue, StrCat("the bound ", bson::ToShell(bound),
                                            " does not have the fields of the shard key ", bson::ToShell(pattern_)));
    }
    bson::AppendKey(&key, at->value);
    ++at;
  }
  if (at != bound.end()) {
    return Status(Code::kBadValue, StrCat("the bound ", bson::ToShell(bound), " has more fields than the shard key ",
                                          bson::ToShell(pattern_)));
  }
  return key;
}

Result<bson::Document> ShardKey::Complete(bson::View bound) const {
  bson::Builder out;
  size_t given = 0;
  for (const bson::Element& field : bound) {
    if (given == fields_.size() || field.name != fields_[given].path) {
      return Status(Code::kBadValue, StrCat("the bound ", bson::ToShell(bound), " is not a prefix of the shard key ",
                                            bson::ToShell(pattern_)));
    }
    out.Append(field.name, field.value);
    ++given;
  }
  for (; given < fields_.size(); ++given) out.Append(fields_[given].path, bson::MinKey{});
  return out.Finish();
}

bson::Document ShardKey::Lowest() const {
  bson::Builder out;
  for (const Field& field : fields_) out.Append(field.path, bson::MinKey{});
  return out.Finish();
}

bson::Document ShardKey::Highest() const {
  bson::Builder out;
  for (const Field& field : fields_) out.Append(field.path, bson::MaxKey{});
  return out.Finish();
}

}  // namespace braid::sharding
