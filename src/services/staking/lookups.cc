#include "services/staking/lookups.h"

#include <unordered_set>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"

namespace braid::staking {
namespace {

using client::Bson;

constexpr size_t kRetryPage = 1000;

// Appends {field: {$gte: from, $lt: to}}, of what is given.
template <typename Append>
void AppendRange(Bson& filter, const char* field, std::optional<int64_t> from, std::optional<int64_t> to,
                 const Append& append) {
  if (!from && !to) return;
  Bson range;
  if (from) append(range, "$gte", *from);
  if (to) append(range, "$lt", *to);
  filter.Document(field, range);
}

// A regular expression that matches the text and nothing else.
std::string Quoted(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (std::string_view(R"(\^$.|?*+()[]{})").find(c) != std::string_view::npos) quoted += '\\';
    quoted += c;
  }
  return quoted;
}

Result<FoundPage> FindPage(Clients& clients, const Tables& tables, const char* collection, Bson& filter,
                           const PageOptions& page) {
  if (page.limit < 1 || page.limit > 10'000) return Status(Code::kBadValue, "a page has 1 to 10000 rows");
  Bson and_after;
  if (!page.after.empty()) {
    Bson after;
    after.Text("$gt", page.after);
    Bson position;
    position.Document("_id", after);
    Bson both;
    both.Document("0", position).Document("1", filter);
    and_after.Array("$and", both);
  }
  Bson by_id;
  by_id.Integer("_id", 1);
  FoundPage found;
  // One row more than asked for tells whether there is a next page.
  const Transaction::FindOptions how{.sort = by_id.get(), .limit = static_cast<int64_t>(page.limit) + 1};
  BRAID_CHECK_OK(RunTransaction(clients, {.database = tables.database}, [&](Transaction& transaction) {
    found.rows.clear();
    const bson_t* which = page.after.empty() ? filter.get() : and_after.get();
    return transaction.Find(collection, which, how, [&](const bson_t& document) {
      found.rows.emplace_back(bson_copy(&document));
      return Status();
    });
  }));
  if (found.rows.size() > page.limit) {
    found.rows.pop_back();
    found.next = client::TextOf(found.rows.back().get(), "_id");
  }
  return found;
}

// Empty if only a part of it is kept.
std::string_view WholeMessage(const bson_t* document) {
  std::string_view text = client::TextOf(document, "message");
  if (text.empty()) text = client::BinaryOf(document, "message");
  return static_cast<int64_t>(text.size()) == client::IntegerOf(document, "bytes") ? text : std::string_view();
}

Status RemoveMessages(Clients& clients, const std::string& database, const char* collection,
                      std::span<const std::string> ids) {
  if (ids.empty()) return {};
  Bson in;
  in.Texts("$in", ids);
  Bson filter;
  filter.Document("_id", in);
  return RunTransaction(clients, {.database = database},
                        [&](Transaction& transaction) { return transaction.Remove(collection, filter.get()); });
}

}  // namespace

Result<FoundPage> FindDelegations(Clients& clients, const Tables& tables, const DelegationFilter& filter,
                                  const PageOptions& page) {
  Bson matches;
  if (!filter.hash.empty()) matches.Text("_id", filter.hash);
  if (!filter.staker.empty()) matches.Text("staker_pk_hex", filter.staker);
  if (!filter.finality_provider.empty()) matches.Text("finality_provider_pk_hex", filter.finality_provider);
  if (filter.state) matches.Text("state", NameOf(*filter.state));
  AppendRange(matches, "timestamp", filter.from_s, filter.to_s,
              [](Bson& range, const char* key, int64_t value) { range.Integer(key, value); });
  return FindPage(clients, tables, kDelegations, matches, page);
}

Result<FoundPage> FindMessages(Clients& clients, const Tables& tables, const MessageFilter& filter,
                               const PageOptions& page) {
  Bson matches;
  if (!filter.reason.empty()) {
    Bson part;
    part.Text("$regex", Quoted(filter.reason));
    matches.Document("reason", part);
  }
  if (!filter.file.empty()) matches.Text("file", filter.file);
  AppendRange(matches, "received_at", filter.from_ms, filter.to_ms,
              [](Bson& range, const char* key, int64_t value) { range.Date(key, value); });
  return FindPage(clients, tables, filter.collection(), matches, page);
}

Result<RetryReport> RetryMessages(Clients& clients, const IngestOptions& options, const MessageFilter& filter) {
  RetryReport report;
  std::unordered_set<std::string_view> refused;
  IngestOptions again = options;
  again.on_kept = [&](const BadMessage& message) {
    refused.insert(message.text);
    if (options.on_kept) options.on_kept(message);
  };
  BRAID_TRY(const std::unique_ptr<Ingestor> ingestor, Ingestor::Open(clients, again));
  PageOptions page{.limit = kRetryPage};
  do {
    if (options.stop != nullptr && options.stop->load()) {
      return Status(Code::kInterrupted, "interrupted; what was taken in stays taken in");
    }
    BRAID_TRY(const FoundPage found, FindMessages(clients, ingestor->tables(), filter, page));
    std::vector<std::string_view> lines;
    std::vector<std::string> ids;
    for (const client::BsonPtr& row : found.rows) {
      const std::string_view text = WholeMessage(row.get());
      report.cut += text.empty() ? 1 : 0;
      if (text.empty()) continue;
      lines.push_back(text);
      ids.emplace_back(client::TextOf(row.get(), "_id"));
    }
    BRAID_ASSERT(lines.size() == ids.size());
    refused.clear();
    BRAID_TRY(const Outcome outcome, ingestor->Apply(lines));
    std::vector<std::string> done;
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!refused.contains(lines[i])) done.push_back(ids[i]);
    }
    BRAID_CHECK_OK(RemoveMessages(clients, ingestor->tables().database, filter.collection(), done));
    report.outcome += outcome;
    report.tried += lines.size();
    report.removed += done.size();
    page.after = found.next;
  } while (!page.after.empty());
  return report;
}

}  // namespace braid::staking
