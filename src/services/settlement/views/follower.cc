#include "services/settlement/views/follower.h"

#include <algorithm>

#include "base/assert.h"
#include "base/backoff.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::settlement {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Status CheckWait(const char* name, milliseconds wait) {
  if (wait.count() >= 1 && wait.count() <= 60'000) return {};
  return Status(Code::kBadValue, StrCat(name, " is ", wait.count(), " ms, not in 1..60000"));
}

bool Same(const std::vector<ChainHead>& a, const std::vector<ChainHead>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ChainHead& one, const ChainHead& other) {
    return one.chain == other.chain && one.sequence == other.sequence && one.hash == other.hash;
  });
}

}  // namespace

Status FollowerOptions::Validate() const {
  BRAID_CHECK_OK(CheckWait("interval", interval));
  BRAID_CHECK_OK(CheckWait("retry_first", retry_first));
  return CheckWait("retry_most", retry_most);
}

Result<std::unique_ptr<Follower>> Follower::Start(Clients& clients, ViewsOptions views,
                                                  const FollowerOptions& options) {
  BRAID_CHECK_OK(options.Validate());
  std::unique_ptr<Follower> follower(new Follower(options));
  views.stop = &follower->stop_;
  BRAID_TRY(follower->views_, Views::Open(clients, views));
  follower->thread_ = std::thread([self = follower.get()] { self->Run(); });
  return follower;
}

Follower::~Follower() { Stop(); }

void Follower::Stop() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
  }
  wake_.NotifyAll();
  if (thread_.joinable()) thread_.join();
}

Status Follower::CatchUp(const CatchUpOptions& options) {
  constexpr milliseconds kLookEvery(50);  // a signal handler can set `stop`, but not wake us
  MutexLock lock(mu_);
  patience_ = options.patience;
  impatient_since_ = steady_clock::now();
  wake_.NotifyAll();
  while (!wake_.WaitFor(lock, kLookEvery, [this]() BRAID_REQUIRES(mu_) { return ended_; })) {
    if (options.stop == nullptr || !options.stop->load()) continue;
    stop_ = true;
    wake_.NotifyAll();
  }
  return outcome_;
}

bool Follower::ended() const {
  const MutexLock lock(mu_);
  return ended_;
}

FollowerFigures Follower::figures() const {
  const MutexLock lock(mu_);
  return figures_;
}

std::vector<ChainDamage> Follower::damage() const {
  const MutexLock lock(mu_);
  std::vector<ChainDamage> all;
  for (const auto& [chain, damage] : damage_) all.push_back(damage);
  return all;
}

Result<std::vector<ViewProgress>> Follower::Progress() {
  BRAID_TRY(const std::vector<ChainHead> heads, views_->chains().Heads());
  return views_->Progress(heads);
}

void Follower::Run() {
  Backoff backoff(options_.retry_first, options_.retry_most);
  Status outcome(Code::kInterrupted, "stopped; the next one continues from there");
  while (!stop_.load()) {
    const auto begin = steady_clock::now();
    MutexLock lock(mu_);
    const bool last = patience_.has_value();  // this pass sees everything that is durable now
    lock.Unlock();
    const Status passed = Pass();
    if (stop_.load()) break;
    if (!passed.ok()) NoteFailure(passed);
    const Status found = health();
    lock.Lock();
    if (passed.ok()) {
      figures_.last_error.clear();
      backoff.Reset();
    }
    const bool hopeless = !passed.ok() && !views_->chains().clients().MayRecover(passed);
    if (hopeless || (last && (passed.ok() || steady_clock::now() - impatient_since_ >= *patience_))) {
      outcome = passed.ok() ? found : passed;
      break;
    }
    // The interval counts between the beginnings of two passes, so that a long pass is followed by the next at once.
    const auto next = passed.ok() ? begin + options_.interval : steady_clock::now() + backoff.Next();
    wake_.WaitUntil(lock, next, [&]() BRAID_REQUIRES(mu_) { return stop_.load() || (patience_ && !last); });
  }
  const MutexLock lock(mu_);
  BRAID_ASSERT(!ended_);
  outcome_ = outcome;
  ended_ = true;
  wake_.NotifyAll();
}

