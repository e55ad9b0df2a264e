// Views::Check: the documents of a view beside those that the log makes.
#include <unordered_map>

#include "base/strings.h"
#include "client/fields.h"
#include "services/settlement/views/follow.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/plan.h"

namespace braid::settlement {
namespace {

using client::Bson;
using views::Marks;

constexpr size_t kKeptMax = 1000;

std::string_view BytesOf(const bson_t* document) {
  return {reinterpret_cast<const char*>(bson_get_data(document)), document->len};
}

std::string JsonOf(std::string_view bytes) {
  bson_t document;
  if (!bson_init_static(&document, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())) return "not BSON";
  char* const text = bson_as_relaxed_extended_json(&document, nullptr);
  std::string json = text == nullptr ? "not BSON" : text;
  bson_free(text);
  return json;
}

class Checking {
 public:
  Checking(views::Parts& parts, View view, CheckReport& report) : parts_(parts), view_(view), report_(report) {}

  Status Run(const FollowOptions& options) {
    BRAID_CHECK_OK(RunTransaction(parts_.clients, parts_.InTransaction(),
                                  [&](Transaction& transaction) { return Load(transaction); }));
    const std::unique_ptr<views::Recount> recount = views::Recount::Make(view_);
    BRAID_TRY(const bool whole, Count(*recount, options));
    if (whole) Compare(*recount);
    return {};
  }

 private:
  // Marks and documents of one moment; the log up to there stays as it is.
  Status Load(Transaction& transaction) {
    found_.clear();
    BRAID_TRY(const views::Generation now, views::GetGeneration(transaction, view_));
    BRAID_TRY(marks_, Marks::Load(transaction, now.collection, Marks::All()));
    const Bson all;
    return transaction.Find(now.collection, all.get(), [&](const bson_t& document) {
      found_.emplace_back(BytesOf(&document));
      return Status();
    });
  }

  // False if the log is damaged.
  Result<bool> Count(views::Recount& recount, const FollowOptions& options) {
    const std::map<int64_t, int64_t> highest = marks_.Highest();
    std::map<int64_t, int64_t> stop_before;
    BRAID_TRY(std::vector<ChainHead> heads, parts_.chains->Heads());
    for (const ChainHead& head : heads) {
      const auto place = highest.find(head.chain);
      stop_before[head.chain] = place == highest.end() ? 1 : place->second + 1;
    }
    views::LogReader reader(parts_.clients, parts_.chains->options(), parts_.workers,
                            {.batch_records_max = parts_.options.batch_records_max});
    BRAID_CHECK_OK(reader.Start({}, heads, stop_before));
    std::map<int64_t, int64_t> ends;
    for (;;) {
      BRAID_CHECK_OK(parts_.CheckStop());
      BRAID_TRY(const views::Batch batch, reader.Next());
      if (batch.empty()) break;
      BRAID_CHECK_OK(recount.Add(batch, marks_));
      for (const auto& [chain, end] : batch.ends) ends[chain] = end.sequence;
      report_.records += batch.records;
      if (options.on_progress) options.on_progress(report_.records);
    }
    for (const auto& [chain, damage] : reader.damage()) report_.damage.push_back(damage);
    bool whole = reader.damage().empty();
    for (const auto& [chain, sequence] : highest) {
      if (ends[chain] >= sequence) continue;
      if (whole) report_.damage.push_back({chain, sequence, "was applied, but the log does not have it"});
      whole = false;
    }
    return whole;
  }

  void Compare(const views::Recount& recount) {
    report_.documents += static_cast<int64_t>(found_.size());
    std::unordered_map<std::string_view, std::string_view> left;  // _id to document; what no expected one matches
    for (const std::string& bytes : found_) left.emplace(IdOf(bytes), bytes);
    if (left.size() != found_.size()) Differs("", "an _id that is a string", "documents with another _id");
    recount.ForEach([&](const std::string& id, const Bson& document) {
      const auto place = left.find(id);
      const std::string_view found = place == left.end() ? std::string_view() : place->second;
      if (found != BytesOf(document.get())) {
        Differs(id, JsonOf(BytesOf(document.get())), found.empty() ? "" : JsonOf(found));
      }
      if (place != left.end()) left.erase(place);
    });
    for (const auto& [id, bytes] : left) Differs(std::string(id), "", JsonOf(bytes));
  }

  static std::string_view IdOf(const std::string& bytes) {
    bson_t document;
    if (!bson_init_static(&document, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size())) return {};
    return client::TextOf(&document, "_id");  // lives in the bytes
  }

  void Differs(std::string id, std::string expected, std::string found) {
    ++report_.differences_total;
    if (report_.differences.size() >= kKeptMax) return;
    report_.differences.push_back({view_, std::move(id), std::move(expected), std::move(found)});
  }

  views::Parts& parts_;
  const View view_;
  CheckReport& report_;
  Marks marks_;
  std::vector<std::string> found_;
};

}  // namespace

Result<CheckReport> Views::Check(const FollowOptions& options) {
  CheckReport report;
  for (const View view : kViews) {
    BRAID_CHECK_OK(Checking(*parts_, view, report).Run(options));
    if (!report.damage.empty()) break;  // the others would say the same
  }
  return report;
}

}  // namespace braid::settlement
