#include "services/settlement/views/view_changes.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>
#include <utility>

#include "base/assert.h"
#include "base/strings.h"
#include "services/settlement/views/kinds.h"

namespace braid::settlement::views {
namespace {

using client::Documents;

constexpr size_t kIdsOfOneFind = 5000;  // at 512 bytes each, far from the limit of a document
constexpr size_t kCommandBytes = 256 << 10;
constexpr size_t kBatchesOfTheSame = 2;  // more save less, and each stays in memory until it is applied

// The part of the batches that a transaction has to apply, according to the marks.
class DueTest {
 public:
  DueTest(const Marks& marks, const Positions& before) : marks_(marks), all_(marks.IsWithin(before)) {}
  /// True if only records that this run has read are applied, and none of this part: no other process is ahead.
  bool all() const { return all_; }
  bool operator()(size_t partition, const Item& item) const {
    return all_ || item.sequence > marks_.Applied(partition, item.chain);
  }

 private:
  const Marks& marks_;
  const bool all_;
};

// Writes documents with a few commands. They are added in the order of their ids, so that the store finds each one next
// to the previous one. A command is much smaller than a batch: its bytes are copied several times on their way, within
// the processor's caches and in memory that is used again.
class DocumentWrites {
 public:
  DocumentWrites(Transaction& transaction, const std::string& collection)
      : transaction_(transaction), collection_(collection) {}

  /// `write_fields` appends everything but the _id. `stored`: there is a document, which is changed.
  template <typename WriteFields>
  Status Add(std::string_view id, bool stored, const WriteFields& write_fields) {
    Documents& keys = stored ? filters_ : inserts_;
    keys.Begin();
    keys.Text("_id", id);
    if (!stored) write_fields(keys);
    keys.End();
    if (!stored) return inserts_.bytes() < kCommandBytes ? Status() : Insert();
    changes_.Begin();
    changes_.Open("$set");
    write_fields(changes_);
    changes_.Close();
    changes_.End();
    return changes_.bytes() < kCommandBytes ? Status() : Update();
  }

  /// Those that were not written yet.
  Status Finish() {
    BRAID_CHECK_OK(Insert());
    return Update();
  }

 private:
  Status Insert() {
    BRAID_CHECK_OK(transaction_.Insert(collection_, inserts_.All()));
    inserts_.Clear();
    return {};
  }

  Status Update() {
    const std::vector<const bson_t*> of = filters_.All();
    const std::vector<const bson_t*> to = changes_.All();
    BRAID_ASSERT(of.size() == to.size());
    std::vector<Transaction::Update> updates;
    updates.reserve(of.size());
    for (size_t i = 0; i < of.size(); ++i) updates.push_back({.filter = of[i], .change = to[i]});
    BRAID_TRY(const Transaction::Matched result, transaction_.UpdateOnes(collection_, updates));
    if (result.matched != static_cast<int64_t>(updates.size())) {
      return Status(Code::kOperationFailed,
                    StrCat("rows of ", collection_, " were removed by another program; build the view again (recover ",
                           "--rebuild)"));
    }
    filters_.Clear();
    changes_.Clear();
    return {};
  }

  Transaction& transaction_;
  const std::string& collection_;
  Documents inserts_;
  Documents filters_;
  Documents changes_;
};

Status FindMany(Transaction& transaction, const std::string& collection, std::span<const std::string> ids,
                const std::function<void(std::string_view id, const bson_t& document)>& each) {
  for (size_t begin = 0; begin < ids.size(); begin += kIdsOfOneFind) {
    const auto some = ids.subspan(begin, std::min(kIdsOfOneFind, ids.size() - begin));
    BRAID_CHECK_OK(transaction.FindIds(collection, some, [&](const bson_t& document) {
      each(client::TextOf(&document, "_id"), document);
      return Status();
    }));
  }
  return {};
}

// Effects that change documents: however many a document has in the batches, it is read and written once. The batches
// are summed up by document before any transaction begins. Where only a part of them is due, or something cannot be
// added, the effects are folded one by one.
template <typename Kind>
class ChangesOf final : public ViewChanges {
 public:
  explicit ChangesOf(RowMemory& memory) : memory_(memory) {}

