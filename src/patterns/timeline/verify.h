// Verifier: one call of Timeline::Verify(). Goes up the chain, some epochs per transaction, and compares the documents
// of each with its record.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "braid/timeline.h"
#include "client/handles.h"
#include "patterns/timeline/state.h"

namespace braid::timeline {

/// An epoch with its documents, as Verify() finds them.
struct StoredEpoch {
  bool has_before = true;  // the record of the epoch before is there, or this is the first
  const EpochDocuments& documents;
  std::string_view computed_before;  // the digest of the epoch before, computed from the documents
};

/// Tells every difference to `damage` and gives the digest, computed from the documents.
std::string CheckDocuments(const TimelineOptions& options, const StoredEpoch& epoch, const Timeline::OnDamage& damage);

/// The most damages that are kept, for one epoch and in all.
inline constexpr int64_t kDamageMax = 1000;

/// Appends {field: {$gte: first, $lte: last}} to a filter.
inline void AppendRange(const char* field, int64_t first, int64_t last, client::Bson& filter) {
  client::Bson range;
  filter.Document(field, range.Integer("$gte", first).Integer("$lte", last));
}

class Verifier {
 public:
  Verifier(Clients& clients, const Timeline& timeline, const Timeline::CheckEpoch& check)
      : clients_(clients), timeline_(timeline), options_(timeline.options()), check_(check) {}
  Result<Timeline::Verification> Run(const std::function<void(int64_t)>& progress);

 private:
  /// An epoch that was looked at. If it was popped meanwhile, it does not count.
  struct Passed {
    int64_t number = 0;
    EpochState stored;   // its record; empty: there is none
    std::string digest;  // computed
    int64_t documents = 0;
    std::vector<TimelineDamage> damage;  // the first few
    int64_t damage_count = 0;
  };
  /// The findings of one transaction; reset at each of its runs.
  struct Step {
    size_t surviving = 0;  // of passed_
    std::vector<Passed> passed;
    std::vector<TimelineDamage> damage;  // of no epoch
    Head head;
    bool at_tip = false;
  };
  using DocumentsOf = std::map<int64_t, std::map<std::string, std::vector<Document>>>;

  Status TakeStep(Transaction& transaction, Step& step) const;
  Result<size_t> Surviving(Transaction& transaction) const;
  Result<std::vector<EpochState>> NextRecords(Transaction& transaction, int64_t first, int64_t tip) const;
  Result<DocumentsOf> LoadDocuments(Transaction& transaction, int64_t first, int64_t last) const;
  Result<Passed> Look(Transaction& transaction, const Passed* before, EpochState record, int64_t number,
                      DocumentsOf& documents) const;
  Status FindStrays(Transaction& transaction, Step& step) const;
  Status FindUnmarked(const std::string& collection);
  void Keep(Step step);
  void Count(const Passed& passed, int64_t sign);
  void Note(TimelineDamage damage);

  Clients& clients_;
  const Timeline& timeline_;
  const TimelineOptions& options_;
  const Timeline::CheckEpoch& check_;
  std::deque<Passed> passed_;  // those that may still be popped, and the newest
  Timeline::Verification found_;
};

}  // namespace braid::timeline
