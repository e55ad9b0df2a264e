// The calls that ChainNode answers.
#include <simdjson.h>

#include <algorithm>
#include <charconv>

#include "base/mutex.h"
#include "base/strings.h"
#include "services/explorer/source/chain_node.h"

namespace braid::explorer::source {
namespace {

using JsonElement = simdjson::dom::element;

constexpr int kParseError = -32700;
constexpr int kInvalidRequest = -32600;
constexpr int kNoSuchMethod = -32601;
constexpr int kInvalidParams = -32602;
constexpr int kServerError = -32000;

std::string RpcErrorJson(std::string_view id, int code, std::string_view message) {
  return StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"error":{"code":)", code, R"(,"message":")", message, "\"}}");
}

// JSON-RPC's codes are negative, those of a Status are not. The message goes into JSON as it is: texts of clients are
// never part of it.
Status InvalidParams(std::string_view what) {
  return Status(Location(-kInvalidParams), StrCat("Invalid params: ", what));
}

std::string_view TextAt(const JsonElement& params, size_t at) {
  std::string_view text;
  return params.at(at).get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

uint64_t NumberOr(const simdjson::simdjson_result<JsonElement>& value, uint64_t otherwise) {
  uint64_t number = 0;
  return value.get_uint64().get(number) == simdjson::SUCCESS ? number : otherwise;
}

std::string HashListJson(const MadeEpoch& epoch) {
  std::string json = "[";
  for (const MadeBlock& block : epoch.blocks) json += StrCat(json.size() > 1 ? ",\"" : "\"", block.hash, "\"");
  return json + "]";
}

}  // namespace

Result<std::string> ChainNode::EpochNumber(const JsonElement& params) {
  const std::string_view which = TextAt(params, 0);
  if (!which.empty() && which != "latest_mined" && which != "latest_state") {
    return InvalidParams("expected latest_mined or latest_state");
  }
  int64_t number = newest();
  if (which == "latest_state") number = executed();
  if (Lies()) {
    number += static_cast<int64_t>(random_.Below(7)) - 3;
    number = std::max<int64_t>(0, number);
  }
  return StrCat("\"", ToHex(static_cast<uint64_t>(number)), "\"");
}

Result<std::string> ChainNode::BlocksByEpoch(const JsonElement& params) {
  const std::string_view text = TextAt(params, 0);
  int64_t number = 0;
  const char* const end = text.data() + text.size();
  if (!text.starts_with("0x") || std::from_chars(text.data() + 2, end, number, 16).ptr != end) {
    return InvalidParams("expected the number of an epoch in hexadecimal");
  }
  const int64_t first = chain_.front().epoch->number;
  if (number < first || number > newest()) return InvalidParams("there is no such epoch");
  if (Lies()) {
    const auto left = left_.find(number);
    return left == left_.end() ? "[]" : HashListJson(*left->second);
  }
  return HashListJson(*chain_[static_cast<size_t>(number - first)].epoch);
}

Result<std::string> ChainNode::BlockByHash(const JsonElement& params) {
  const auto found = blocks_.find(std::string(TextAt(params, 0)));
  if (found == blocks_.end()) return "null";
  const Place asked = found->second;
  Place shown = asked;
  if (Lies()) {
    if (random_.Chance(1, 2)) return "null";
    // Any block, and so now and then the right one.
    shown.epoch = chain_[random_.Below(chain_.size())].epoch;
    shown.at = random_.Below(shown.epoch->blocks.size());
  }
  const bool is_newest = asked.epoch == chain_.back().epoch && asked.at + 1 == asked.epoch->blocks.size();
  if (is_newest && shown.epoch == asked.epoch && shown.at == asked.at) newest_read_ = true;
  return BlockJson(*shown.epoch, shown.at);
}

Result<std::string> ChainNode::Receipt(const JsonElement& params) {
  const auto found = receipts_.find(std::string(TextAt(params, 0)));
  if (found == receipts_.end()) return "null";
  const auto& [epoch, at] = found->second;
  if (epoch->number > executed()) return "null";
  const size_t shown = Lies() ? random_.Below(epoch->receipts.size()) : at;
  return ReceiptJson(*epoch, shown);
}

Result<std::string> ChainNode::Control(std::string_view method, const JsonElement& params) {
  if (method == "braid_advance") {
    const uint64_t steps = NumberOr(params.at(0), 1);
    for (uint64_t i = 0; i < steps; ++i) TakeStep();
  } else if (method == "braid_faults") {
    const auto given = params.at(0);
    const uint64_t slow = NumberOr(given["slow"], 0);
    const uint64_t errors = NumberOr(given["errors"], 0);
    const uint64_t inconsistent = NumberOr(given["inconsistent"], 0);
    if (slow > 100 || errors > 100 || inconsistent > 100) return InvalidParams("percentages go up to 100");
    faults_ = {.slow_percent = static_cast<uint32_t>(slow),
               .slow_ms = static_cast<int64_t>(std::min<uint64_t>(NumberOr(given["slowMs"], 100), 600'000)),
               .error_percent = static_cast<uint32_t>(errors),
               .inconsistent_percent = static_cast<uint32_t>(inconsistent)};
  }
  const State state = CurrentState();
  return StrCat(R"({"epoch":)", state.epoch, R"(,"pivot":")", chain_.back().epoch->pivot().hash, R"(","steps":)",
                state.steps, R"(,"switches":)", state.switches, R"(,"popped":)", state.popped, R"(,"ended":)",
                state.ended, R"(,"requests":)", state.requests, R"(,"faults":)", state.faults, "}");
}

Result<std::string> ChainNode::Run(std::string_view method, const JsonElement& params) {
  if (method == "cfx_epochNumber") return EpochNumber(params);
  if (method == "cfx_getBlocksByEpoch") return BlocksByEpoch(params);
  if (method == "cfx_getBlockByHash") return BlockByHash(params);
  if (method == "cfx_getTransactionReceipt") return Receipt(params);
  if (method == "braid_advance" || method == "braid_faults" || method == "braid_state") return Control(method, params);
  return Status(Location(-kNoSuchMethod), "the method does not exist");
}

// Empty: the answer is left out.
std::string ChainNode::AnswerCall(const JsonElement& call) {
  static const simdjson::padded_string kNothing("[]", 2);
  std::string id = "null";
  JsonElement value;
  if (call["id"].get(value) == simdjson::SUCCESS) id = simdjson::minify(value);
  std::string_view method;
  if (call["method"].get_string().get(method) != simdjson::SUCCESS) {
    return RpcErrorJson(id, kInvalidRequest, "Invalid request");
  }
  const bool is_control = method.starts_with("braid_");
  // A fifth of the errors are of single calls.
  if (!is_control && random_.Chance(faults_.error_percent, 500)) {
    ++state_.faults;
    return random_.Chance(1, 2) ? std::string() : RpcErrorJson(id, kServerError, "the node is busy");
  }
  simdjson::dom::parser parser;
  JsonElement params;
  if (call["params"].get(params) != simdjson::SUCCESS) params = parser.parse(kNothing).value_unsafe();
  if (!params.is_array()) return RpcErrorJson(id, kInvalidParams, "Invalid params: expected a list");
  const Result<std::string> result = Run(method, params);
  if (!result.ok()) return RpcErrorJson(id, -static_cast<int>(result.error().code()), result.error().message());
  return StrCat(R"({"jsonrpc":"2.0","id":)", id, R"(,"result":)", *result, "}");
}

ChainNode::Answer ChainNode::Handle(std::string_view request) {
  const MutexLock lock(mu_);
  simdjson::dom::parser parser;
  JsonElement document;
  Answer answer;
  ++state_.requests;
  const simdjson::padded_string text(request);
  if (parser.parse(text).get(document) != simdjson::SUCCESS) {
    answer.body = RpcErrorJson("null", kParseError, "Parse error");
    return answer;
  }
  bool is_control = false;
  bool asks_newest = false;
  const auto look = [&](const JsonElement& call) {
    std::string_view method;
    if (call["method"].get_string().get(method) != simdjson::SUCCESS) return;
    is_control |= method.starts_with("braid_");
    asks_newest |= method == "cfx_epochNumber";
  };
  simdjson::dom::array calls;
  const bool is_batch = document.get_array().get(calls) == simdjson::SUCCESS;
  if (is_batch) {
    for (const JsonElement call : calls) look(call);
  } else {
    look(document);
  }
  if (options_.paced && asks_newest && newest_read_) TakeStep();
  if (!is_batch) {
    answer.body = AnswerCall(document);
  } else {
    answer.body = "[";
    for (const JsonElement call : calls) {
      const std::string one = AnswerCall(call);
      if (!one.empty()) answer.body += StrCat(answer.body.size() > 1 ? "," : "", one);
    }
    answer.body += ']';
  }
  if (!is_control) Spoil(answer);
  return answer;
}

}  // namespace braid::explorer::source
