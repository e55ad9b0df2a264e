// CheckDocuments: whether the documents of an epoch are what its record says.
#include "patterns/timeline/verify.h"

#include <algorithm>
#include <set>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/timeline/state.h"
#include "patterns/timeline/sums.h"

namespace braid::timeline {
namespace {

using SumsByName = std::map<std::string, std::string>;

SumsByName SumsOfEntry(const bson_t& entry) {
  SumsByName sums;
  bson_iter_t field;
  bson_iter_t sum;
  if (!bson_iter_init_find(&field, &entry, "sums") || !bson_iter_recurse(&field, &sum)) return sums;
  while (bson_iter_next(&sum)) {
    sums[bson_iter_key(&sum)] = BSON_ITER_HOLDS_UTF8(&sum) ? bson_iter_utf8(&sum, nullptr) : "";
  }
  return sums;
}

SumsByName SumsOfState(const EpochState& state, const std::string& list) {
  const std::string prefix = list + ".";
  SumsByName sums;
  for (auto sum = state.sums.lower_bound(prefix); sum != state.sums.end() && sum->first.starts_with(prefix); ++sum) {
    sums[sum->first.substr(prefix.size())] = sum->second;
  }
  return sums;
}

// Compares one epoch, collection by collection.
class EpochCheck {
 public:
  EpochCheck(const TimelineOptions& options, const StoredEpoch& epoch, const Timeline::OnDamage& damage)
      : options_(options), epoch_(epoch), state_(epoch.documents.state), damage_(damage) {}

  std::string Run() {
    DocumentSum sum;
    int64_t documents = 0;
    for (const auto& [collection, all] : epoch_.documents.documents) {
      for (const Document& document : all) sum.Add(collection, document);
      documents += static_cast<int64_t>(all.size());
    }
    const DigestInput computed{
        .before = epoch_.computed_before, .number = state_.number, .hash = state_.hash, .documents = sum};
    if (documents != state_.documents) {
      Damage(
          StrCat("it has ", documents, " documents; its record in ", EpochsOf(options_), " says ", state_.documents));
    }
    if (epoch_.has_before) {
      CheckParent();
      CheckLists();
      DigestInput stored = computed;
      stored.before = epoch_.documents.before.digest;
      if (DigestOf(stored) != state_.digest) {
        Damage(
            StrCat("its documents and its record in ", EpochsOf(options_), " do not give its digest ", state_.digest));
      }
    }
    return DigestOf(computed);
  }

 private:
  void Damage(std::string what) const { damage_({.epoch = state_.number, .what = std::move(what)}); }

  void CheckParent() const {
    const EpochState& before = epoch_.documents.before;
    if (before.empty() || before.hash == state_.parent) return;
    Damage(StrCat(EpochsOf(options_), " ", state_.number, ": its parent is ", state_.parent, ", but epoch ",
                  before.number, " is ", before.hash));
  }

  void CheckLists() const {
    std::set<std::string> lists;
    for (const auto& [list, length] : epoch_.documents.before.lengths) lists.insert(list);
    for (const auto& [list, length] : state_.lengths) lists.insert(list);
    for (const std::string& list : lists) CheckList(list);
  }

  // Every position from the length before to the length after, and the sums of the last one are those of the record.
  void CheckList(const std::string& list) const {
    const int64_t begin = epoch_.documents.before.LengthOf(list);
    const int64_t end = state_.LengthOf(list);
    std::map<int64_t, const bson_t*> entries;
    const auto stored = epoch_.documents.documents.find(list);
    if (stored != epoch_.documents.documents.end()) {
      for (const Document& entry : stored->second) {
        entries.emplace(client::IntegerOf(entry.get(), "_id"), entry.get());
      }
    }
    for (const auto& [position, entry] : entries) {
      if (position < begin || position >= end) Damage(StrCat(list, " ", position, ": there should be no such entry"));
    }
    if (end < begin) Damage(StrCat(list, ": it has ", end, " entries, and ", begin, " before"));
    int64_t missing = 0;
    for (int64_t position = begin; position < end && missing < 100; ++position) {
      if (entries.contains(position)) continue;
      Damage(StrCat(list, " ", position, ": this entry is missing"));
      ++missing;
    }
    const SumsByName sums = SumsOfState(state_, list);
    const auto last = entries.find(end - 1);
    const bool unchanged = begin == end;
    if (!unchanged && last == entries.end()) return;
    if (sums == (unchanged ? SumsOfState(epoch_.documents.before, list) : SumsOfEntry(*last->second))) return;
    Damage(StrCat(list, " ", end - 1, ": its running sums are not those of the epoch's record"));
  }

  const TimelineOptions& options_;
  const StoredEpoch& epoch_;
  const EpochState& state_;
  const Timeline::OnDamage& damage_;
};

}  // namespace

std::string CheckDocuments(const TimelineOptions& options, const StoredEpoch& epoch, const Timeline::OnDamage& damage) {
  return EpochCheck(options, epoch, damage).Run();
}

}  // namespace braid::timeline
