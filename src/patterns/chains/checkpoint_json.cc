// JSON of checkpoints and proofs.
#include "patterns/chains/checkpoint.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/strings.h"
#include "patterns/chains/signing.h"

namespace braid::checkpoint_json {
namespace {

/// More fields than any object here has. Each name is compared with all earlier ones, so a hostile text must not have
/// many.
constexpr size_t kFieldsMax = 32;

std::string_view TextOf(const bson_iter_t& value) {
  uint32_t size = 0;
  const char* text = bson_iter_utf8(&value, &size);
  return {text, size};
}

const char* TypeName(bson_type_t type) {
  switch (type) {
    case BSON_TYPE_INT64: return "an integer of 64 bits";
    case BSON_TYPE_UTF8: return "a string";
    case BSON_TYPE_ARRAY: return "an array";
    default: return "an object";
  }
}

struct FreeReader {
  void operator()(bson_json_reader_t* reader) const { bson_json_reader_destroy(reader); }
};

struct Destroy {
  void operator()(bson_t* bson) const { bson_destroy(bson); }
};

}  // namespace

ObjectReader::ObjectReader(const bson_t& object, std::string where) : where_(std::move(where)) {
  bson_iter_t field;
  if (!bson_iter_init(&field, &object)) FailToParse("", "not an object");
  while (status_.ok() && bson_iter_next(&field)) {
    const std::string_view name(bson_iter_key(&field), bson_iter_key_len(&field));
    if (std::ranges::find(fields_, name, &Field::name) != fields_.end()) FailToParse(name, "there twice");
    if (fields_.size() == kFieldsMax) FailToParse("", "more fields than any object has");
    fields_.push_back({.name = name, .value = field});
  }
}

void ObjectReader::Integer(const char* name, int64_t& out) {
  if (const bson_iter_t* value = Take(name, BSON_TYPE_INT64)) out = bson_iter_as_int64(value);
}

void ObjectReader::Text(const char* name, std::string& out) {
  if (const bson_iter_t* value = Take(name, BSON_TYPE_UTF8)) out = TextOf(*value);
}

void ObjectReader::Hexadecimal(const char* name, std::string& out) {
  const bson_iter_t* value = Take(name, BSON_TYPE_UTF8);
  if (value == nullptr) return;
  Result<std::string> bytes = signing::BytesOfHex(TextOf(*value));
  if (!bytes.ok()) return FailToParse(name, bytes.error().message());
  out = *std::move(bytes);
}

void ObjectReader::Hexadecimal(const char* name, std::span<uint8_t> out) {
  const bson_iter_t* value = Take(name, BSON_TYPE_UTF8);
  if (value == nullptr) return;
  if (const Status s = signing::FillFromHex(TextOf(*value), out); !s.ok()) FailToParse(name, s.message());
}

void ObjectReader::Integers(const char* name, std::vector<int64_t>& out) {
  Each(name, [&](const bson_iter_t& value, const std::string& where) {
    if (!BSON_ITER_HOLDS_INT(&value)) return FailToParse(where, StrCat("not ", TypeName(BSON_TYPE_INT64)));
    out.push_back(bson_iter_as_int64(&value));
  });
}

void ObjectReader::Hashes(const char* name, std::vector<Sha256Hash>& out) {
  Each(name, [&](const bson_iter_t& value, const std::string& where) {
    if (!BSON_ITER_HOLDS_UTF8(&value)) return FailToParse(where, "not a string");
    const Status s = signing::FillFromHex(TextOf(value), out.emplace_back());
    if (!s.ok()) FailToParse(where, s.message());
  });
}

void ObjectReader::Object(const char* name, const ReadObject& read) {
  if (const bson_iter_t* value = Take(name, BSON_TYPE_DOCUMENT)) Nested(*value, PathOf(name), read);
}

void ObjectReader::Objects(const char* name, const ReadObject& read) {
  Each(name, [&](const bson_iter_t& value, const std::string& where) {
    if (!BSON_ITER_HOLDS_DOCUMENT(&value)) return FailToParse(where, "not an object");
    Nested(value, PathOf(where), read);
  });
}

void ObjectReader::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
}

Status ObjectReader::Finish() {
  const auto left = std::ranges::find(fields_, false, &Field::taken);
  if (status_.ok() && left != fields_.end()) FailToParse(left->name, "an unknown field");
  return status_;
}

