// Once: effects that happen exactly once per key and calculation, however often and in whatever pieces they are asked
// for (A4, A5).
//
//   BRAID_TRY(const Once once, Once::Open({.database = "example", .collection = "seen", .calculations = {"views"}}));
//   Status status = RunTransaction(*store, {.database = "example"}, [&](Transaction& transaction) -> Status {
//     BRAID_TRY(const auto claimed, once.Claim(transaction, events));   // events: std::vector<std::string>
//     for (size_t i = 0; i < events.size(); ++i) {
//       if (claimed[i].missing != 0) BRAID_CHECK_OK(CountView(transaction, events[i]));  // not a duplicate
//     }
//     return {};
//   });
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "braid/transaction.h"

namespace braid {

/// The most calculations that there can be.
inline constexpr size_t kCalculationsMax = 31;

struct OnceOptions {
  std::string database;
  /// {_id: "{key}:{state}", calculation: true, …}; a missing field means "not yet done", so that a calculation can be
  /// added without touching old documents.
  std::string collection = "stats_lock";
  /// Field names of the flags. Bit i of every mask below stands for the i-th.
  std::vector<std::string> calculations;

  Status Validate() const;  ///< OK, or which calculation's name is not a valid field name, or that there are too many
};

/// The flags that record which effects were done. Use it inside the transaction that makes the effects: then flag and
/// effect are committed together or not at all, and of two transactions that claim the same effect one is run again and
/// finds it done. Any thread. Holds only its options: it may be copied, and nothing has to be closed. Every error is an
/// error of the store.
class Once {
 public:
  struct Claimed {
    /// Calculations that the caller must do now, in this transaction; 0: a duplicate.
    uint32_t missing = 0;
    /// The key was known before: some of it was done, or it was awaited.
    bool known = false;
  };
  /// kBadValue if the options are not valid. Does not access the store: the first claim creates the collection.
  static Result<Once> Open(OnceOptions options);

  uint32_t all() const { return (uint32_t{1} << options_.calculations.size()) - 1; }

  /// Returns for each id what the caller has to do, and marks it as done. An id that occurs twice in `ids` is a
  /// duplicate the second time. Thousands of ids cost a handful of commands.
  Result<std::vector<Claimed>> Claim(Transaction& transaction, std::span<const std::string> ids) const;
  /// The same, only for the calculations in masks[i].
  Result<std::vector<Claimed>> Claim(Transaction& transaction, std::span<const std::string> ids,
                                     std::span<const uint32_t> masks) const;

  /// The calculations that are done for each id; changes nothing.
  Result<std::vector<uint32_t>> Done(Transaction& transaction, std::span<const std::string> ids) const;

  /// Makes the ids known without doing anything for them, so that a later Claim() says `known`.
  Status Await(Transaction& transaction, std::span<const std::string> ids) const;

  /// Calls `each` with batches of ids for which a calculation of `mask` is not done: to back-fill one that was added
  /// later. What `each` does is its own transaction; ids that it leaves undone are not shown again.
  Status ForEachMissing(Clients& clients, uint32_t mask, size_t batch,
                        const std::function<Status(std::span<const std::string> ids)>& each) const;

  /// The calculations that a document of the collection says are done.
  uint32_t FlagsOf(const Document& document) const;

  const OnceOptions& options() const { return options_; }

 private:
  explicit Once(OnceOptions options) : options_(std::move(options)) {}

  OnceOptions options_;
};

}  // namespace braid
