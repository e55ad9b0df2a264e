// Views::Check: compares the documents of a view with rows that are computed from the log in memory.
#include <functional>
#include <memory>
#include <string>
#include <unordered_map>

#include "base/strings.h"
#include "client/fields.h"
#include "services/settlement/views/follow.h"
#include "services/settlement/views/kinds.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/marks.h"

namespace braid::settlement {
namespace views {
namespace {

/// The expected contents of a view, from the log alone.
class Recount {
 public:
  using OnDocument = std::function<void(const std::string& id, std::string_view document)>;

  static std::unique_ptr<Recount> Make(View view);
  virtual ~Recount() = default;
  /// Folds only the records that the marks say are applied.
  virtual Status Add(const Batch& batch, const Marks& marks) = 0;
  virtual void ForEach(const OnDocument& each) const = 0;
};

template <typename Kind>
class RecountOf final : public Recount {
 public:
  Status Add(const Batch& batch, const Marks& marks) override {
    Status status;
    for (const Item& item : batch.items) {
      Kind::ForEach(item, [&](std::string_view key, std::string_view id, const typename Kind::Effect& effect) {
        if (!status.ok() || item.sequence > marks.Applied(PartitionOf(key), item.chain)) return;
        status = Kind::Fold(effect, rows_[std::string(id)]);
      });
    }
    return status;
  }

  void ForEach(const OnDocument& each) const override {
    client::Documents document;
    for (const auto& [id, row] : rows_) {
      document.Clear();
      document.Begin();
      document.Text("_id", id);
      Kind::Write(row, document);
      document.End();
      each(id, document[0]);
    }
  }

 private:
  std::unordered_map<std::string, typename Kind::Row> rows_;
};

std::unique_ptr<Recount> Recount::Make(View view) {
  switch (view) {
    case View::kBalances: return std::make_unique<RecountOf<Balances>>();
    case View::kTrades: return std::make_unique<RecountOf<Trades>>();
    case View::kOrders: return std::make_unique<RecountOf<Orders>>();
  }
  return nullptr;
}

}  // namespace
}  // namespace views

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
  Checking(views::Core& core, View view, CheckReport& report) : core_(core), view_(view), report_(report) {}

  Status Run(const FollowOptions& options) {
    for (;;) {  // again if a rebuilt view replaced it meanwhile
      BRAID_CHECK_OK(views::FinishMove(core_.clients, core_.options.database, view_));
      BRAID_CHECK_OK(RunTransaction(core_.clients, core_.InTransaction(),
                                    [&](Transaction& transaction) { return Load(transaction); }));
      BRAID_TRY(const views::Generation now, views::LoadGeneration(core_.clients, core_.options.database, view_));
      if (now.number == generation_ && !moving_) break;
    }
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
    if (!now.has_times) {
      return Status(Code::kOperationFailed, StrCat("the view ", NameOf(view_), " is of an earlier version, whose rows ",
                                                   "had no times: build it again (recover --rebuild)"));
    }
    generation_ = now.number;
    moving_ = !now.moving.empty();
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
    BRAID_TRY(std::vector<ChainHead> heads, core_.chains->Heads());
    for (const ChainHead& head : heads) {
      const auto place = highest.find(head.chain);
      stop_before[head.chain] = place == highest.end() ? 1 : place->second + 1;
    }
    views::LogReader reader(core_.clients, core_.chains->options(), core_.workers,
                            {.batch_records_max = core_.options.batch_records_max});
    BRAID_CHECK_OK(reader.Start({}, heads, stop_before));
    std::map<int64_t, int64_t> ends;
    for (;;) {
      BRAID_CHECK_OK(core_.CheckStop());
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
    std::unordered_map<std::string_view, std::string_view>
        left;  // _id to document; those without an expected counterpart remain
    for (const std::string& bytes : found_) left.emplace(IdOf(bytes), bytes);
    if (left.size() != found_.size()) Differs("", "an _id that is a string", "documents with another _id");
    recount.ForEach([&](const std::string& id, std::string_view document) {
      const auto place = left.find(id);
      const std::string_view found = place == left.end() ? std::string_view() : place->second;
      if (found != document) Differs(id, JsonOf(document), found.empty() ? "" : JsonOf(found));
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

  views::Core& core_;
  const View view_;
  CheckReport& report_;
  Marks marks_;
  int64_t generation_ = 0;  // as it was loaded
  bool moving_ = false;
  std::vector<std::string> found_;
};

}  // namespace

Result<CheckReport> Views::Check(const FollowOptions& options) {
  CheckReport report;
  for (const View view : kViews) {
    BRAID_CHECK_OK(Checking(*core_, view, report).Run(options));
    if (!report.damage.empty()) break;  // the others would say the same
  }
  return report;
}

}  // namespace braid::settlement