// One look at the log, and everything that is new applied.
Status Follower::Pass() {
  BRAID_TRY(std::vector<ChainHead> heads, views_->chains().Heads());
  if (!HasNews(heads)) return {};
  seen_.clear();
  BRAID_CHECK_OK(NoteProgress(heads));
  BRAID_TRY(const FollowReport report, FollowSound());
  BRAID_CHECK_OK(NoteProgress(heads));
  NoteDamage(report.damage);
  seen_ = std::move(heads);
  seen_at_ = steady_clock::now();
  return {};
}

// A damaged chain may have been repaired without a new record, so it is read again now and then.
bool Follower::HasNews(const std::vector<ChainHead>& heads) const {
  if (!Same(heads, seen_)) return true;
  const MutexLock lock(mu_);
  return !damage_.empty() && steady_clock::now() - seen_at_ >= options_.retry_most;
}

// Follows all views that can be followed. A view that cannot is left out from then on: otherwise every pass would read
// its missing records again.
Result<FollowReport> Follower::FollowSound() {
  for (;;) {
    FollowOptions follow;
    MutexLock lock(mu_);
    for (const auto& [view, why] : stuck_) follow.without.insert(view);
    const FollowerFigures before = figures_;
    lock.Unlock();
    follow.on_progress = [&](int64_t records) {
      const MutexLock guard(mu_);
      figures_.records = before.records + records;
      figures_.behind = std::max<int64_t>(0, before.behind - records);
    };
    bool stuck = false;
    follow.on_failure = [&](View view, const Status& why) {
      if (why.code() != Code::kOverflow) return;
      stuck = true;
      NoteStuck(view, why);
    };
    auto report = views_->Follow(follow);
    if (report.ok() || !stuck) return report;
  }
}

Status Follower::NoteProgress(const std::vector<ChainHead>& heads) {
  BRAID_TRY(const std::vector<ViewProgress> views, views_->Progress(heads));
  int64_t behind = 0;
  std::optional<int64_t> applied_seq;
  for (const ViewProgress& progress : views) {
    behind = std::max(behind, progress.behind);
    applied_seq = std::min(applied_seq.value_or(progress.applied_seq), progress.applied_seq);
  }
  const MutexLock lock(mu_);
  figures_.behind = behind;
  figures_.applied_seq = applied_seq.value_or(0);
  return {};
}

void Follower::NoteDamage(const std::vector<ChainDamage>& damage) {
  std::map<int64_t, ChainDamage> now;
  for (const ChainDamage& one : damage) now.emplace(one.chain, one);
  std::vector<ChainDamage> news;
  {
    const MutexLock lock(mu_);
    for (const auto& [chain, one] : now) {
      if (!damage_.contains(chain)) news.push_back(one);
    }
    damage_ = std::move(now);
  }
  if (!options_.on_damage) return;
  for (const ChainDamage& one : news) options_.on_damage(one);
}

void Follower::NoteFailure(const Status& why) {
  {
    const MutexLock lock(mu_);
    ++figures_.failures;
    const bool begins = figures_.last_error.empty();
    figures_.last_error = why.ToString();
    if (!begins) return;
    impatient_since_ = steady_clock::now();
  }
  if (options_.on_failure) options_.on_failure(why);
}

void Follower::NoteStuck(View view, const Status& why) {
  {
    const MutexLock lock(mu_);
    stuck_.emplace(view, why);
  }
  if (options_.on_failure) options_.on_failure(why);
}

Status Follower::health() const {
  const MutexLock lock(mu_);
  if (!stuck_.empty()) return stuck_.begin()->second;
  if (damage_.empty()) return {};
  const ChainDamage& first = damage_.begin()->second;
  return Status(Code::kRecordDamaged, StrCat(damage_.size(), " symbols cannot be applied to their ends: symbol ",
                                             first.chain, ", output ", first.sequence, ": ", first.what));
}

}  // namespace braid::settlement
