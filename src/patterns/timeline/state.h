// What a Timeline stores about itself, the head and one record per epoch: documents and structs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "braid/timeline.h"

namespace braid::timeline {

inline std::string HeadsOf(const TimelineOptions& options) { return options.name + "_head"; }
inline std::string EpochsOf(const TimelineOptions& options) { return options.name + "_epochs"; }
inline std::string ReorganisationsOf(const TimelineOptions& options) { return options.name + "_reorgs"; }

/// An epoch beyond the tip that is being added in several transactions.
struct Growing {
  int64_t epoch = 0;
  std::string token;  // of the Grow() that adds it: a process that removes the mark ends that Grow()
  int64_t parts = 0;  // stored so far
};

/// Epochs that were popped since the last Grow().
struct Popped {
  int64_t depth = 0;
  int64_t number = 0;  // of the one popped last
  std::string hash;    // of the same
  int64_t old_number = 0;
  std::string old_hash;  // of the tip before
};

/// The one document that changes: {_id: "head", epoch, hash, parent, documents, lengths, sums, digest, first, final,
/// reorganised, growing?: {epoch, token, parts}, removing?, reorg?: {…}}. Every transaction that changes anything
/// changes it, so that two of them collide.
struct Head {
  EpochState tip;
  int64_t first = -1;        // the number of the first epoch; -1: there has never been one
  int64_t final_epoch = -1;  // the newest epoch that cannot be popped; -1: none
  int64_t reorganised = 0;   // when the last reorganisation was recorded, in milliseconds
  std::optional<Growing> growing;
  std::optional<int64_t> removing;  // the number of an epoch beyond the tip whose documents are being removed
  std::optional<Popped> popped;

  /// Nothing is left over beyond the tip.
  bool clean() const { return !growing && !removing; }
};

/// kRecordDamaged if there is none.
Result<Head> ReadHead(Transaction& transaction, const TimelineOptions& options);
Status WriteHead(Transaction& transaction, const TimelineOptions& options, const Head& head);

/// The state that a record of {name}_epochs holds.
EpochState StateOfRecord(const bson_t& record);
Status InsertRecords(Transaction& transaction, const TimelineOptions& options,
                     std::span<const EpochState* const> states);
/// An empty state if there is no record of this number.
Result<EpochState> ReadRecord(Transaction& transaction, const TimelineOptions& options, int64_t number);

/// Both say the same in every field.
bool SameStates(const EpochState& a, const EpochState& b);

/// kInterrupted if the options' `stop` is set.
Status CheckStop(const TimelineOptions& options);

}  // namespace braid::timeline
