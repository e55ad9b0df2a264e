#include "services/explorer/source/sync.h"

#include <algorithm>
#include <thread>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "client/fields.h"
#include "services/explorer/source/node_source.h"
#include "services/explorer/source/range.h"

namespace braid::explorer::source {
namespace {

using Clocks = std::chrono::steady_clock;
using std::chrono::milliseconds;

// The most epochs per call of Take(); a transaction takes as many of them as fit.
constexpr size_t kBatchEpochsMax = 256;
constexpr size_t kBatchBytesMax = size_t{16} << 20;
constexpr milliseconds kWaitSlice{20};
constexpr milliseconds kContradictionPause{50};
constexpr int64_t kForkStep = 16;

}  // namespace

Status SyncOptions::Validate() const {
  BRAID_CHECK_OK(CheckRange("first_epoch", first_epoch, 0, int64_t{1} << 40));
  BRAID_CHECK_OK(CheckRange("depth_max", depth_max, 1, int64_t{1} << 40));
  BRAID_CHECK_OK(CheckRange("parallel", static_cast<int64_t>(parallel), 1, 64));
  return CheckRange("poll", poll.count(), 1, 3'600'000);
}

void Sync::Note(const std::function<void(SyncFigures&)>& change) {
  SyncFigures figures;
  {
    const MutexLock lock(mu_);
    SyncFigures& own = meter_.figures;
    change(own);
    own.retries = static_cast<int64_t>(source_.figures().retries);
    own.updated_ms = explorer_.options().clock->NowMillis();
    meter_.Measure(Clocks::now());
    figures = own;
  }
  if (options_.on_figures) options_.on_figures(figures);
}

SyncFigures Sync::figures() const {
  const MutexLock lock(mu_);
  return meter_.figures;
}

Status Sync::Wait(milliseconds time) {
  for (; time.count() > 0; time -= kWaitSlice) {
    if (stopped()) break;
    std::this_thread::sleep_for(std::min(time, kWaitSlice));
  }
  return stopped() ? Status(Code::kInterrupted, "interrupted") : Status();
}

// The newest epochs of the store, `count` of them or as many as there are.
Result<Sync::Stored> Sync::ReadStored(int64_t count) {
  Stored stored;
  PageRequest request{.limit = std::min(count, kRowsMax)};
  for (;;) {
    BRAID_TRY(const Page page, explorer_.Pivots(request));
    stored.tip = page.at;
    for (const client::BsonPtr& row : page.rows) {
      stored.pivots[client::IntegerOf(row.get(), "epoch")] = client::TextOf(row.get(), "hash");
    }
    stored.whole = page.next.empty();
    if (stored.whole || static_cast<int64_t>(stored.pivots.size()) >= count) return stored;
    request = {.at = page.at.pivot, .after = page.next, .limit = kRowsMax};
  }
}

// The newest epoch that the store and the node have in common.
Result<int64_t> Sync::FindFork(Stored& stored, int64_t newest) {
  BRAID_TRY(stored, ReadStored(options_.depth_max + std::max<int64_t>(source_.options().receipts_after, 0) + 2));
  if (stored.pivots.empty()) return Status(Code::kTimelineFork, "the index was emptied in the meantime");
  const int64_t tip = stored.tip.epoch;
  const int64_t oldest = std::max(stored.pivots.begin()->first, tip - options_.depth_max);
  int64_t step = kForkStep;
  for (int64_t top = std::min(tip, newest); top >= oldest; top -= step, step *= 2) {
    const int64_t bottom = std::max(oldest, top - step + 1);
    BRAID_TRY(const std::vector<std::string> pivots, source_.Pivots(bottom, top - bottom + 1));
    BRAID_ASSERT(static_cast<int64_t>(pivots.size()) == top - bottom + 1);
    for (int64_t number = top; number >= bottom; --number) {
      if (pivots[static_cast<size_t>(number - bottom)] == stored.pivots[number]) return number;
    }
  }
  if (stored.whole && oldest == stored.pivots.begin()->first) {
    return Status(Code::kTimelineFork, StrCat("the node's chain and the stored one, epochs ", oldest, " to ", tip,
                                              ", have no epoch in common: is it a node of the same network?"));
  }
  return Status(
      Code::kTimelineFork,
      StrCat("the node has replaced more than ", options_.depth_max, " epochs below ", tip, " (", stored.tip.pivot,
             "); nothing was changed. Check the node; if it is right, allow a deeper switch"));
}

// The epoch to go on with; nothing if the node has nothing new.
Result<std::optional<int64_t>> Sync::NextEpoch(Stored& stored, int64_t newest) {
  if (stored.pivots.empty()) {
    if (newest < options_.first_epoch) return std::optional<int64_t>();
    return std::optional(options_.first_epoch);
  }
  // If the node is far behind, wait for it.
  if (newest < stored.tip.epoch - options_.depth_max) return std::optional<int64_t>();
  const int64_t common = std::min(stored.tip.epoch, newest);
  std::optional<int64_t> next;
  const auto known = stored.pivots.find(common);
  bool same = false;
  if (known != stored.pivots.end()) {
    BRAID_TRY(const std::vector<std::string> pivots, source_.Pivots(common, 1));
    same = pivots[0] == known->second;
  }
  if (same) {
    next = stored.tip.epoch + 1;
  } else {
    BRAID_TRY(const int64_t fork, FindFork(stored, newest));
    next = fork + 1;
  }
  return *next <= newest ? next : std::optional<int64_t>();
}

Status Sync::TakeBatch(std::vector<Epoch>& batch) {
  std::span<const Epoch> rest(batch);
  while (!rest.empty()) {
    if (stopped()) return Status(Code::kInterrupted, "interrupted");
    const Result<Explorer::Taken> result = explorer_.Take(rest);
    if (!result.ok()) {
      // They fitted a moment ago, so another process has changed the chain.
      const Code code = result.error().code();
      const bool is_changed = code == Code::kTimelineFork || code == Code::kTimelineGap;
      return is_changed ? Status(Code::kWriteConflict, std::string(result.error().message())) : result.error();
    }
    const Explorer::Taken& taken = *result;
    const auto count = static_cast<size_t>(taken.taken);
    BRAID_ASSERT(count > 0 && count <= rest.size());
    failing_ = false;
    int64_t transactions = 0;
    for (const Epoch& epoch : rest.first(count)) transactions += static_cast<int64_t>(epoch.transaction_count());
    rest = rest.subspan(count);
    Note([&](SyncFigures& figures) {
      figures.tip = taken.tip;
      figures.grown += taken.grown;
      figures.popped += taken.popped;
      figures.switches += taken.popped > 0 ? 1 : 0;
      figures.deepest = std::max(figures.deepest, taken.popped);
      figures.transactions += transactions;
    });
  }
  batch.clear();
  return {};
}

// Whether an epoch follows those that are known, and its receipts are of the same chain.
Status Sync::CheckFits(const FetchedEpoch& fetched, const std::map<int64_t, std::string>& pivots, bool is_first) {
  const int64_t number = fetched.epoch.number;
  const auto parent = pivots.find(number - 1);
  if (parent == pivots.end() ? !is_first : parent->second != fetched.epoch.parent_hash) {
    return Status(Code::kProtocolError, StrCat("the node's epoch ", number, " does not follow its epoch ", number - 1));
  }
  if (fetched.executed < 0 || fetched.executed == number) return {};
  const auto executed = pivots.find(fetched.executed);
  if (executed != pivots.end() && executed->second == fetched.executed_pivot) return {};
  source_.Forget(fetched.executed);
  return Status(Code::kProtocolError,
                StrCat("the node's receipts of epoch ", fetched.executed, " are of another branch"));
}

// Fetches and takes epochs first … newest, which follow `pivots`.
Status Sync::TakeFrom(int64_t first, int64_t newest, std::map<int64_t, std::string>& pivots) {
  BRAID_ASSERT(first <= newest);
  const bool is_first = pivots.empty();
  const int64_t oldest = is_first ? first : pivots.begin()->first;
  source_.ForgetFrom(first);
  FetchAhead ahead(source_, {.first = first, .last = newest, .oldest = oldest, .threads = options_.parallel});
  std::vector<Epoch> batch;
  size_t bytes = 0;
  for (;;) {
    Result<std::optional<FetchedEpoch>> next = ahead.Next(batch.empty());
    Status failure = next.status();
    const bool is_there = next.ok() && next->has_value();
    if (is_there) failure = CheckFits(**next, pivots, is_first && (*next)->epoch.number == first);
    if (is_there && failure.ok()) {
      Epoch& epoch = (*next)->epoch;
      pivots[epoch.number] = epoch.pivot_hash;
      bytes += epoch.bytes;
      batch.push_back(std::move(epoch));
      if (batch.size() < kBatchEpochsMax && bytes < kBatchBytesMax) continue;  // more epochs may have arrived
    }
    if (batch.empty()) return failure;  // or OK, at the end
    BRAID_CHECK_OK(TakeBatch(batch));
    bytes = 0;
    BRAID_CHECK_OK(failure);
  }
}

// True if something was taken in, false if there was nothing new.
Result<bool> Sync::Round() {
  BRAID_TRY(const int64_t newest, source_.Newest());
  BRAID_TRY(Stored stored, ReadStored(std::max<int64_t>(source_.options().receipts_after, 0) + kForkStep));
  BRAID_TRY(const std::optional<int64_t> next, NextEpoch(stored, newest));
  Note([&](SyncFigures& figures) {
    figures.tip = stored.tip;
    figures.node_epoch = newest;
    figures.state = next ? "catching up" : "following";
    figures.error.clear();
  });
  const int64_t last = std::min(newest, options_.until.value_or(newest));
  if (!next || *next > last) return false;
  // The epochs that stay, which the new ones follow.
  stored.pivots.erase(stored.pivots.lower_bound(*next), stored.pivots.end());
  BRAID_CHECK_OK(TakeFrom(*next, last, stored.pivots));
  return true;
}

// The node contradicts itself, or another process has changed the chain: worth another round, but not forever.
Status Sync::Endure(const Status& failure) {
  const bool passes = IsInconsistent(failure) || failure.code() == Code::kOperationFailed ||
                      failure.code() == Code::kBadValue || failure.code() == Code::kWriteConflict;
  if (!passes) return failure;
  const auto now = Clocks::now();
  if (!std::exchange(failing_, true)) failing_since_ = now;
  if (now - failing_since_ >= options_.patience) return failure;
  Note([&](SyncFigures& figures) {
    ++figures.inconsistent;
    figures.state = "waiting";
    figures.error = failure.message();
  });
  return Wait(kContradictionPause);
}

bool Sync::IsDone(int64_t newest) {
  const MutexLock lock(mu_);
  const SyncFigures& figures = meter_.figures;
  if (options_.until && figures.tip.epoch >= *options_.until) return true;
  return options_.once && figures.tip.epoch >= newest;
}

Status Sync::Run() {
  BRAID_CHECK_OK(options_.Validate());
  BRAID_CHECK_OK(source_.options().Validate());
  Note([&](SyncFigures& figures) {
    figures.node = source_.options().rpc.address.ToString();
    figures.state = "catching up";
  });
  Status status;
  while (status.ok()) {
    const Result<bool> progressed = Round();
    if (stopped()) {
      status = Status(Code::kInterrupted, "interrupted");
    } else if (!progressed.ok()) {
      status = Endure(progressed.error());
    } else {
      failing_ = false;
      if (!*progressed) {
        if (IsDone(figures().node_epoch)) break;
        status = Wait(options_.poll);
      }
    }
  }
  const bool failed = !status.ok() && status.code() != Code::kInterrupted;
  Note([&](SyncFigures& figures) {
    figures.state = failed ? "failed" : "ended";
    figures.error = failed ? std::string(status.message()) : std::string();
  });
  return status;
}

}  // namespace braid::explorer::source
