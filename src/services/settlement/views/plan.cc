#include "services/settlement/views/plan.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

#include "services/settlement/views/kinds.h"

namespace braid::settlement::views {
namespace {

using client::Bson;

constexpr size_t kIdsOfOneFind = 5000;  // at 512 bytes each, far from the limit of a document

template <typename Kind>
void WriteDocument(const std::string& id, const typename Kind::Row& row, Bson& document) {
  document.Text("_id", id);
  Kind::Write(row, document);
}

template <typename Kind>
class PlanOf final : public Plan {
 public:
  explicit PlanOf(const Batch& batch) : batch_(batch) {
    for (const Item& item : batch.items) {
      Kind::ForEach(item, [&](std::string_view key, std::string id, const typename Kind::Effect& effect) {
        effects_[PartitionOf(key)].push_back({std::move(id), effect});
      });
    }
  }

  Status Apply(Transaction& transaction, const std::string& collection,
               const Marks::Partitions& partitions) const override {
    Marks::Partitions touched = partitions;
    std::erase_if(touched, [&](size_t partition) { return effects_[partition].empty(); });
    if (touched.empty()) return {};
    BRAID_TRY(Marks marks, Marks::Load(transaction, collection, touched));
    const std::vector<const Entry*> due = Due(touched, marks);
    if (due.empty()) return {};
    BRAID_TRY(const Rows rows, Changed(transaction, collection, due));
    BRAID_CHECK_OK(Write(transaction, collection, rows));
    return marks.Advance(transaction, touched, batch_.ends);
  }

 private:
  struct Entry {
    std::string id;
    typename Kind::Effect effect;
  };
  struct Row {
    typename Kind::Row row;
    bool stored = false;
  };
  using Rows = std::unordered_map<std::string, Row>;

  std::vector<const Entry*> Due(const Marks::Partitions& partitions, const Marks& marks) const {
    std::vector<const Entry*> due;
    for (const size_t partition : partitions) {
      for (const Entry& entry : effects_[partition]) {
        const Item& item = *entry.effect.item;
        if (item.sequence > marks.Applied(partition, item.chain)) due.push_back(&entry);
      }
    }
    return due;
  }

  static Result<Rows> Changed(Transaction& transaction, const std::string& collection,
                              std::span<const Entry* const> due) {
    Rows rows;
    rows.reserve(due.size());
    for (const Entry* entry : due) rows.try_emplace(entry->id);
    if (!Kind::kInsertOnly) BRAID_CHECK_OK(Load(transaction, collection, rows));
    for (const Entry* entry : due) BRAID_CHECK_OK(Kind::Fold(entry->effect, rows.find(entry->id)->second.row));
    return rows;
  }

  static Status Load(Transaction& transaction, const std::string& collection, Rows& rows) {
    std::vector<std::string> ids;
    ids.reserve(rows.size());
    for (const auto& [id, row] : rows) ids.push_back(id);
    for (size_t begin = 0; begin < ids.size(); begin += kIdsOfOneFind) {
      const auto some = std::span(ids).subspan(begin, std::min(kIdsOfOneFind, ids.size() - begin));
      BRAID_CHECK_OK(transaction.FindIds(collection, some, [&](const bson_t& document) {
        Row& row = rows[std::string(client::TextOf(&document, "_id"))];
        row.row = Kind::Read(document);
        row.stored = true;
        return Status();
      }));
    }
    return {};
  }

  static Status Write(Transaction& transaction, const std::string& collection, const Rows& rows) {
    // In the order of their keys: the store finds the place of one beside that of the one before.
    std::vector<const typename Rows::value_type*> sorted;
    sorted.reserve(rows.size());
    for (const auto& row : rows) sorted.push_back(&row);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
    std::deque<Bson> parts;
    std::vector<const bson_t*> inserts;
    std::vector<Transaction::Update> updates;
    Bson fields;
    for (const auto* const entry : sorted) {
      const auto& [id, row] = *entry;
      if (!row.stored) {
        Bson& document = parts.emplace_back();
        WriteDocument<Kind>(id, row.row, document);
        inserts.push_back(document.get());
        continue;
      }
      fields.Clear();
      Kind::Write(row.row, fields);
      const Bson& filter = parts.emplace_back().Text("_id", id);
      const Bson& change = parts.emplace_back().Document("$set", fields);
      updates.push_back({.filter = filter.get(), .change = change.get()});
    }
    BRAID_CHECK_OK(transaction.Insert(collection, inserts));
    return transaction.UpdateOnes(collection, updates).status();
  }

  const Batch& batch_;
  std::array<std::vector<Entry>, kPartitions> effects_;
};

template <typename Kind>
class RecountOf final : public Recount {
 public:
  Status Add(const Batch& batch, const Marks& marks) override {
    Status status;
    for (const Item& item : batch.items) {
      Kind::ForEach(item, [&](std::string_view key, const std::string& id, const typename Kind::Effect& effect) {
        if (!status.ok() || item.sequence > marks.Applied(PartitionOf(key), item.chain)) return;
        status = Kind::Fold(effect, rows_[id]);
      });
    }
    return status;
  }

  void ForEach(const OnDocument& each) const override {
    Bson document;
    for (const auto& [id, row] : rows_) {
      document.Clear();
      WriteDocument<Kind>(id, row, document);
      each(id, document);
    }
  }

 private:
  std::unordered_map<std::string, typename Kind::Row> rows_;
};

}  // namespace

std::unique_ptr<Plan> Plan::Make(View view, const Batch& batch) {
  switch (view) {
    case View::kBalances: return std::make_unique<PlanOf<Balances>>(batch);
    case View::kTrades: return std::make_unique<PlanOf<Trades>>(batch);
    case View::kOrders: return std::make_unique<PlanOf<Orders>>(batch);
  }
  return nullptr;
}

std::unique_ptr<Recount> Recount::Make(View view) {
  switch (view) {
    case View::kBalances: return std::make_unique<RecountOf<Balances>>();
    case View::kTrades: return std::make_unique<RecountOf<Trades>>();
    case View::kOrders: return std::make_unique<RecountOf<Orders>>();
  }
  return nullptr;
}

}  // namespace braid::settlement::views