  size_t batches_at_once() const override { return Kind::kIsMetAgain ? kBatchesOfTheSame : 1; }

  Status Apply(Transaction& transaction, const std::string& collection, const Marks::Partitions& partitions) override {
    Marks::Partitions touched = partitions;
    std::erase_if(touched, [&](size_t partition) { return !touched_[partition]; });
    if (touched.empty()) return {};
    for (const size_t partition : touched) written_[partition].clear();
    BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, collection, touched));
    const DueTest due(marks, before());
    bool added = false;
    if (due.all() && addable_) {
      BRAID_TRY(added, AddSums(transaction, collection, touched));
    }
    if (!added) {
      Forget(touched);
      BRAID_TRY(const bool any, FoldOneByOne(transaction, collection, touched, due));
      if (!any) return {};
    }
    return marks.Advance(transaction, touched, ends());
  }

  void Committed(const Marks::Partitions& partitions) override {
    if constexpr (Kind::kIsMetAgain) {
      for (const size_t partition : partitions) {
        auto& known = memory_.balances[partition];
        for (auto& [id, row] : written_[partition]) {
          const auto place = known.find(id);
          if (place != known.end()) {
            place->second = std::move(row);
          } else if (known.size() < RowMemory::kBalancesMax / kPartitions) {
            known.emplace(id, std::move(row));
          }
        }
        written_[partition].clear();
      }
    }
  }

 private:
  static constexpr uint32_t kNone = UINT32_MAX;
  struct Group {
    typename Kind::Sum sum;
    std::string id;
    uint64_t hash = 0;
    uint32_t partition = 0;
    bool may_be_stored = true;
  };
  struct Slot {
    uint32_t group = kNone;
    uint32_t hash = 0;  // its low bits, so that few groups are looked at for nothing
  };
  struct Row {
    typename Kind::Row row;
    bool stored = false;
  };
  struct Change {
    const Group* group = nullptr;
    typename Kind::Row row{};
    bool stored = false;
  };

  void Gather(const Batch& batch) override {
    for (const Item& item : batch.items) {
      Kind::EachEffect(item, [&](const typename Kind::Effect& effect) {
        if (!Kind::Add(effect, FindOrAdd(effect).sum)) addable_ = false;
      });
    }
    sorted_.clear();
    sorted_.reserve(groups_.size());
    for (const Group& group : groups_) sorted_.push_back(&group);
    std::ranges::sort(sorted_, {}, [](const Group* group) { return std::string_view(group->id); });
  }

  Group& FindOrAdd(const typename Kind::Effect& effect) {
    if ((groups_.size() + 1) * 2 > slots_.size()) Grow();
    const uint64_t hash = Kind::HashOf(effect);
    const size_t mask = slots_.size() - 1;
    size_t at = hash & mask;
    for (; slots_[at].group != kNone; at = (at + 1) & mask) {
      if (slots_[at].hash != static_cast<uint32_t>(hash)) continue;
      Group& group = groups_[slots_[at].group];
      if (group.hash == hash && Kind::IsOf(effect, group.sum)) return group;
    }
    BRAID_ASSERT(groups_.size() < kNone);
    slots_[at] = {.group = static_cast<uint32_t>(groups_.size()), .hash = static_cast<uint32_t>(hash)};
    Group& group = groups_.emplace_back();
    group.hash = hash;
    const std::string_view key = Kind::Names(effect, group.id);
    group.partition = static_cast<uint32_t>(PartitionOf(key));
    BRAID_ASSERT(group.partition < kPartitions);
    group.may_be_stored = memory_.seen == nullptr || memory_.seen->TestAndAdd(group.id);
    touched_[group.partition] = true;
    return group;
  }

  void Grow() {
    slots_.assign(std::max<size_t>(1024, slots_.size() * 2), Slot());
    const size_t mask = slots_.size() - 1;
    for (uint32_t i = 0; i < groups_.size(); ++i) {
      size_t at = groups_[i].hash & mask;
      while (slots_[at].group != kNone) at = (at + 1) & mask;
      slots_[at] = {.group = i, .hash = static_cast<uint32_t>(groups_[i].hash)};
    }
  }

