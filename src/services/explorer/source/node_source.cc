#include "services/explorer/source/node_source.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

#include "base/mutex.h"
#include "base/strings.h"
#include "services/explorer/source/made_chain.h"
#include "services/explorer/source/range.h"

namespace braid::explorer::source {
namespace {

using NodeJson = simdjson::dom::element;

// Epochs whose transactions are remembered beyond those that wait for their receipts.
constexpr int64_t kRememberedEpochs = 200;

Status Inconsistent(std::string_view what) {
  return Status(Code::kProtocolError, StrCat("the node contradicts itself: ", what));
}

std::string NumberParams(int64_t number) { return StrCat("[\"", ToHex(static_cast<uint64_t>(number)), "\"]"); }

Result<int64_t> NumberOf(std::string_view json) {
  int64_t number = -1;
  if (json.size() > 4 && json.starts_with("\"0x") && json.ends_with('"')) {
    const char* const end = json.data() + json.size() - 1;
    if (std::from_chars(json.data() + 3, end, number, 16).ptr != end) number = -1;
  }
  if (number < 0) return Status(Code::kProtocolError, StrCat("the node's number of an epoch is ", json.substr(0, 80)));
  return number;
}

std::string_view NodeText(const NodeJson& object, const char* name) {
  std::string_view text;
  return object[name].get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

// Only what can stand in the parameters of a call as it is.
bool IsHash(std::string_view text) {
  return text.size() == 66 && text.starts_with("0x") &&
         text.find_first_not_of("0123456789abcdefABCDEF", 2) == std::string_view::npos;
}

Result<std::vector<std::string>> HashList(const std::string& json, int64_t number) {
  simdjson::dom::parser parser;
  simdjson::dom::array list;
  std::vector<std::string> hashes;
  if (parser.parse(json).get_array().get(list) != simdjson::SUCCESS) {
    return Inconsistent(StrCat("the blocks of epoch ", number, " are not a list"));
  }
  for (const NodeJson element : list) {
    std::string_view hash;
    if (element.get_string().get(hash) != simdjson::SUCCESS || !IsHash(hash)) {
      return Inconsistent(StrCat("a block of epoch ", number, " is not a hash"));
    }
    hashes.emplace_back(hash);
  }
  if (hashes.empty()) return Inconsistent(StrCat("epoch ", number, " has no blocks"));
  return hashes;
}

bool IsAddressField(std::string_view name) {
  return name == "miner" || name == "from" || name == "to" || name == "contractCreated";
}

// The fields of an object without its closing brace, addresses in hexadecimal; `transactions` is left out.
Status AppendFields(const NodeJson& value, std::string& out) {
  simdjson::dom::object object;
  if (value.get_object().get(object) != simdjson::SUCCESS) return Inconsistent("an object is something else");
  out += '{';
  for (const auto& [name, field] : object) {
    if (name == "transactions") continue;
    if (out.back() != '{') out += ',';
    std::string_view text;
    out.append("\"").append(name).append("\":");
    if (IsAddressField(name) && field.get_string().get(text) == simdjson::SUCCESS) {
      BRAID_TRY(const std::string address, AddressInHex(text));
      out.append("\"").append(address).append("\"");
    } else {
      out += simdjson::minify(field);
    }
  }
  return {};
}

// A block as the interchange format has it; the hashes of its transactions are added to `transactions`.
Status AppendNodeBlock(const NodeJson& block, std::string& out, std::unordered_set<std::string>& transactions) {
  simdjson::dom::array list;
  if (block["transactions"].get_array().get(list) != simdjson::SUCCESS)
    return Inconsistent("a block has no transactions");
  BRAID_CHECK_OK(AppendFields(block, out));
  out += ",\"transactions\":[";
  for (const NodeJson transaction : list) {
    const std::string_view hash = NodeText(transaction, "hash");
    if (!IsHash(hash)) return Inconsistent("a block has something else than whole transactions");
    transactions.emplace(hash);
    if (out.back() != '[') out += ',';
    BRAID_CHECK_OK(AppendFields(transaction, out));
    out += '}';
  }
  out += "]}";
  return {};
}

}  // namespace

Status NodeSourceOptions::Validate() const { return CheckRange("receipts_after", receipts_after, -1, 1000); }

bool IsInconsistent(const Status& status) { return status.code() == Code::kProtocolError; }

Result<int64_t> NodeSource::Newest() {
  const RpcCall calls[] = {{"cfx_epochNumber", "[\"latest_mined\"]"}, {"cfx_epochNumber", "[\"latest_state\"]"}};
  BRAID_TRY(const std::vector<std::string> results, rpc_.Call(calls));
  BRAID_TRY(const int64_t mined, NumberOf(results[0]));
  BRAID_TRY(const int64_t executed, NumberOf(results[1]));
  return options_.receipts_after < 0 ? mined : std::min(mined, executed + options_.receipts_after);
}

Result<std::vector<std::string>> NodeSource::Pivots(int64_t first, int64_t count) {
  std::vector<RpcCall> calls;
  for (int64_t i = 0; i < count; ++i) calls.push_back({"cfx_getBlocksByEpoch", NumberParams(first + i)});
  BRAID_TRY(const std::vector<std::string> results, rpc_.Call(calls));
  std::vector<std::string> pivots;
  for (int64_t i = 0; i < count; ++i) {
    BRAID_TRY(std::vector<std::string> hashes, HashList(results[static_cast<size_t>(i)], first + i));
    pivots.push_back(std::move(hashes.back()));
  }
  return pivots;
}

Result<std::vector<std::string>> NodeSource::HashesOf(int64_t number) {
  const RpcCall call{"cfx_getBlocksByEpoch", NumberParams(number)};
  BRAID_TRY(const std::vector<std::string> results, rpc_.Call(std::span(&call, 1)));
  return HashList(results[0], number);
}

Result<NodeSource::Blocks> NodeSource::FetchBlocks(int64_t number) {
  Blocks blocks;
  BRAID_TRY(blocks.carried.blocks, HashesOf(number));
  std::vector<RpcCall> calls;
  for (const std::string& hash : blocks.carried.blocks)
    calls.push_back({"cfx_getBlockByHash", StrCat("[\"", hash, "\",true]")});
  // Asked for again in the end: in between the node may have switched its pivot.
  calls.push_back({"cfx_getBlocksByEpoch", NumberParams(number)});
  BRAID_TRY(const std::vector<std::string> results, rpc_.Call(calls));
  std::unordered_set<std::string> transactions;
  simdjson::dom::parser parser;
  blocks.json = "[";
  for (size_t i = 0; i < blocks.carried.blocks.size(); ++i) {
    NodeJson block;
    if (parser.parse(results[i]).get(block) != simdjson::SUCCESS ||
        NodeText(block, "hash") != blocks.carried.blocks[i]) {
      return Inconsistent(StrCat("block ", blocks.carried.blocks[i], " of epoch ", number, " is not there"));
    }
    if (i > 0) blocks.json += ',';
    BRAID_CHECK_OK(AppendNodeBlock(block, blocks.json, transactions));
  }
  blocks.json += ']';
  BRAID_TRY(const std::vector<std::string> again, HashList(results.back(), number));
  if (again != blocks.carried.blocks) return Inconsistent(StrCat("the blocks of epoch ", number, " have changed"));
  blocks.carried.transactions.assign(transactions.begin(), transactions.end());
  std::sort(blocks.carried.transactions.begin(), blocks.carried.transactions.end());
  return blocks;
}

void NodeSource::Remember(int64_t number, std::shared_ptr<const Carried> carried) {
  const MutexLock lock(mu_);
  carried_[number] = std::move(carried);
  const int64_t oldest = carried_.rbegin()->first - options_.receipts_after - kRememberedEpochs;
  carried_.erase(carried_.begin(), carried_.lower_bound(oldest));
}

void NodeSource::Forget(int64_t number) {
  const MutexLock lock(mu_);
  carried_.erase(number);
}

void NodeSource::ForgetFrom(int64_t number) {
  const MutexLock lock(mu_);
  carried_.erase(carried_.lower_bound(number), carried_.end());
}

Result<std::shared_ptr<const NodeSource::Carried>> NodeSource::CarriedBy(int64_t number) {
  {
    const MutexLock lock(mu_);
    const auto found = carried_.find(number);
    if (found != carried_.end()) return found->second;
  }
  BRAID_TRY(Blocks blocks, FetchBlocks(number));
  auto carried = std::make_shared<const Carried>(std::move(blocks.carried));
  Remember(number, carried);
  return carried;
}

// The receipts of the transactions that this epoch was the first to carry, as a JSON object. Transactions that were not
// executed, because an earlier block carries them or because they could not be, have none in this epoch.
Result<std::string> NodeSource::FetchReceipts(int64_t number, const Carried& carried) {
  std::vector<RpcCall> calls;
  for (const std::string& hash : carried.transactions)
    calls.push_back({"cfx_getTransactionReceipt", StrCat("[\"", hash, "\"]")});
  BRAID_TRY(const std::vector<std::string> results, rpc_.Call(calls));
  simdjson::dom::parser parser;
  std::string json = "{";
  for (size_t i = 0; i < results.size(); ++i) {
    NodeJson receipt;
    if (parser.parse(results[i]).get(receipt) != simdjson::SUCCESS) return Inconsistent("a receipt is not JSON");
    if (receipt.is_null()) continue;
    const std::string& hash = carried.transactions[i];
    const std::string_view block = NodeText(receipt, "blockHash");
    BRAID_TRY(const int64_t epoch, NumberOf(StrCat("\"", NodeText(receipt, "epochNumber"), "\"")));
    if (NodeText(receipt, "transactionHash") != hash || epoch > number) {
      return Inconsistent(StrCat("the receipt of transaction ", hash, " is of another one"));
    }
    if (epoch < number) continue;
    if (std::find(carried.blocks.begin(), carried.blocks.end(), block) == carried.blocks.end()) {
      return Inconsistent(StrCat("the receipt of transaction ", hash, " is of another branch"));
    }
    json += StrCat(json.size() > 1 ? ",\"" : "\"", hash, "\":");
    BRAID_CHECK_OK(AppendFields(receipt, json));
    json += '}';
  }
  return json + "}";
}

Result<FetchedEpoch> NodeSource::Fetch(int64_t number, int64_t oldest) {
  FetchedEpoch fetched;
  BRAID_TRY(Blocks blocks, FetchBlocks(number));
  const std::string pivot = blocks.carried.blocks.back();
  std::string line = StrCat(R"({"epochNumber":")", ToHex(static_cast<uint64_t>(number)), R"(","pivotHash":")", pivot,
                            R"(","blocks":)", blocks.json);
  Remember(number, std::make_shared<const Carried>(std::move(blocks.carried)));
  const int64_t executed = number - options_.receipts_after;
  if (options_.receipts_after >= 0 && executed >= oldest) {
    BRAID_TRY(const std::shared_ptr<const Carried> carried, CarriedBy(executed));
    Result<std::string> receipts = FetchReceipts(executed, *carried);
    if (!receipts.ok()) {
      Forget(executed);
      return receipts.error();
    }
    fetched.executed = executed;
    fetched.executed_pivot = carried->blocks.back();
    if (receipts->size() > 2) line += StrCat(",\"receipts\":", *receipts);
  }
  line += '}';
  BRAID_TRY(fetched.epoch, ParseEpoch(line));
  return fetched;
}

}  // namespace braid::explorer::source
