// FetchAhead: fetches epochs of a node on several threads and returns them in order.
#include "services/explorer/source/node_source.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutex.h"

namespace braid::explorer::source {

FetchAhead::FetchAhead(NodeSource& source, const FetchAheadOptions& options)
    : source_(source), options_(options), to_fetch_(options.first), to_give_(options.first) {
  const auto threads = std::min(static_cast<int64_t>(options.threads), options.last - options.first + 1);
  for (int64_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

FetchAhead::~FetchAhead() {
  {
    const MutexLock lock(mu_);
    ended_ = true;
    changed_.NotifyAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

// Under mu_. The epoch that is to be given next is never held back.
bool FetchAhead::MayFetch() const {
  if (to_fetch_ == to_give_) return true;
  return to_fetch_ < to_give_ + options_.epochs_max && bytes_ < options_.bytes_max;
}

void FetchAhead::Work() {
  MutexLock lock(mu_);
  for (;;) {
    changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return ended_ || to_fetch_ > options_.last || MayFetch(); });
    if (ended_ || to_fetch_ > options_.last) return;
    const int64_t number = to_fetch_++;
    lock.Unlock();
    Result<FetchedEpoch> fetched = source_.Fetch(number, options_.oldest);
    lock.Lock();
    if (fetched.ok()) {
      bytes_ += fetched->epoch.bytes;
    } else {
      to_fetch_ = options_.last + 1;
    }
    BRAID_ASSERT(!ready_.contains(number));  // each epoch is fetched once
    ready_.emplace(number, std::move(fetched));
    changed_.NotifyAll();
  }
}

Result<std::optional<FetchedEpoch>> FetchAhead::Next(bool wait) {
  MutexLock lock(mu_);
  if (to_give_ > options_.last) return std::optional<FetchedEpoch>();
  if (wait) changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return ready_.contains(to_give_); });
  auto found = ready_.extract(to_give_);
  if (found.empty()) return std::optional<FetchedEpoch>();
  if (!found.mapped().ok()) {
    to_give_ = options_.last + 1;
    return found.mapped().error();
  }
  ++to_give_;
  BRAID_ASSERT(bytes_ >= found.mapped()->epoch.bytes);
  bytes_ -= found.mapped()->epoch.bytes;
  changed_.NotifyAll();
  return std::optional(*std::move(found.mapped()));
}

}  // namespace braid::explorer::source
