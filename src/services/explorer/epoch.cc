#include "services/explorer/epoch.h"

#include <fmt/format.h>

#include <optional>
#include <unordered_set>

#include "client/fields.h"
#include "services/explorer/epoch_fields.h"

namespace braid::explorer {
namespace {

using enum FieldKind;

// Each thread keeps the memory of its parser for lines of up to this size.
constexpr size_t kKeptBytesMax = size_t{4} << 20;

// Fields that are attached on insert are dropped if the source gives them: it must not set a score or an epoch.
constexpr KnownField<EpochBlock> kBlockFields[] = {
    {"_id", kDropped},
    {"deferredReceiptsRoot", kHash},
    {"deferredStateRoot", kHash},
    {"difficulty", kQuantity, true, &EpochBlock::difficulty},
    {"epoch", kDropped},
    {"epochNumber", kQuantity},
    {"gasLimit", kQuantity},
    {"hash", kHash, true, &EpochBlock::hash, false},
    {"height", kQuantity},
    {"isPivot", kDropped},
    {"miner", kAddress, true, &EpochBlock::miner},
    {"newTransactionCount", kDropped},
    {"nonce", kQuantity},
    {"parentHash", kHash, false, &EpochBlock::parent_hash},
    {"refereeHashes", kHashes},
    {"score", kDropped},
    {"size", kQuantity},
    {"timestamp", kQuantity, true, &EpochBlock::timestamp},
    {"transactionCount", kDropped},
    {"transactions", kDropped},
    {"transactionsRoot", kHash},
};

constexpr KnownField<EpochTransaction> kTransactionFields[] = {
    {"hash", kHash, true, &EpochTransaction::hash, false},
    {"from", kAddress, true, &EpochTransaction::from},
    {"to", kAddress, false, &EpochTransaction::to},
    {"value", kQuantity},
    {"gas", kQuantity},
    {"gasPrice", kQuantity},
    {"nonce", kQuantity},
    {"data", kHex},
    {"v", kQuantity},
    {"r", kQuantity},
    {"s", kQuantity},
    {"blockHash", kHash},
    {"transactionIndex", kQuantity, false, &EpochTransaction::index},
    {"contractCreated", kAddress, false, &EpochTransaction::contract_created},
    {"timestamp", kDropped},
    {"_id", kDropped},
    {"epoch", kDropped},
    {"firstBlockHash", kDropped},
    {"receipt", kDropped},
    {"score", kDropped},
};

constexpr KnownField<EpochReceipt> kReceiptFields[] = {
    {"_id", kDropped},
    {"blockHash", kHash},
    {"contractCreated", kAddress, false, &EpochReceipt::contract_created},
    {"epoch", kDropped},
    {"epochNumber", kQuantity},
    {"firstBlockHash", kDropped},
    {"from", kAddress},
    {"gasUsed", kQuantity},
    {"hash", kDropped},
    {"score", kDropped},
    {"to", kAddress},
    {"transactionHash", kHash},
    {"transactionIndex", kQuantity},
};

constexpr KnownField<Epoch> kEpochFields[] = {
    {"epochNumber", kQuantity, true},
    {"pivotHash", kHash, true, &Epoch::pivot_hash},
    {"blocks", kDropped},
    {"receipts", kDropped},
};

// The hashes of a list, to find duplicates. The texts must outlive it.
class OnceOnly {
 public:
  explicit OnceOnly(size_t count) { seen_.reserve(count); }
  Status Note(const EpochPath& path, std::string_view hash) {
    return seen_.insert(hash).second ? Status() : BadField(path, StrCat(hash, " is there twice"));
  }

