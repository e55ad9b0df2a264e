#include "services/explorer/source/made_chain.h"

#include "base/assert.h"
#include "base/strings.h"

namespace braid::explorer::source {
namespace {

// Appends "name":"value", with a comma before it unless it is the first; an empty value is null.
void AppendField(std::string& out, const char* name, std::string_view value) {
  if (!out.ends_with('{')) out += ',';
  out.append("\"").append(name).append("\":");
  if (value.empty()) {
    out.append("null");
  } else {
    out.append("\"").append(value).append("\"");
  }
}

void AppendTransaction(std::string& out, const MadeTransaction& transaction, const MadeBlock& block, size_t index) {
  out += '{';
  AppendField(out, "hash", transaction.hash);
  AppendField(out, "blockHash", block.hash);
  AppendField(out, "transactionIndex", ToHex(index));
  AppendField(out, "from", transaction.from);
  AppendField(out, "to", transaction.to);
  AppendField(out, "contractCreated", "");
  AppendField(out, "nonce", transaction.nonce);
  AppendField(out, "value", transaction.value);
  AppendField(out, "gas", transaction.gas);
  AppendField(out, "gasPrice", transaction.gas_price);
  AppendField(out, "data", transaction.data);
  AppendField(out, "r", transaction.r);
  AppendField(out, "s", transaction.s);
  AppendField(out, "v", transaction.v);
  out += '}';
}

void AppendBlock(std::string& out, const MadeEpoch& epoch, const MadeBlock& block) {
  out += '{';
  AppendField(out, "hash", block.hash);
  AppendField(out, "parentHash", block.parent);
  AppendField(out, "epochNumber", ToHex(static_cast<uint64_t>(epoch.number)));
  AppendField(out, "height", ToHex(static_cast<uint64_t>(block.height)));
  AppendField(out, "miner", block.miner);
  AppendField(out, "difficulty", block.difficulty);
  AppendField(out, "timestamp", ToHex(static_cast<uint64_t>(block.timestamp)));
  AppendField(out, "nonce", block.nonce);
  AppendField(out, "gasLimit", "0xb2d05e00");
  AppendField(out, "size", ToHex(block.transactions.size() * 110));
  AppendField(out, "deferredStateRoot", block.state_root);
  AppendField(out, "deferredReceiptsRoot", block.receipts_root);
  AppendField(out, "transactionsRoot", block.transactions_root);
  out += ",\"refereeHashes\":[";
  for (const std::string& referee : block.referees) {
    out.append(out.ends_with('[') ? "\"" : ",\"").append(referee).append("\"");
  }
  out += "],\"transactions\":[";
  for (size_t i = 0; i < block.transactions.size(); ++i) {
    if (i > 0) out += ',';
    AppendTransaction(out, *block.transactions[i], block, i);
  }
  out += "]}";
}

void AppendReceipt(std::string& out, const MadeEpoch& epoch, const MadeReceipt& receipt) {
  BRAID_ASSERT(receipt.block < epoch.blocks.size());
  const MadeBlock& block = epoch.blocks[receipt.block];
  out += '{';
  AppendField(out, "transactionHash", receipt.transaction->hash);
  AppendField(out, "index", ToHex(receipt.index));
  AppendField(out, "blockHash", block.hash);
  AppendField(out, "epochNumber", ToHex(static_cast<uint64_t>(epoch.number)));
  AppendField(out, "from", receipt.transaction->from);
  AppendField(out, "to", receipt.transaction->to);
  AppendField(out, "gasUsed", ToHex(static_cast<uint64_t>(receipt.gas_used)));
  AppendField(out, "outcomeStatus", receipt.failed ? "0x1" : "0x0");
  AppendField(out, "contractCreated", receipt.contract);
  AppendField(out, "stateRoot", block.state_root);
  out += '}';
}

}  // namespace

size_t MadeEpoch::transaction_count() const {
  size_t count = 0;
  for (const MadeBlock& block : blocks) count += block.transactions.size();
  return count;
}

std::string ToHex(uint64_t value) {
  char digits[16];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value, 16).ptr;
  return StrCat("0x", std::string_view(digits, static_cast<size_t>(end - digits)));
}

std::string BlockJson(const MadeEpoch& epoch, size_t block) {
  BRAID_ASSERT(block < epoch.blocks.size());
  std::string json;
  AppendBlock(json, epoch, epoch.blocks[block]);
  return json;
}

std::string ReceiptJson(const MadeEpoch& epoch, size_t receipt) {
  BRAID_ASSERT(receipt < epoch.receipts.size());
  std::string json;
  AppendReceipt(json, epoch, epoch.receipts[receipt]);
  return json;
}

std::string EpochLine(const MadeLink& link) {
  const MadeEpoch& epoch = *link.epoch;
  std::string line = StrCat(R"({"epochNumber":")", ToHex(static_cast<uint64_t>(epoch.number)), R"(","pivotHash":")",
                            epoch.pivot().hash, R"(","blocks":[)");
  for (const MadeBlock& block : epoch.blocks) {
    if (line.back() != '[') line += ',';
    AppendBlock(line, epoch, block);
  }
  line += ']';
  if (link.executed != nullptr && !link.executed->receipts.empty()) {
    line += ",\"receipts\":{";
    for (const MadeReceipt& receipt : link.executed->receipts) {
      if (line.back() != '{') line += ',';
      line.append("\"").append(receipt.transaction->hash).append("\":");
      AppendReceipt(line, *link.executed, receipt);
    }
    line += '}';
  }
  return line + "}";
}

}  // namespace braid::explorer::source
