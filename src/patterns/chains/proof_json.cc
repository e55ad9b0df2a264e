// Inclusion proofs as JSON.
#include "base/strings.h"
#include "braid/checkpoint.h"
#include "patterns/chains/checkpoint_json.h"
#include "patterns/chains/signing.h"

namespace braid {
namespace {

/// `"also":[…],"payload":"…"}`: how the text of every record ends.
std::string EndOfRecord(const std::vector<int64_t>& also, std::string_view payload) {
  std::string json = "\"also\":[";
  for (size_t i = 0; i < also.size(); ++i) json += StrCat(i == 0 ? "" : ",", also[i]);
  return StrCat(json, "],\"payload\":\"", Hex(payload), "\"}");
}

}  // namespace

std::string ToJson(const InclusionProof& proof) {
  const ProvenRecord& record = proof.record;
  std::string json =
      StrCat("{\"checkpoint\":{", checkpoint_json::StatementFields(proof.statement),
             "},\"record\":{\"chain\":", record.chain, ",\"sequence\":", record.sequence, ",\"prev_hash\":\"",
             signing::HexOf(record.prev_hash), "\",", EndOfRecord(record.also, record.payload), ",\"later\":[");
  const char* separator = "";
  for (const LaterRecord& next : proof.later) {
    json += StrCat(separator, "{\"sequence\":", next.sequence, ",", EndOfRecord(next.also, next.payload));
    separator = ",";
  }
  json += StrCat("],\"head_index\":", proof.head_index, ",\"path\":[");
  separator = "";
  for (const Sha256Hash& sibling : proof.path) {
    json += StrCat(separator, "\"", signing::HexOf(sibling), "\"");
    separator = ",";
  }
  return json + "]}";
}

Result<InclusionProof> ParseInclusionProof(std::string_view json) {
  using Reader = checkpoint_json::ObjectReader;
  InclusionProof proof;
  BRAID_CHECK_OK(checkpoint_json::ReadText(json, [&](Reader& reader) {
    reader.Object("checkpoint", [&](Reader& fields) { checkpoint_json::ReadStatement(fields, proof.statement); });
    reader.Object("record", [&](Reader& fields) {
      fields.Integer("chain", proof.record.chain);
      fields.Integer("sequence", proof.record.sequence);
      fields.Hexadecimal("prev_hash", proof.record.prev_hash);
      fields.Integers("also", proof.record.also);
      fields.Hexadecimal("payload", proof.record.payload);
    });
    reader.Objects("later", [&](Reader& fields) {
      LaterRecord& next = proof.later.emplace_back();
      fields.Integer("sequence", next.sequence);
      fields.Integers("also", next.also);
      fields.Hexadecimal("payload", next.payload);
    });
    reader.Integer("head_index", proof.head_index);
    reader.Hashes("path", proof.path);
  }));
  return proof;
}

}  // namespace braid
