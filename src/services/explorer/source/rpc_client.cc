#include "services/explorer/source/rpc_client.h"

#include <simdjson.h>

#include <algorithm>
#include <thread>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::explorer::source {
namespace {

using Milliseconds = std::chrono::milliseconds;

// Idle connections that are kept; more are closed.
constexpr size_t kIdleMax = 64;

std::string RequestBody(std::span<const RpcCall> calls, std::span<const size_t> wanted) {
  std::string body = "[";
  for (const size_t i : wanted) {
    if (body.size() > 1) body += ',';
    body += StrCat(R"({"jsonrpc":"2.0","id":)", i, R"(,"method":")", calls[i].method, R"(","params":)", calls[i].params,
                   "}");
  }
  return body + "]";
}

// An error object of the server: OK if the call may be tried again, with what was said in `said`.
Status JudgeRpcError(simdjson::dom::element error, const char* method, Status& said) {
  int64_t code = 0;
  std::string_view message;
  if (error["code"].get_int64().get(code) != simdjson::SUCCESS) code = 0;
  if (error["message"].get_string().get(message) != simdjson::SUCCESS) message = "no message";
  const std::string text = StrCat(method, ": the node answers with error ", code, ": ", message);
  // The reserved codes of a faulty call; every other code is a problem of the server.
  const bool is_final = code == -32600 || code == -32601 || code == -32602;
  if (is_final) return Status(Code::kOperationFailed, text);
  said = Status(Code::kHostUnreachable, text);
  return {};
}

}  // namespace

RpcClient::~RpcClient() = default;

Result<std::string> RpcClient::Post(const std::string& body) {
  const Patience patience{.deadline = std::chrono::steady_clock::now() + options_.timeout, .stop = options_.stop};
  std::unique_ptr<Stream> stream;
  {
    const MutexLock lock(mu_);
    if (!idle_.empty()) {
      stream = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (stream == nullptr) {
    BRAID_TRY(stream, Stream::Connect(options_.address, patience));
  }
  stream->SetPatience(patience);
  ++figures_.requests;
  Result<HttpReply> answer = PostHttp(*stream, options_.address, body);
  if (!answer.ok()) {
    // If the server went away, the other connections are lost, too.
    const MutexLock lock(mu_);
    idle_.clear();
    return answer.error();
  }
  HttpReply& reply = *answer;
  figures_.bytes += reply.body.size();
  if (reply.keep_alive) {
    const MutexLock lock(mu_);
    if (idle_.size() < kIdleMax) idle_.push_back(std::move(stream));
  }
  if (reply.status == 200) return std::move(reply.body);
  const bool may_recover = reply.status == 408 || reply.status == 429 || reply.status >= 500;
  return Status(may_recover ? Code::kHostUnreachable : Code::kOperationFailed,
                StrCat("the node answers with HTTP status ", reply.status, ": ", reply.body.substr(0, 200)));
}

// One request for the calls that are missing. OK if it was answered, even if some calls still are missing; `refusal` is
// set to why the first of them is.
Status RpcClient::Exchange(std::span<const RpcCall> calls, std::vector<size_t>& missing, std::span<std::string> results,
                           Status& refusal) {
  BRAID_ASSERT(!missing.empty() && missing.size() <= calls.size());
  BRAID_TRY(std::string body, Post(RequestBody(calls, missing)));
  simdjson::dom::parser parser;
  simdjson::dom::element document;
  const Status unreadable(Code::kProtocolError, "the node's answer is not a JSON-RPC batch");
  if (parser.parse(body).get(document) != simdjson::SUCCESS) return unreadable;
  simdjson::dom::array answers;
  if (document.get_array().get(answers) != simdjson::SUCCESS) {
    simdjson::dom::element error;
    if (document["error"].get(error) != simdjson::SUCCESS) return unreadable;
    Status said;
    BRAID_CHECK_OK(JudgeRpcError(error, "a batch of calls", said));
    return said;
  }
  std::vector<bool> answered(calls.size());
  for (const simdjson::dom::element answer : answers) {
    uint64_t id = 0;
    if (answer["id"].get_uint64().get(id) != simdjson::SUCCESS || id >= calls.size() || answered[id]) continue;
    simdjson::dom::element result;
    if (answer["error"].get(result) == simdjson::SUCCESS && !result.is_null()) {
      BRAID_CHECK_OK(JudgeRpcError(result, calls[id].method, refusal));
      continue;
    }
    if (answer["result"].get(result) != simdjson::SUCCESS) continue;
    results[id] = simdjson::minify(result);
    answered[id] = true;
  }
  std::erase_if(missing, [&](size_t id) { return answered[id]; });
  if (!missing.empty() && refusal.ok()) {
    refusal = Status(Code::kProtocolError, StrCat(calls[missing[0]].method, ": the node left it without an answer"));
  }
  return {};
}

Status RpcClient::Pause(Milliseconds longest) {
  Milliseconds left;
  {
    const MutexLock lock(mu_);
    left = longest / 2 + Milliseconds(random_.Below(static_cast<uint64_t>(longest.count() / 2 + 1)));
  }
  for (; left.count() > 0; left -= Milliseconds(20)) {
    if (options_.stop != nullptr && options_.stop->load()) return Status(Code::kInterrupted, "interrupted");
    std::this_thread::sleep_for(std::min(left, Milliseconds(20)));
  }
  return {};
}

Status RpcClient::CallBatch(std::span<const RpcCall> calls, std::span<std::string> results) {
  BRAID_ASSERT(!calls.empty() && results.size() == calls.size());
  std::vector<size_t> missing(calls.size());
  for (size_t i = 0; i < missing.size(); ++i) missing[i] = i;
  const auto end = std::chrono::steady_clock::now() + options_.patience;
  Backoff backoff(options_.pause, options_.pause_max);
  for (;;) {
    Status refusal;
    const size_t before = missing.size();
    const Status status = Exchange(calls, missing, results, refusal);
    if (missing.empty()) return {};
    const Status& failure = status.ok() ? refusal : status;
    const bool is_final = failure.code() == Code::kOperationFailed || failure.code() == Code::kInterrupted ||
                          failure.code() == Code::kInvalidOptions;
    if (is_final || std::chrono::steady_clock::now() >= end) return failure;
    ++figures_.retries;
    if (missing.size() < before) backoff.Reset();  // some were answered
    BRAID_CHECK_OK(Pause(backoff.Next()));
  }
}

Result<std::vector<std::string>> RpcClient::Call(std::span<const RpcCall> calls) {
  std::vector<std::string> results(calls.size());
  figures_.calls += calls.size();
  for (size_t first = 0; first < calls.size(); first += options_.batch_calls_max) {
    const size_t count = std::min(options_.batch_calls_max, calls.size() - first);
    BRAID_CHECK_OK(CallBatch(calls.subspan(first, count), std::span(results).subspan(first, count)));
  }
  return results;
}

}  // namespace braid::explorer::source
