#include "services/settlement/refused.h"

#include <algorithm>

#include "base/assert.h"
#include "base/strings.h"
#include "braid/clock.h"
#include "braid/transaction.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/chains/hash.h"
#include "services/settlement/json_fields.h"

namespace braid::settlement {
namespace {

using client::Bson;

constexpr size_t kTextKeptMax = 64 * 1024;

// Bytes that are no UTF-8 cannot be a string of the store's.
void AppendLine(std::string_view text, Bson& fields) {
  const std::string_view kept = Shortened(text, kTextKeptMax);
  const bool readable = bson_utf8_validate(kept.data(), kept.size(), false);
  readable ? fields.Text("text", kept) : fields.Binary("text", kept);
}

std::string IdOf(const RefusedOutput& refused) {
  return chains::HexOf(HashChainRecord(
      {.sequence = static_cast<int64_t>(refused.line),
       .payload = StrCat(refused.source, "\n", refused.output_seq, "\n", refused.reason, "\n", refused.text)}));
}

bool SamePlace(const UnplacedLine& a, const UnplacedLine& b) { return a.source == b.source && a.line == b.line; }

std::string IdOf(const UnplacedLine& line) { return StrCat(line.line, ":", line.source); }

int64_t Now(const ChainsOptions& log) { return (log.clock != nullptr ? *log.clock : Clock::System()).NowMillis(); }

Status ReadAll(Transaction& transaction, const ChainsOptions& log, std::vector<UnplacedLine>& lines) {
  lines.clear();
  const Bson all;
  return transaction.Find(UnplacedLines::CollectionOf(log), all.get(), [&](const bson_t& document) {
    lines.push_back({.source = std::string(client::TextOf(&document, "file")),
                     .line = static_cast<uint64_t>(client::IntegerOf(&document, "line")),
                     .output_seq = client::IntegerOf(&document, "output_seq"),
                     .reason = std::string(client::TextOf(&document, "reason"))});
    return Status();
  });
}

}  // namespace

Status RefusedOutputs::Keep(const RefusedOutput& refused) {
  const ChainsOptions& options = chains_.options();
  const Clock& clock = options.clock != nullptr ? *options.clock : Clock::System();
  Bson fields;
  fields.Date("at", clock.NowMillis()).Text("file", refused.source);
  fields.Integer("line", static_cast<int64_t>(refused.line)).Text("reason", refused.reason);
  if (refused.output_seq > 0) fields.Integer("output_seq", refused.output_seq);
  Bson symbols;
  for (size_t i = 0; i < refused.symbols.size(); ++i) symbols.Integer(StrCat(i).c_str(), refused.symbols[i]);
  if (!refused.symbols.empty()) fields.Array("symbols", symbols);
  if (!refused.text.empty()) AppendLine(refused.text, fields);
  if (!refused.skipped.empty()) fields.Text("skipped", refused.skipped);
  Bson once;
  once.Integer("times", 1);
  Bson change;
  change.Document("$set", fields).Document("$inc", once);
  Bson filter;
  filter.Text("_id", IdOf(refused));
  Bson upsert;
  upsert.Bool("upsert", true);
  const Client client = chains_.clients().Acquire();
  const auto collection = client::CollectionOf(client.get(), options.database, CollectionOf(options));
  bson_error_t error{};
  const bool kept =
      mongoc_collection_update_one(collection.get(), filter.get(), change.get(), upsert.get(), nullptr, &error);
  return kept ? Status() : client::FromError(error);
}

Result<int64_t> RefusedOutputs::Count(Clients& clients, const ChainsOptions& log) {
  const Client client = clients.Acquire();
  const auto collection = client::CollectionOf(client.get(), log.database, CollectionOf(log));
  const Bson all;
  bson_error_t error{};
  const int64_t count =
      mongoc_collection_count_documents(collection.get(), all.get(), nullptr, nullptr, nullptr, &error);
  return count < 0 ? Result<int64_t>(client::FromError(error)) : Result<int64_t>(count);
}

std::string UnplacedLine::Name() const {
  return StrCat("line ", line, source.empty() ? "" : StrCat(" of ", source == "-" ? "standard input" : source));
}

std::string UnplacedLine::WhyHeldBack() const {
  const std::string what = output_seq == 0 ? "nothing new" : StrCat("nothing new after output ", output_seq);
  return StrCat(Name(), " was refused, and of which symbol it is cannot be told: ", what,
                " is taken until it is given again, corrected, or given up (repair --unplaced); ", reason);
}

Result<std::vector<UnplacedLine>> UnplacedLines::List(Clients& clients, const ChainsOptions& log) {
  std::vector<UnplacedLine> lines;
  BRAID_CHECK_OK(RunTransaction(clients, {.database = log.database},
                                [&](Transaction& transaction) { return ReadAll(transaction, log, lines); }));
  return lines;
}

// What another thread adds or settles while the store is asked is not in the answer: then it is asked again.
Status UnplacedLines::Load() {
  for (;;) {
    const uint64_t before = Changes();
    BRAID_TRY(std::vector<UnplacedLine> lines, List(chains_.clients(), chains_.options()));
    std::vector<ChainHead> heads;
    if (!lines.empty()) {
      BRAID_TRY(heads, chains_.Heads());
    }
    if (Replace(before, std::move(lines), heads)) return {};
  }
}

uint64_t UnplacedLines::Changes() const {
  const MutexLock lock(mu_);
  return changes_;
}

bool UnplacedLines::Replace(uint64_t before, std::vector<UnplacedLine> lines, const std::vector<ChainHead>& heads) {
  const MutexLock lock(mu_);
  if (changes_ != before) return false;
  for (const UnplacedLine& known : lines_) {
    if (!known.durable) lines.push_back(known);
  }
  lines_ = std::move(lines);
  for (const ChainHead& head : heads) heads_[head.chain] = head.sequence;
  count_.store(lines_.size(), std::memory_order_release);
  return true;
}

void UnplacedLines::Hold(const UnplacedLine& line) {
  BRAID_ASSERT(!line.reason.empty());  // repair tells it, and so does everything that is held back
  const MutexLock lock(mu_);
  std::erase_if(lines_, [&](const UnplacedLine& known) { return SamePlace(known, line); });
  lines_.push_back(line);
  ++changes_;
  count_.store(lines_.size(), std::memory_order_release);
}

// Held back before it is durable: others submit meanwhile.
Status UnplacedLines::Add(UnplacedLine line) {
  line.durable = false;
  Hold(line);
  const ChainsOptions& log = chains_.options();
  const Status stored = RunTransaction(chains_.clients(), {.database = log.database}, [&](Transaction& transaction) {
    Bson filter;
    filter.Text("_id", IdOf(line));
    Bson fields;
    fields.Date("at", Now(log)).Text("file", line.source).Integer("line", static_cast<int64_t>(line.line));
    if (line.output_seq > 0) fields.Integer("output_seq", line.output_seq);
    fields.Text("reason", line.reason);
    Bson change;
    change.Document("$set", fields);
    const Transaction::Update update{.filter = filter.get(), .change = change.get(), .upsert = true};
    return transaction.UpdateOne(CollectionOf(log), update).status();
  });
  BRAID_CHECK_OK(stored);
  line.durable = true;
  Hold(line);
  return Load();
}

UnplacedLines::Verdict UnplacedLines::Judge(const ChainRecord& record, const UnplacedLine& place,
                                            bool given_again) const {
  const MutexLock lock(mu_);
  const auto passed = [&](int64_t chain) BRAID_REQUIRES(mu_) {
    const auto head = heads_.find(chain);
    return head != heads_.end() && head->second >= record.sequence;
  };
  Verdict verdict{.known = passed(record.chain)};
  for (const int64_t chain : record.also) verdict.known = verdict.known && passed(chain);
  for (const UnplacedLine& line : lines_) {
    const bool is_it = line.output_seq > 0 ? line.output_seq == record.sequence : given_again && SamePlace(line, place);
    if (is_it) {
      verdict.settles.push_back(line);
    } else if (!verdict.known && record.sequence > line.output_seq && verdict.status.ok()) {
      verdict.status = Status(Code::kChainHalted, line.WhyHeldBack());
    }
  }
  return verdict;
}

Status UnplacedLines::Settle(const UnplacedLine& line) {
  const ChainsOptions& log = chains_.options();
  BRAID_CHECK_OK(RunTransaction(chains_.clients(), {.database = log.database}, [&](Transaction& transaction) {
    Bson filter;
    filter.Text("_id", IdOf(line));
    return transaction.Remove(CollectionOf(log), filter.get());
  }));
  const MutexLock lock(mu_);
  std::erase_if(lines_, [&](const UnplacedLine& known) { return SamePlace(known, line); });
  ++changes_;
  count_.store(lines_.size(), std::memory_order_release);
  return {};
}

Status UnplacedLines::GiveUp(Chains& chains, const std::string& by, const std::string& reason) {
  const ChainsOptions& log = chains.options();
  return RunTransaction(chains.clients(), {.database = log.database}, [&](Transaction& transaction) -> Status {
    std::vector<UnplacedLine> lines;
    BRAID_CHECK_OK(ReadAll(transaction, log, lines));
    for (const UnplacedLine& line : lines) {
      Bson repair;
      repair.Date("at", Now(log)).Text("by", by).Text("reason", reason).Text("action", "skip_line");
      repair.Text("file", line.source).Integer("line", static_cast<int64_t>(line.line)).Text("halted", line.reason);
      const bson_t* const documents[] = {repair.get()};
      BRAID_CHECK_OK(transaction.Insert(StrCat(log.log, "_repairs"), documents));
      Bson filter;
      filter.Text("_id", IdOf(line));
      BRAID_CHECK_OK(transaction.Remove(CollectionOf(log), filter.get()));
    }
    return {};
  });
}

}  // namespace braid::settlement
