// Checkpoints inside: the leaf of a chain in a checkpoint's Merkle tree, integers as they stand in signed bytes, and
// JSON of checkpoints and proofs, which is read strictly: what is signed must not have two readings. A field that is
// missing, unknown or there twice, a number that is no integer and hexadecimal of the wrong length or case are errors
// that name the field.
#pragma once

#include <bson/bson.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "braid/checkpoint.h"

namespace braid::checkpoint_bytes {

/// The Merkle leaf of a head: the hash of the bytes that it has in checkpoints of a version.
Sha256Hash LeafOf(const CheckpointHead& head, int64_t version);
std::vector<Sha256Hash> LeavesOf(const std::vector<CheckpointHead>& heads, int64_t version);
/// Version 1 is still read, but no longer written.
inline bool IsKnownVersion(int64_t version) { return version == 1 || version == kCheckpointVersion; }
Status UnknownVersion(int64_t version);

/// OK if the fields of a statement are valid; the signature is not checked. kUnsupportedFormat, kBadValue.
Status CheckForm(const SignedStatement& statement);

/// OK if the heads are in order and are those that the statement commits to; kChainBroken.
Status CheckHeads(const Checkpoint& checkpoint);

}  // namespace braid::checkpoint_bytes

namespace braid::checkpoint_json {

/// The longest text that is read. It is converted to BSON, which may be eight times as long and must stay below 2 GiB.
constexpr size_t kTextBytesMax = 128 << 20;

/// Takes the fields of one object, each once. The first error is kept, and ends the reading of all that follows.
class ObjectReader {
 public:
  using ReadObject = std::function<void(ObjectReader&)>;

  /// `where` names the object in messages; empty for the outermost.
  ObjectReader(const bson_t& object, std::string where);

  void Integer(const char* name, int64_t& out);
  void Text(const char* name, std::string& out);
  void Hexadecimal(const char* name, std::string& out);
  void Hexadecimal(const char* name, std::span<uint8_t> out);
  void Integers(const char* name, std::vector<int64_t>& out);
  void Hashes(const char* name, std::vector<Sha256Hash>& out);
  void Object(const char* name, const ReadObject& read);
  /// Calls `read` for every object of an array.
  void Objects(const char* name, const ReadObject& read);

  bool ok() const { return status_.ok(); }
  void Fail(Status status);
  /// The first error; if there is none, an error for a field that was not taken.
  Status Finish();

 private:
  struct Field {
    std::string_view name;
    bson_iter_t value;
    bool taken = false;
  };
  /// Null after an error, which may be that the field is missing or not of this type.
  const bson_iter_t* Take(const char* name, bson_type_t type);
  void Each(const char* name, const std::function<void(const bson_iter_t&, std::string where)>& read);
  void Nested(const bson_iter_t& value, std::string where, const ReadObject& read);
  void FailToParse(std::string_view name, std::string_view problem);
  std::string PathOf(std::string_view name) const;

  std::string where_;
  std::vector<Field> fields_;
  Status status_;
};

/// Reads a text that is one object and nothing after it.
Status ReadText(std::string_view json, const ObjectReader::ReadObject& read);

/// The fields of a statement, in a checkpoint and in a proof alike.
void ReadStatement(ObjectReader& reader, SignedStatement& statement);
/// The same as text: `"version":1,…,"signature":"…"`, without braces.
std::string StatementFields(const SignedStatement& statement);

}  // namespace braid::checkpoint_json
