#include "engine/commands/profiler.h"

#include "base/log.h"
#include "base/mutex.h"

namespace braid::commands {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

Profiler::Profiler(txn::Shared& shared, const ProfilerOptions& options)
    : logs_(options.logs), slow_millis_(options.slow_millis), random_(RandomSeed()), writer_(shared) {}

const Profiler::Own* Profiler::Find(std::string_view database) const {
  const auto found = own_.find(database);
  return found == own_.end() ? nullptr : &found->second;
}

ProfileSettings Profiler::Get(std::string_view database) const {
  ProfileSettings settings{.slow_millis = slow_millis_, .sample_rate = sample_rate_};
  const ReaderLock lock(mu_);
  if (const Own* own = Find(database)) {
    settings.level = own->level;
    settings.filter = own->filter_text;
  }
  return settings;
}

Status Profiler::Set(std::string_view database, const ProfileSettings& settings) {
  Own own{.level = settings.level, .filter_text = settings.filter};
  if (settings.filter) {
    BRAID_TRY(own.filter, query::Filter::Parse(own.filter_text->view(), nullptr));
  }
  slow_millis_ = settings.slow_millis;
  sample_rate_ = settings.sample_rate;
  const WriterLock lock(mu_);
  if (own.level == 0 && !own.filter_text) {
    own_.erase(std::string(database));
  } else {
    own_.insert_or_assign(std::string(database), std::move(own));
  }
  any_ = !own_.empty();
  return {};
}

void Profiler::Forget(std::string_view database) {
  {
    const WriterLock lock(mu_);
    own_.erase(std::string(database));
    any_ = !own_.empty();
  }
  writer_.Forget(database);
}

steady_clock::time_point Profiler::RecordedFrom(std::string_view database, steady_clock::time_point started) const {
  const steady_clock::time_point slow = started + milliseconds(slow_millis_.load(std::memory_order_relaxed));
  if (any_.load(std::memory_order_relaxed)) {
    const ReaderLock lock(mu_);
    if (const Own* own = Find(database)) return own->level == 2 || own->filter_text ? started : slow;
  }
  return logs_ ? slow : steady_clock::time_point::max();
}

bool Profiler::IsSampled() {
  const double rate = sample_rate_;
  if (rate >= 1) return true;
  const MutexLock lock(random_mu_);
  return random_.Unit() < rate;
}

void Profiler::Record(const OperationRecord& record) {
  const std::string_view database = record.operation.database;
  if (record.ns() == std::string(database).append(".").append(kProfileCollection)) return;
  const bool slow = record.duration >= milliseconds(slow_millis_.load()) && IsSampled();
  int level = 0;
  std::optional<query::Filter> filter;
  if (any_.load(std::memory_order_relaxed)) {
    const ReaderLock lock(mu_);
    if (const Own* own = Find(database)) {
      level = own->level;
      if (own->filter_text) filter = own->filter;
    }
  }
  if (!filter) {
    if (logs_ && slow) LogSlowOperation(record);
    if (level == 2 || (level == 1 && slow)) writer_.Add(std::string(database), ProfileEntry(record));
    return;
  }
  bson::Document entry = ProfileEntry(record);
  const Result<bool> matches = filter->Matches(entry);
  if (!matches.ok() || !*matches) return;
  if (logs_) LogSlowOperation(record);
  if (level > 0) writer_.Add(std::string(database), std::move(entry));
}

}  // namespace braid::commands