  // The row of the group that this run has committed; null if it does not know one.
  const typename Kind::Row* KnownRow(const Group& group) const {
    if constexpr (Kind::kIsMetAgain) {
      const auto& known = memory_.balances[group.partition];
      const auto place = known.find(group.id);
      return place == known.end() ? nullptr : &place->second;
    }
    return nullptr;
  }

  // Where another process has applied something, or may have, rows are no longer what this run has written.
  void Forget(const Marks::Partitions& partitions) {
    for (const size_t partition : partitions) {
      written_[partition].clear();
      memory_.balances[partition].clear();
    }
  }

  // All of the batches. False, and nothing is written, if a stored document cannot be added to. Every stored document
  // comes from records that the marks include, none of which is of another run; a run that has read all of these from
  // the first one on has seen the id of every stored document.
  Result<bool> AddSums(Transaction& transaction, const std::string& collection, const Marks::Partitions& partitions) {
    std::array<bool, kPartitions> chosen{};
    for (const size_t partition : partitions) chosen[partition] = true;
    std::vector<Change> changes;
    std::vector<std::string> ids;
    for (const Group* const group : sorted_) {
      if (!chosen[group->partition]) continue;
      Change& change = changes.emplace_back(Change{.group = group});
      if (const typename Kind::Row* const known = KnownRow(*group); known != nullptr) {
        change = {.group = group, .row = *known, .stored = true};
      } else if (memory_.seen == nullptr || group->may_be_stored) {
        ids.push_back(group->id);
      }
    }
    BRAID_CHECK_OK(ReadStored(transaction, collection, ids, changes));
    for (Change& change : changes) {
      if (!change.stored && !Kind::kIsMetAgain) continue;
      if (!Kind::Apply(change.group->sum, change.row)) return false;
    }
    DocumentWrites writes(transaction, collection);
    for (const Change& change : changes) {
      BRAID_CHECK_OK(writes.Add(change.group->id, change.stored, [&](Documents& fields) {
        change.stored ? Kind::Write(change.row, fields) : Kind::Write(change.group->sum, fields);
      }));
    }
    BRAID_CHECK_OK(writes.Finish());
    if constexpr (Kind::kIsMetAgain) {
      for (Change& change : changes) {
        written_[change.group->partition].emplace_back(change.group->id, std::move(change.row));
      }
    }
    return true;
  }

  // Fills in the rows of these ids, which are in the order of the changes.
  Status ReadStored(Transaction& transaction, const std::string& collection, std::span<const std::string> ids,
                    std::span<Change> changes) const {
    std::unordered_map<std::string, typename Kind::Row> stored;
    BRAID_CHECK_OK(FindMany(transaction, collection, ids, [&](std::string_view id, const bson_t& document) {
      stored.emplace(id, Kind::Read(document));
    }));
    if (stored.empty()) return {};
    size_t met = 0;
    for (Change& change : changes) {
      const auto row = stored.find(change.group->id);
      if (row == stored.end()) continue;
      ++met;
      change.row = std::move(row->second);
      change.stored = true;
    }
    BRAID_ASSERT(met == stored.size());
    return {};
  }

