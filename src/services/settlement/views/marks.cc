#include "services/settlement/views/marks.h"

#include <algorithm>
#include <charconv>
#include <deque>

#include "base/assert.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "patterns/chains/hash.h"

namespace braid::settlement::views {
namespace {

using client::Bson;

constexpr const char* kMoving = "moving";

std::string FloorId(const std::string& collection) { return StrCat(collection, ":floor"); }
std::string PartitionId(const std::string& collection, size_t partition) { return StrCat(collection, ":", partition); }

std::vector<std::string> IdsOf(const std::string& collection, const Marks::Partitions& partitions) {
  std::vector<std::string> ids = {FloorId(collection)};
  for (const size_t partition : partitions) {
    BRAID_ASSERT(partition < kPartitions);
    ids.push_back(PartitionId(collection, partition));
  }
  return ids;
}

int64_t ToInteger(std::string_view text) {
  int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// Calls `each` for every chain of a mark.
template <typename Each>
void ForEachChain(const bson_t& document, const Each& each) {
  bson_iter_t field;
  bson_iter_t chain;
  if (!bson_iter_init_find(&field, &document, "chains") || !bson_iter_recurse(&field, &chain)) return;
  while (bson_iter_next(&chain)) each(ToInteger(bson_iter_key(&chain)), chain);
}

Positions ReadFloor(const bson_t& document) {
  Positions floor;
  ForEachChain(document, [&](int64_t chain, const bson_iter_t& value) {
    uint32_t size = 0;
    const uint8_t* bytes = nullptr;
    bson_t position;
    bson_iter_document(&value, &size, &bytes);
    if (bytes == nullptr || !bson_init_static(&position, bytes, size)) return;
    Position& place = floor[chain];
    place.sequence = client::IntegerOf(&position, "seq");
    place.records = client::IntegerOf(&position, "records");
    const std::string_view hash = client::BinaryOf(&position, "hash");
    std::copy_n(hash.begin(), std::min(hash.size(), place.hash.size()), place.hash.begin());
  });
  return floor;
}

Status Replaced() { return Status(Code::kConflictingOperationInProgress, "the view was replaced by a rebuilt one"); }

Status Set(Transaction& transaction, std::span<const std::pair<std::string, const Bson*>> marks) {
  std::deque<Bson> parts;
  std::vector<Transaction::Update> updates;
  for (const auto& [id, fields] : marks) {
    const Bson& filter = parts.emplace_back().Text("_id", id);
    const Bson& change = parts.emplace_back().Document("$set", *fields);
    updates.push_back({.filter = filter.get(), .change = change.get()});
  }
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(kMarks, updates));
  return matched.matched == static_cast<int64_t>(marks.size()) ? Status() : Replaced();
}

}  // namespace

size_t PartitionOf(std::string_view key) {
  uint64_t hash = 0xcbf2'9ce4'8422'2325;
  for (const char c : key) hash = (hash ^ static_cast<uint8_t>(c)) * 0x0000'0100'0000'01b3;
  return (hash ^ hash >> 32) % kPartitions;
}

Marks::Partitions Marks::All() {
  Partitions all;
  for (size_t i = 0; i < kPartitions; ++i) all.insert(i);
  return all;
}

Status Marks::Create(Transaction& transaction, const std::string& collection) {
  std::deque<Bson> documents;
  std::vector<const bson_t*> inserts;
  const Bson none;
  for (const std::string& id : IdsOf(collection, All())) {
    Bson& document = documents.emplace_back();
    document.Text("_id", id).Integer("applied_seq", 0).Document("chains", none);
    inserts.push_back(document.get());
  }
  return transaction.Insert(kMarks, inserts);
}

Result<Marks> Marks::Load(Transaction& transaction, const std::string& collection, const Partitions& partitions) {
  Marks marks;
  marks.collection_ = collection;
  const std::vector<std::string> ids = IdsOf(collection, partitions);
  size_t found = 0;
  BRAID_CHECK_OK(transaction.FindIds(kMarks, ids, [&](const bson_t& document) {
    ++found;
    const std::string_view id = client::TextOf(&document, "_id");
    if (id == ids.front()) {
      marks.floor_ = ReadFloor(document);
      marks.moving_ = bson_has_field(&document, kMoving);
      return Status();
    }
    auto& own = marks.own_[static_cast<size_t>(ToInteger(id.substr(collection.size() + 1)))];
    ForEachChain(document, [&](int64_t chain, const bson_iter_t& value) { own[chain] = bson_iter_as_int64(&value); });
    return Status();
  }));
  if (found == ids.size()) return marks;
  return Replaced();
}

Status Marks::Remove(Transaction& transaction, const std::string& collection) {
  Bson in;
  in.Texts("$in", IdsOf(collection, All()));
  Bson filter;
  filter.Document("_id", in);
  return transaction.Remove(kMarks, filter.get());
}

Result<Marks> Marks::LoadForChange(Transaction& transaction, const std::string& collection,
                                   const Partitions& partitions) {
  BRAID_TRY(Marks marks, Load(transaction, collection, partitions));
  if (marks.moving_) return Replaced();
  return marks;
}

Status Marks::Move(Transaction& transaction, const std::string& from, const std::string& to) {
  const std::vector<std::string> ids = IdsOf(from, All());
  std::deque<Bson> moved;
  BRAID_CHECK_OK(transaction.FindIds(kMarks, ids, [&](const bson_t& document) {
    const std::string_view id = client::TextOf(&document, "_id");
    Bson& copy = moved.emplace_back();
    copy.Text("_id", StrCat(to, id.substr(from.size())));
    bson_copy_to_excluding_noinit(&document, copy.get(), "_id", nullptr);
    if (id == ids.front()) copy.Bool(kMoving, true);
    return Status();
  }));
  if (moved.size() != ids.size()) return Replaced();
  BRAID_CHECK_OK(Remove(transaction, from));
  BRAID_CHECK_OK(Remove(transaction, to));
  std::vector<const bson_t*> inserts;
  inserts.reserve(moved.size());
  for (const Bson& document : moved) inserts.push_back(document.get());
  return transaction.Insert(kMarks, inserts);
}

Status Marks::Settle(Transaction& transaction, const std::string& collection) {
  Bson filter;
  filter.Text("_id", FloorId(collection));
  Bson field;
  field.Integer(kMoving, 1);
  Bson change;
  change.Document("$unset", field);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  return transaction.UpdateOnes(kMarks, {&update, 1}).status();
}

int64_t Marks::Applied(size_t partition, int64_t chain) const {
  const int64_t floor = SequenceOf(floor_, chain);
  const auto own = own_.find(partition);
  if (own == own_.end()) return floor;
  const auto place = own->second.find(chain);
  return place == own->second.end() ? floor : std::max(floor, place->second);
}

bool Marks::IsWithin(const Positions& positions) const {
  return std::ranges::all_of(Highest(),
                             [&](const auto& entry) { return entry.second <= SequenceOf(positions, entry.first); });
}

std::map<int64_t, int64_t> Marks::Highest() const {
  std::map<int64_t, int64_t> highest;
  for (const auto& [chain, position] : floor_) highest[chain] = position.sequence;
  for (const auto& [partition, own] : own_) {
    for (const auto& [chain, sequence] : own) highest[chain] = std::max(highest[chain], sequence);
  }
  return highest;
}

// Chains that the floor has caught up with are left out, so that marks stay small.
Status Marks::Advance(Transaction& transaction, const Partitions& partitions, const Positions& ends) {
  std::deque<Bson> documents;
  std::vector<std::pair<std::string, const Bson*>> updates;
  BRAID_ASSERT(!collection_.empty() && !moving_);  // nothing is applied while marks are being moved
  for (const size_t partition : partitions) {
    BRAID_ASSERT(partition < kPartitions);
    std::map<int64_t, int64_t>& own = own_[partition];
    for (const auto& [chain, end] : ends) own[chain] = std::max(own[chain], end.sequence);
    std::erase_if(own, [&](const auto& entry) { return entry.second <= SequenceOf(floor_, entry.first); });
    Bson chains;
    int64_t highest = 0;
    for (const auto& [chain, sequence] : own) {
      chains.Integer(StrCat(chain).c_str(), sequence);
      highest = std::max(highest, sequence);
    }
    Bson& document = documents.emplace_back();
    document.Integer("applied_seq", highest).Document("chains", chains);
    updates.emplace_back(PartitionId(collection_, partition), &document);
  }
  return Set(transaction, updates);
}

Status Marks::RaiseFloor(Transaction& transaction, const Positions& ends) {
  BRAID_ASSERT(!collection_.empty() && !moving_);
  Bson fields;
  int64_t highest = 0;
  bool raised = false;
  for (const auto& [chain, position] : floor_) highest = std::max(highest, position.sequence);
  for (const auto& [chain, end] : ends) {
    if (end.sequence <= SequenceOf(floor_, chain)) continue;  // another process was faster
    raised = true;
    highest = std::max(highest, end.sequence);
    floor_[chain] = end;
    Bson position;
    position.Integer("seq", end.sequence).Binary("hash", chains::TextOf(end.hash)).Integer("records", end.records);
    fields.Document(StrCat("chains.", chain).c_str(), position);
  }
  if (!raised) return {};
  fields.Integer("applied_seq", highest);
  const std::pair<std::string, const Bson*> mark(FloorId(collection_), &fields);
  return Set(transaction, {&mark, 1});
}

}  // namespace braid::settlement::views
