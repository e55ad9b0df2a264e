// The marks of a view: which records its documents include (see views.h).
#pragma once

#include <array>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "braid/transaction.h"
#include "services/settlement/views/log_reader.h"

namespace braid::settlement::views {

inline constexpr const char* kMarks = "settlement_views";
inline constexpr size_t kPartitions = 64;  // never changes: stored marks depend on it

/// The partition of a user, an order or a trade's record (FNV-1a). Must never change, because stored marks depend on
/// it.
size_t PartitionOf(std::string_view key);

/// The marks of some partitions as one transaction sees them. `collection` names the view's generation.
class Marks {
 public:
  using Partitions = std::set<size_t>;
  static Partitions All();

  /// Inserts those of a generation that begins.
  static Status Create(Transaction& transaction, const std::string& collection);
  /// kConflictingOperationInProgress if the generation has no marks: another one has replaced it.
  static Result<Marks> Load(Transaction& transaction, const std::string& collection, const Partitions& partitions);
  /// As Load(). The same error while the documents that the marks are of are being moved to their place.
  static Result<Marks> LoadForChange(Transaction& transaction, const std::string& collection,
                                     const Partitions& partitions);
  /// Makes transactions fail that have read the marks and not committed yet: afterwards nothing more is written to the
  /// collection.
  static Status Remove(Transaction& transaction, const std::string& collection);
  /// Puts the marks of the collection `from` in place of those of `to`, as being moved until Settle(). Transactions
  /// that have read either and not committed yet will fail.
  static Status Move(Transaction& transaction, const std::string& from, const std::string& to);
  static Status Settle(Transaction& transaction, const std::string& collection);

  /// How much of a chain the partition's documents include.
  int64_t Applied(size_t partition, int64_t chain) const;
  const Positions& floor() const { return floor_; }
  /// Whether the loaded partitions have nothing beyond these positions.
  bool IsWithin(const Positions& positions) const;
  /// The highest of all loaded partitions, by chain.
  std::map<int64_t, int64_t> Highest() const;

  /// Notes that these partitions include everything up to `ends`.
  Status Advance(Transaction& transaction, const Partitions& partitions, const Positions& ends);
  /// Notes the same for every partition.
  Status RaiseFloor(Transaction& transaction, const Positions& ends);

 private:
  std::string collection_;
  Positions floor_;
  bool moving_ = false;
  std::map<size_t, std::map<int64_t, int64_t>> own_;  // of each loaded partition, beyond the floor
};

}  // namespace braid::settlement::views
