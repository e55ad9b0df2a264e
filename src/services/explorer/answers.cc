// Stored documents as the answers of queries.
#include "services/explorer/queries.h"

#include <algorithm>
#include <initializer_list>
#include <span>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::explorer {
namespace {

using client::BsonPtr;

constexpr const char* kAnsweredBlockFields[] = {
    "deferredReceiptsRoot",
    "deferredStateRoot",
    "difficulty",
    "epochNumber",
    "gasLimit",
    "height",
    "miner",
    "nonce",
    "parentHash",
    "size",
    "timestamp",
    "transactionsRoot",
    "isPivot",
    "score",
    "transactionCount",
    "newTransactionCount",
};
constexpr const char* kAnsweredTransactionFields[] = {
    "blockHash", "contractCreated",  "data",      "from",  "gas", "gasPrice", "nonce", "r", "s", "v", "to",
    "value",     "transactionIndex", "timestamp", "score",
};
// Fields of the index, not of the chain.
constexpr std::string_view kInternalOfBlock[] = {"_id", "epoch"};
constexpr std::string_view kInternalOfTransaction[] = {"_id", "epoch", "firstBlockHash", "receipt"};
constexpr char kReferees[] = "refereeHashes";

// The field of the first document that has it, or null.
void AppendFirst(std::span<const bson_t* const> documents, const char* name, bson_t* out) {
  for (const bson_t* document : documents) {
    bson_iter_t field;
    if (!bson_iter_init_find(&field, document, name)) continue;
    bson_append_iter(out, name, -1, &field);
    return;
  }
  BSON_APPEND_NULL(out, name);
}

void AppendNamed(const bson_t& from, std::initializer_list<const char*> names, bson_t* out) {
  const bson_t* const documents[] = {&from};
  for (const char* name : names) AppendFirst(documents, name, out);
}

// Appends the fields that are not in the answer yet.
void AppendOthers(const bson_t& from, std::span<const std::string_view> internal, bson_t* out) {
  bson_iter_t field;
  bson_iter_t present;
  bson_iter_init(&field, &from);
  while (bson_iter_next(&field)) {
    const char* name = bson_iter_key(&field);
    if (std::find(internal.begin(), internal.end(), name) != internal.end()) continue;
    if (!bson_iter_init_find(&present, out, name)) bson_append_iter(out, name, -1, &field);
  }
}

// It is stored as the text of a JSON array.
void AppendReferees(const bson_t& stored, bson_t* out) {
  const std::string_view text = client::TextOf(&stored, kReferees);
  const Result<BsonPtr> parsed = client::ParseJson(StrCat("{\"", kReferees, "\": ", text, "}"));
  bson_iter_t field;
  if (!text.empty() && parsed.ok() && bson_iter_init_find(&field, parsed->get(), kReferees)) {
    bson_append_iter(out, kReferees, -1, &field);
  } else {
    BSON_APPEND_NULL(out, kReferees);
  }
}

// The document that a field holds; an empty one if it holds none.
BsonPtr CopyOf(const bson_iter_t& field) {
  uint32_t length = 0;
  const uint8_t* bytes = nullptr;
  if (BSON_ITER_HOLDS_DOCUMENT(&field)) {
    bson_iter_document(&field, &length, &bytes);
    if (BsonPtr copy(bson_new_from_data(bytes, length)); copy != nullptr) return copy;
  }
  return BsonPtr(bson_new());
}

BsonPtr CopyOfField(const bson_t& document, const char* name) {
  bson_iter_t field;
  return bson_iter_init_find(&field, &document, name) ? CopyOf(field) : BsonPtr(bson_new());
}

void AppendId(const bson_t& stored, bson_t* out) {
  const std::string_view hash = client::TextOf(&stored, "_id");
  bson_append_utf8(out, "hash", -1, hash.data(), static_cast<int>(hash.size()));
}

}  // namespace

BsonPtr BlockAnswer(const bson_t& stored) {
  BsonPtr answer(bson_new());
  AppendId(stored, answer.get());
  const bson_t* const documents[] = {&stored};
  for (const char* name : kAnsweredBlockFields) AppendFirst(documents, name, answer.get());
  AppendReferees(stored, answer.get());
  AppendOthers(stored, kInternalOfBlock, answer.get());
  return answer;
}

BsonPtr TransactionAnswer(const bson_t& stored, const std::vector<BsonPtr>& receipts) {
  std::vector<BsonPtr> receipt_fields;
  receipt_fields.reserve(receipts.size() + 1);
  for (const BsonPtr& receipt : receipts) receipt_fields.push_back(CopyOfField(*receipt, "fields"));
  receipt_fields.push_back(CopyOfField(stored, "receipt"));
  std::vector<const bson_t*> documents;
  documents.reserve(receipt_fields.size() + 1);
  documents.push_back(&stored);
  for (const BsonPtr& fields : receipt_fields) documents.push_back(fields.get());
  BsonPtr answer(bson_new());
  AppendId(stored, answer.get());
  for (const char* name : kAnsweredTransactionFields) AppendFirst(documents, name, answer.get());
  for (const bson_t* document : documents) AppendOthers(*document, kInternalOfTransaction, answer.get());
  return answer;
}

BsonPtr BlockRowAnswer(const bson_t& entry, int64_t score) {
  BsonPtr row(bson_new());
  AppendNamed(entry, {"hash"}, row.get());
  BSON_APPEND_INT64(row.get(), "score", score);
  AppendNamed(entry,
              {"epochNumber", "miner", "timestamp", "isPivot", "difficulty", "transactionCount", "newTransactionCount"},
              row.get());
  return row;
}

BsonPtr TransactionRowAnswer(const bson_t& stored) {
  BsonPtr row(bson_new());
  AppendId(stored, row.get());
  AppendNamed(stored, {"score", "from", "to", "value", "timestamp"}, row.get());
  return row;
}

std::vector<BsonPtr> BlockTransactionAnswers(const bson_t& document) {
  std::vector<BsonPtr> rows;
  bson_iter_t list;
  bson_iter_t element;
  if (!bson_iter_init_find(&list, &document, "transactions") || !bson_iter_recurse(&list, &element)) return rows;
  while (bson_iter_next(&element)) {
    const BsonPtr transaction = CopyOf(element);
    AppendNamed(*transaction, {"hash", "transactionIndex", "from", "to", "value"}, rows.emplace_back(bson_new()).get());
  }
  return rows;
}

BsonPtr AccountRowAnswer(const bson_t& entry) {
  BsonPtr row(bson_new());
  AppendNamed(entry, {"hash", "type", "timestamp"}, row.get());
  return row;
}

BsonPtr MinerRowAnswer(const bson_t& miner) {
  BsonPtr row(bson_new());
  bson_iter_t address;
  if (bson_iter_init_find(&address, &miner, "_id")) bson_append_iter(row.get(), "miner", -1, &address);
  AppendNamed(miner, {"block", "score"}, row.get());
  return row;
}

}  // namespace braid::explorer