  // What is due of the batches. False, and nothing is written, if nothing is.
  Result<bool> FoldOneByOne(Transaction& transaction, const std::string& collection,
                            const Marks::Partitions& partitions, const DueTest& due) const {
    const auto for_each_due = [&](const auto& call) {
      ForEachItem([&](const Item& item) {
        Kind::ForEach(item, [&](std::string_view key, std::string_view id, const typename Kind::Effect& effect) {
          const size_t partition = PartitionOf(key);
          if (partitions.contains(partition) && due(partition, item)) call(id, effect);
        });
      });
    };
    std::map<std::string, Row, std::less<>> rows;
    for_each_due([&](std::string_view id, const auto&) { rows.try_emplace(std::string(id)); });
    if (rows.empty()) return false;
    std::vector<std::string> ids;
    ids.reserve(rows.size());
    for (const auto& [id, row] : rows) ids.push_back(id);
    BRAID_CHECK_OK(FindMany(transaction, collection, ids, [&](std::string_view id, const bson_t& document) {
      const auto place = rows.find(id);
      BRAID_ASSERT(place != rows.end());
      place->second = {.row = Kind::Read(document), .stored = true};
    }));
    Status status;
    for_each_due([&](std::string_view id, const typename Kind::Effect& effect) {
      if (status.ok()) status = Kind::Fold(effect, rows.find(id)->second.row);
    });
    BRAID_CHECK_OK(status);
    DocumentWrites writes(transaction, collection);
    for (const auto& entry : rows) {
      const Row& row = entry.second;
      BRAID_CHECK_OK(writes.Add(entry.first, row.stored, [&](Documents& fields) { Kind::Write(row.row, fields); }));
    }
    BRAID_CHECK_OK(writes.Finish());
    return true;
  }

  RowMemory& memory_;
  bool addable_ = true;
  std::vector<Group> groups_;         // in the order in which they were met
  std::vector<Slot> slots_;           // a hash table of them, while they are gathered
  std::vector<const Group*> sorted_;  // by id
  std::array<bool, kPartitions> touched_{};
  std::array<std::vector<std::pair<std::string, typename Kind::Row>>, kPartitions> written_;  // not yet committed
};

// Effects that are new documents: nothing has to be read.
class ChangesOfTrades final : public ViewChanges {
 public:
  Status Apply(Transaction& transaction, const std::string& collection, const Marks::Partitions& partitions) override {
    std::array<bool, kPartitions> chosen{};
    for (const size_t partition : partitions) chosen[partition] = true;
    Marks::Partitions touched;
    for (const ItemOf& of : items_) {
      if (std::exchange(chosen[of.partition], false)) touched.insert(of.partition);
    }
    if (touched.empty()) return {};
    BRAID_TRY(Marks marks, Marks::LoadForChange(transaction, collection, touched));
    const DueTest due(marks, before());
    for (const size_t partition : touched) chosen[partition] = true;
    DocumentWrites writes(transaction, collection);
    bool any = false;
    std::string id;
    for (const ItemOf& of : items_) {
      if (!chosen[of.partition] || !due(of.partition, *of.item)) continue;
      any = true;
      const std::vector<TradeEffect>& trades = of.item->effects.trades;
      for (size_t i = 0; i < trades.size(); ++i) {
        Trades::MakeId(*of.item, i, id);
        BRAID_CHECK_OK(writes.Add(id, false, [&](Documents& fields) { Trades::Write(trades[i], *of.item, fields); }));
      }
    }
    if (!any) return {};
    BRAID_CHECK_OK(writes.Finish());
    return marks.Advance(transaction, touched, ends());
  }

 private:
  struct ItemOf {
    const Item* item;
    uint32_t partition;
  };

  void Gather(const Batch& batch) override {
    std::string id;
    for (const Item& item : batch.items) {
      if (item.effects.trades.empty()) continue;
      Trades::MakeKey(item, id);
      items_.push_back({&item, static_cast<uint32_t>(PartitionOf(id))});
    }
    // Nearly the order of ids: only the numbers of chains differ in it as texts.
    std::ranges::sort(items_, {}, [](const ItemOf& of) { return std::pair(of.item->chain, of.item->sequence); });
  }

  std::vector<ItemOf> items_;  // those with trades
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

void ViewChanges::Add(std::shared_ptr<const Batch> batch) {
  for (const auto& [chain, end] : batch->ends) ends_[chain] = end;
  Gather(*batches_.emplace_back(std::move(batch)));
}

std::unique_ptr<ViewChanges> ViewChanges::Make(View view, RowMemory& memory) {
  switch (view) {
    case View::kBalances: return std::make_unique<ChangesOf<Balances>>(memory);
    case View::kTrades: return std::make_unique<ChangesOfTrades>();
    case View::kOrders: return std::make_unique<ChangesOf<Orders>>(memory);
  }
  return nullptr;
}

}  // namespace braid::settlement::views