 private:
  std::unordered_set<std::string_view> seen_;
};

// The array `path.name` of an object; none if it is missing or null.
Result<std::optional<json::array>> ArrayOf(json::element object, const EpochPath& path) {
  json::element element;
  if (object[path.name].get(element) != simdjson::SUCCESS || element.is_null()) return std::optional<json::array>();
  json::array array;
  if (element.get_array().get(array) != simdjson::SUCCESS) return BadField(path, "is not an array");
  return std::optional<json::array>(array);
}

Status ReadTransactions(json::element block_value, const EpochPath& block_path, EpochBlock& block) {
  const EpochPath path{&block_path, "transactions"};
  BRAID_TRY(const std::optional<json::array> array, ArrayOf(block_value, path));
  if (!array) return {};
  block.transactions.resize(array->size());
  OnceOnly hashes(array->size());
  size_t index = 0;
  for (const json::element element : *array) {
    const EpochPath here{&path, {}, index};
    EpochTransaction& transaction = block.transactions[index];
    transaction.fields.reset(bson_sized_new(1024));
    BRAID_CHECK_OK(ReadFields(element, here, kTransactionFields, transaction, transaction.fields.get()));
    BRAID_CHECK_OK(hashes.Note(EpochPath{&here, "hash"}, transaction.hash));
    if (transaction.index.empty()) transaction.index = fmt::format("{:#x}", index);
    ++index;
  }
  return {};
}

// A number that a block may give and that must be the epoch's.
Status CheckNumber(const EpochBlock& block, const EpochPath& block_path, const char* name, int64_t number) {
  const std::string_view given = client::TextOf(block.fields.get(), name);
  if (given.empty()) return {};
  const EpochPath path{&block_path, name};
  BRAID_TRY(const int64_t value, NumberOf(path, given));
  return value == number ? Status() : BadField(path, StrCat(value, " is not the number of the epoch, ", number));
}

Status ReadBlocks(json::element line, const EpochPath& root, Epoch& epoch) {
  const EpochPath path{&root, "blocks"};
  BRAID_TRY(const std::optional<json::array> array, ArrayOf(line, path));
  if (!array || array->size() == 0) return BadField(path, "is missing or empty; an epoch has at least its pivot");
  epoch.blocks.resize(array->size());
  OnceOnly hashes(array->size());
  size_t index = 0;
  for (const json::element element : *array) {
    const EpochPath here{&path, {}, index};
    const bool pivot = index + 1 == epoch.blocks.size();
    EpochBlock& block = epoch.blocks[index];
    block.fields.reset(bson_sized_new(2048));
    BRAID_CHECK_OK(ReadFields(element, here, kBlockFields, block, block.fields.get()));
    BRAID_CHECK_OK(hashes.Note(EpochPath{&here, "hash"}, block.hash));
    BRAID_CHECK_OK(NumberOf(EpochPath{&here, "timestamp"}, block.timestamp));
    BRAID_CHECK_OK(CheckNumber(block, here, "epochNumber", epoch.number));
    if (pivot) {
      BRAID_CHECK_OK(CheckNumber(block, here, "height", epoch.number));
      if (block.parent_hash.empty()) return BadField(EpochPath{&here, "parentHash"}, "is missing");
    }
    BRAID_CHECK_OK(ReadTransactions(element, here, block));
    ++index;
  }
  const EpochBlock& pivot = epoch.blocks.back();
  if (pivot.hash != epoch.pivot_hash) {
    return BadField(EpochPath{&root, "pivotHash"},
                    StrCat(epoch.pivot_hash, " is not the last block, which is ", pivot.hash));
  }
  epoch.parent_hash = pivot.parent_hash;
  return {};
}

Status ReadReceipts(json::element line, const EpochPath& root, Epoch& epoch) {
  const EpochPath path{&root, "receipts"};
  json::element element;
  if (line[path.name].get(element) != simdjson::SUCCESS || element.is_null()) return {};
  json::object object;
  if (element.get_object().get(object) != simdjson::SUCCESS) return BadField(path, "is not an object");
  std::unordered_set<std::string> seen;
  for (const auto& [name, value] : object) {
    const EpochPath here{&path, name};
    EpochReceipt receipt{.fields = client::BsonPtr(bson_sized_new(512))};
    BRAID_CHECK_OK(ReadHash(name, path, receipt.transaction));
    if (!seen.insert(receipt.transaction).second) return BadField(here, "is there twice");
    if (value.is_null()) continue;  // not executed yet
    BRAID_CHECK_OK(ReadFields(value, here, kReceiptFields, receipt, receipt.fields.get()));
    const std::string_view given = client::TextOf(receipt.fields.get(), "transactionHash");
    if (!given.empty() && given != receipt.transaction) {
      return BadField(EpochPath{&here, "transactionHash"}, StrCat(given, " is another transaction"));
    }
    epoch.receipts.push_back(std::move(receipt));
  }
  return {};
}

// The number is read first: the path of everything else begins with it.
Status ReadNumber(json::element line, Epoch& epoch) {
  const EpochPath root{nullptr, "the epoch"};
  const EpochPath path{&root, "epochNumber"};
  json::element element;
  if (!line.is_object()) return BadField(root, "is not an object");
  if (line[path.name].get(element) != simdjson::SUCCESS || element.is_null()) return BadField(path, "is missing");
  std::string text;
  BRAID_CHECK_OK(ReadKnown(element, kQuantity, path, text));
  BRAID_TRY(epoch.number, NumberOf(path, text));
  return {};
}

Status ReadEpoch(json::parser& parser, std::string_view line, Epoch& epoch) {
  json::element value;
  if (const auto error = parser.parse(line.data(), line.size()).get(value); error != simdjson::SUCCESS) {
    return Status(Code::kBadValue, StrCat("the epoch: is not valid JSON: ", simdjson::error_message(error)));
  }
  BRAID_CHECK_OK(ReadNumber(value, epoch));
  const std::string name = StrCat("epoch ", epoch.number);
  const EpochPath root{nullptr, name};
  client::Bson others;  // other fields of a line are ignored
  BRAID_CHECK_OK(ReadFields(value, root, kEpochFields, epoch, others.get()));
  BRAID_CHECK_OK(ReadBlocks(value, root, epoch));
  return ReadReceipts(value, root, epoch);
}

}  // namespace

Result<Epoch> ParseEpoch(std::string_view line) {
  if (line.size() > kEpochBytesMax) {
    return Status(Code::kBadValue, StrCat("the epoch: has ", line.size(), " bytes; it may have ", kEpochBytesMax));
  }
  Epoch epoch;
  epoch.bytes = line.size();
  if (line.size() > kKeptBytesMax) {
    json::parser parser;
    BRAID_CHECK_OK(ReadEpoch(parser, line, epoch));
  } else {
    thread_local json::parser parser;
    BRAID_CHECK_OK(ReadEpoch(parser, line, epoch));
  }
  return epoch;
}

size_t Epoch::transaction_count() const {
  size_t count = 0;
  for (const EpochBlock& block : blocks) count += block.transactions.size();
  return count;
}

}  // namespace braid::explorer
