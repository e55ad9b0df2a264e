#include "services/settlement/views/view_changes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <unordered_map>

#include "base/assert.h"
#include "services/settlement/views/kinds.h"

namespace braid::settlement::views {
namespace {

using client::Bson;

constexpr size_t kIdsOfOneFind = 5000;  // at 512 bytes each, far from the limit of a document

struct HashOfText {
  using is_transparent = void;
  size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
};

// The part of the batch that a transaction has to apply, according to the marks.
class DueTest {
 public:
  DueTest(const Marks& marks, const Batch& batch) : marks_(marks), all_(marks.IsWithin(batch.before)) {}
  /// True if only records that this run has read are applied, and none of this batch: no other process is ahead.
  bool all() const { return all_; }
  bool operator()(size_t partition, const Item& item) const {
    return all_ || item.sequence > marks_.Applied(partition, item.chain);
  }

 private:
  const Marks& marks_;
  const bool all_;
};

// Effects that change documents: however many a document has in the batch, it is read and written once.
template <typename Kind>
class ChangesOf final : public ViewChanges {
 public:
  ChangesOf(const Batch& batch, SeenIds* seen) : batch_(batch), from_first_(seen != nullptr) {
    for (const Item& item : batch.items) {
      Kind::ForEach(item, [&](std::string_view key, std::string_view id, const typename Kind::Effect& effect) {
        const Group& group = Find(key, id, seen);
        effects_[group.partition].push_back({group.number, effect});
      });
    }
  }

  Status Apply(Transaction& transaction, const std::string& collection,
               const Marks::Partitions& partitions) const override {
    Marks::Partitions touched = partitions;
    std::erase_if(touched, [&](size_t partition) { return effects_[partition].empty(); });
    if (touched.empty()) return {};
    BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, collection, touched));
    const DueTest due(marks, batch_);
    Rows rows = Due(touched, due);
    if (rows.all.empty()) return {};
    BRAID_CHECK_OK(Load(transaction, collection, from_first_ && due.all(), rows));
    for (const size_t partition : touched) {
      for (const EffectOf& effect : effects_[partition]) {
        if (!due(partition, *effect.effect.item)) continue;
        const uint32_t row = rows.by_group[effect.group];
        BRAID_ASSERT(row != kNoRow);  // Due() has asked the same question
        BRAID_CHECK_OK(Kind::Fold(effect.effect, rows.all[row].row));
      }
    }
    BRAID_CHECK_OK(Write(transaction, collection, rows));
    return marks.Advance(transaction, touched, batch_.ends);
  }

 private:
  static constexpr uint32_t kNoRow = UINT32_MAX;
  struct EffectOf {
    uint32_t group;
    typename Kind::Effect effect;
  };
  struct Group {
    std::string_view id;
    uint32_t number = 0;
    uint32_t partition = 0;
    bool may_be_stored = true;
  };
  struct Row {
    const Group* group;
    typename Kind::Row row;
    bool stored = false;
  };
  struct Rows {
    std::vector<Row> all;
    std::vector<uint32_t> by_group;  // where a group's row is, or kNoRow
  };

  const Group& Find(std::string_view key, std::string_view id, SeenIds* seen) {
    if (const auto known = groups_.find(id); known != groups_.end()) return known->second;
    const auto place = groups_.emplace(id, Group()).first;
    Group& group = place->second;
    group.id = place->first;
    group.number = static_cast<uint32_t>(by_number_.size());
    group.partition = static_cast<uint32_t>(PartitionOf(key));
    group.may_be_stored = seen == nullptr || seen->TestAndAdd(id);
    BRAID_ASSERT(group.partition < kPartitions && group.number < kNoRow);
    by_number_.push_back(&group);
    return group;
  }

  Rows Due(const Marks::Partitions& partitions, const DueTest& due) const {
    Rows rows;
    rows.by_group.assign(by_number_.size(), kNoRow);
    for (const size_t partition : partitions) {
      for (const EffectOf& effect : effects_[partition]) {
        BRAID_ASSERT(effect.group < by_number_.size());
        uint32_t& row = rows.by_group[effect.group];
        if (row != kNoRow || !due(partition, *effect.effect.item)) continue;
        row = static_cast<uint32_t>(rows.all.size());
        rows.all.push_back({.group = by_number_[effect.group]});
      }
    }
    return rows;
  }

  // Every stored document comes from records that the marks include. A run that has read all of these from the first
  // one on (`knows`) has seen the id of every stored document.
  Status Load(Transaction& transaction, const std::string& collection, bool knows, Rows& rows) const {
    std::vector<std::string> ids;
    for (const Row& row : rows.all) {
      if (!knows || row.group->may_be_stored) ids.emplace_back(row.group->id);
    }
    for (size_t begin = 0; begin < ids.size(); begin += kIdsOfOneFind) {
      const auto some = std::span(ids).subspan(begin, std::min(kIdsOfOneFind, ids.size() - begin));
      BRAID_CHECK_OK(transaction.FindIds(collection, some, [&](const bson_t& document) {
        const Group& group = groups_.find(client::TextOf(&document, "_id"))->second;
        Row& row = rows.all[rows.by_group[group.number]];
        row.row = Kind::Read(document);
        row.stored = true;
        return Status();
      }));
    }
    return {};
  }