const bson_iter_t* ObjectReader::Take(const char* name, bson_type_t type) {
  if (!status_.ok()) return nullptr;
  const auto field = std::ranges::find(fields_, std::string_view(name), &Field::name);
  if (field == fields_.end()) {
    FailToParse(name, "missing");
    return nullptr;
  }
  const bool fits =
      type == BSON_TYPE_INT64 ? BSON_ITER_HOLDS_INT(&field->value) : bson_iter_type(&field->value) == type;
  if (!fits) {
    FailToParse(name, StrCat("not ", TypeName(type)));
    return nullptr;
  }
  field->taken = true;
  return &field->value;
}

void ObjectReader::Each(const char* name, const std::function<void(const bson_iter_t&, std::string where)>& read) {
  const bson_iter_t* array = Take(name, BSON_TYPE_ARRAY);
  if (array == nullptr) return;
  bson_iter_t element;
  if (!bson_iter_recurse(array, &element)) return FailToParse(name, "not an array");
  while (status_.ok() && bson_iter_next(&element)) read(element, StrCat(name, "[", bson_iter_key(&element), "]"));
}

void ObjectReader::Nested(const bson_iter_t& value, std::string where, const ReadObject& read) {
  uint32_t size = 0;
  const uint8_t* data = nullptr;
  bson_iter_document(&value, &size, &data);
  bson_t object;
  if (!bson_init_static(&object, data, size)) return FailToParse(where, "not an object");
  ObjectReader reader(object, std::move(where));
  read(reader);
  Fail(reader.Finish());
}

void ObjectReader::FailToParse(std::string_view name, std::string_view problem) {
  Fail(Status(Code::kFailedToParse, StrCat(PathOf(name), ": ", problem)));
}

std::string ObjectReader::PathOf(std::string_view name) const {
  if (where_.empty() && name.empty()) return "text";
  if (where_.empty() || name.empty()) return StrCat(where_, name);
  return StrCat(where_, ".", name);
}

Status ReadText(std::string_view json, const ObjectReader::ReadObject& read) {
  if (json.size() > kTextBytesMax) {
    return Status(Code::kInvalidLength,
                  StrCat("text of ", json.size(), " bytes; at most ", kTextBytesMax, " are read"));
  }
  const std::unique_ptr<bson_json_reader_t, FreeReader> reader(bson_json_data_reader_new(false, 0));
  bson_json_data_reader_ingest(reader.get(), reinterpret_cast<const uint8_t*>(json.data()), json.size());
  const std::unique_ptr<bson_t, Destroy> object(bson_new()), more(bson_new());
  bson_error_t error{};
  if (bson_json_reader_read(reader.get(), object.get(), &error) != 1) {
    return Status(Code::kFailedToParse, StrCat("not a JSON object: ", error.message));
  }
  if (bson_json_reader_read(reader.get(), more.get(), &error) != 0) {
    return Status(Code::kFailedToParse, "there is more after the JSON object");
  }
  ObjectReader fields(*object, "");
  read(fields);
  return fields.Finish();
}

void ReadStatement(ObjectReader& reader, SignedStatement& statement) {
  reader.Integer("version", statement.version);
  if (reader.ok() && !checkpoint_bytes::IsKnownVersion(statement.version)) {
    return reader.Fail(checkpoint_bytes::UnknownVersion(statement.version));
  }
  reader.Text("store", statement.store);
  reader.Integer("sequence", statement.sequence);
  reader.Integer("created_at", statement.created_at_ms);
  reader.Integer("chains", statement.chain_count);
  reader.Hexadecimal("root", statement.root);
  std::array<uint8_t, 8> key_id{};
  reader.Hexadecimal("key", key_id);
  statement.key_id = signing::HexOf(key_id);
  reader.Hexadecimal("signature", statement.signature);
}

std::string StatementFields(const SignedStatement& statement) {
  const std::unique_ptr<char, decltype(&bson_free)> store(
      bson_utf8_escape_for_json(statement.store.data(), static_cast<ssize_t>(statement.store.size())), bson_free);
  return StrCat("\"version\":", statement.version, ",\"store\":\"", store != nullptr ? store.get() : "",
                "\",\"sequence\":", statement.sequence, ",\"created_at\":", statement.created_at_ms,
                ",\"chains\":", statement.chain_count, ",\"root\":\"", signing::HexOf(statement.root), "\",\"key\":\"",
                statement.key_id, "\",\"signature\":\"", signing::HexOf(statement.signature), "\"");
}

}  // namespace braid::checkpoint_json