  static Status Write(Transaction& transaction, const std::string& collection, const Rows& rows) {
    // In the order of their keys, so that the store finds each one next to the previous one.
    std::vector<const Row*> sorted;
    sorted.reserve(rows.all.size());
    for (const Row& row : rows.all) sorted.push_back(&row);
    std::sort(sorted.begin(), sorted.end(), [](const auto* a, const auto* b) { return a->group->id < b->group->id; });
    Documents inserts;
    Documents filters;
    Documents changes;
    Bson document;
    Bson fields;
    for (const Row* const row : sorted) {
      document.Clear();
      document.Text("_id", row->group->id);
      if (!row->stored) {
        Kind::Write(row->row, document);
        inserts.Add(document);
        continue;
      }
      filters.Add(document);
      fields.Clear();
      Kind::Write(row->row, fields);
      document.Clear();
      changes.Add(document.Document("$set", fields));
    }
    BRAID_CHECK_OK(transaction.Insert(collection, inserts.All()));
    const std::vector<const bson_t*> of = filters.All();
    const std::vector<const bson_t*> to = changes.All();
    BRAID_ASSERT(of.size() == to.size() && inserts.size() + of.size() == rows.all.size());
    std::vector<Transaction::Update> updates;
    updates.reserve(of.size());
    for (size_t i = 0; i < of.size(); ++i) updates.push_back({.filter = of[i], .change = to[i]});
    return transaction.UpdateOnes(collection, updates).status();
  }

  const Batch& batch_;
  const bool from_first_;
  std::unordered_map<std::string, Group, HashOfText, std::equal_to<>> groups_;
  std::vector<const Group*> by_number_;
  std::array<std::vector<EffectOf>, kPartitions> effects_;
};

// Effects that are new documents: nothing has to be read.
class ChangesOfTrades final : public ViewChanges {
 public:
  explicit ChangesOfTrades(const Batch& batch) : batch_(batch) {
    for (const Item& item : batch.items) {
      Trades::ForEach(item, [&](std::string_view key, std::string_view id, const Trades::Effect& effect) {
        trades_[PartitionOf(key)].push_back({std::string(id), effect});
      });
    }
  }

  Status Apply(Transaction& transaction, const std::string& collection,
               const Marks::Partitions& partitions) const override {
    Marks::Partitions touched = partitions;
    std::erase_if(touched, [&](size_t partition) { return trades_[partition].empty(); });
    if (touched.empty()) return {};
    BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, collection, touched));
    const DueTest due(marks, batch_);
    std::vector<const TradeOf*> rows;
    for (const size_t partition : touched) {
      for (const TradeOf& trade : trades_[partition]) {
        if (due(partition, *trade.effect.item)) rows.push_back(&trade);
      }
    }
    if (rows.empty()) return {};
    std::sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) { return a->id < b->id; });
    Documents inserts;
    inserts.Reserve(rows.size());
    Bson document;
    for (const TradeOf* const row : rows) {
      document.Clear();
      document.Text("_id", row->id);
      Trades::Write(*row->effect.trade, *row->effect.item, document);
      inserts.Add(document);
    }
    BRAID_CHECK_OK(transaction.Insert(collection, inserts.All()));
    return marks.Advance(transaction, touched, batch_.ends);
  }

 private:
  struct TradeOf {
    std::string id;
    Trades::Effect effect;
  };

  const Batch& batch_;
  std::array<std::vector<TradeOf>, kPartitions> trades_;
};

}  // namespace

// All bits of an id are in one line of the processor's cache.
bool SeenIds::TestAndAdd(std::string_view id) {
  BRAID_ASSERT(std::has_single_bit(lines_.size()));
  constexpr int kBits = 6;
  const uint64_t hash = std::hash<std::string_view>()(id);
  Line& line = lines_[hash & (lines_.size() - 1)];
  uint64_t places = (hash ^ hash >> 29) * 0x9e37'79b9'7f4a'7c15;
  bool seen = true;
  for (int i = 0; i < kBits; ++i, places >>= 9) {
    uint64_t& word = line.words[places >> 6 & 7];
    const uint64_t bit = uint64_t{1} << (places & 63);
    seen = seen && (word & bit) != 0;
    word |= bit;
  }
  return seen;
}

std::unique_ptr<ViewChanges> ViewChanges::Make(View view, const Batch& batch, SeenIds* seen) {
  switch (view) {
    case View::kBalances: return std::make_unique<ChangesOf<Balances>>(batch, seen);
    case View::kTrades: return std::make_unique<ChangesOfTrades>(batch);
    case View::kOrders: return std::make_unique<ChangesOf<Orders>>(batch, seen);
  }
  return nullptr;
}

}  // namespace braid::settlement::views
