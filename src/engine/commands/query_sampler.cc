#include "engine/commands/query_sampler.h"

#include <algorithm>

#include "base/assert.h"
#include "base/mutex.h"
#include "base/random.h"

namespace braid::commands {
namespace {

constexpr uint8_t kUuidSubtype = 4;

}  // namespace

void QuerySampler::Recording::DropOldest() {
  BRAID_ASSERT(!samples.empty() && bytes >= samples.front().row.bytes().size());
  bytes -= samples.front().row.bytes().size();
  samples.pop_front();
}

void QuerySampler::Refill(Recording& recording) const {
  const auto now = clock_.Now();
  const double rate = recording.configuration.samples_per_second;
  const double earned = std::chrono::duration<double>(now - recording.refilled).count() * rate;
  recording.tokens = std::min(recording.tokens + earned, std::max(1.0, rate));
  recording.refilled = now;
}

void QuerySampler::CountActive() {
  const bool any = std::ranges::any_of(recordings_, [](const auto& entry) { return entry.second.configuration.full; });
  active_.store(any, std::memory_order_relaxed);
}

std::optional<SamplingConfiguration> QuerySampler::Configure(const catalog::Collection& collection,
                                                             const SamplingConfiguration& wanted) {
  const MutexLock lock(mu_);
  auto found = recordings_.find(collection.uuid);
  if (found == recordings_.end() && !wanted.full) return std::nullopt;
  const bool known = found != recordings_.end() && found->second.ns == collection.ns;
  if (found == recordings_.end()) found = recordings_.try_emplace(collection.uuid).first;
  Recording& recording = found->second;
  const SamplingConfiguration before = recording.configuration;
  if (wanted.full) {
    recording.ns = collection.ns;
    recording.state = collection.state;
    recording.configuration = wanted;
    recording.tokens = std::max(1.0, wanted.samples_per_second);
    recording.refilled = clock_.Now();
  } else {
    recording.configuration.full = false;
  }
  CountActive();
  return known && (before.full || wanted.full) ? std::optional(before) : std::nullopt;
}

size_t QuerySampler::Take(const catalog::Collection& collection, size_t wanted) {
  const MutexLock lock(mu_);
  const auto found = recordings_.find(collection.uuid);
  if (found == recordings_.end() || !found->second.configuration.full) return 0;
  Recording& recording = found->second;
  if (recording.ns != collection.ns) {  // renamed
    recording.configuration.full = false;
    CountActive();
    return 0;
  }
  Refill(recording);
  const size_t taken = std::min(wanted, static_cast<size_t>(recording.tokens));
  recording.tokens -= static_cast<double>(taken);
  return taken;
}

void QuerySampler::Add(const catalog::Collection& collection, std::string_view command, const bson::Document& details) {
  if (details.bytes().size() > kSampleBytesMax) return;
  Sample sample{.ns = collection.ns.ToString(), .expires_millis = clock_.NowMillis() + kKept.count(), .row = {}};
  bson::Builder row;
  row.Append("_id", bson::Binary{kUuidSubtype, MakeUuid()}).Append("ns", sample.ns);
  row.Append("collectionUuid", bson::Binary{kUuidSubtype, collection.uuid}).Append("cmdName", command);
  row.Append("cmd", details).Append("expireAt", bson::Date{sample.expires_millis});
  sample.row = row.Finish();

  const MutexLock lock(mu_);
  const auto found = recordings_.find(collection.uuid);
  if (found == recordings_.end()) return;
  Recording& recording = found->second;
  recording.bytes += sample.row.bytes().size();
  recording.samples.push_back(std::move(sample));
  while (recording.samples.size() > kSamplesMax || recording.bytes > kBytesMax) recording.DropOldest();
}

std::vector<bson::Document> QuerySampler::List(std::string_view ns) const {
  const int64_t now = clock_.NowMillis();
  std::vector<bson::Document> rows;
  const MutexLock lock(mu_);
  for (const auto& [uuid, recording] : recordings_) {
    for (const Sample& sample : recording.samples) {
      if (sample.expires_millis > now && (ns.empty() || sample.ns == ns)) rows.push_back(sample.row);
    }
  }
  return rows;
}

void QuerySampler::Sweep() {
  const int64_t now = clock_.NowMillis();
  const MutexLock lock(mu_);
  for (auto entry = recordings_.begin(); entry != recordings_.end();) {
    Recording& recording = entry->second;
    while (!recording.samples.empty() && recording.samples.front().expires_millis <= now) recording.DropOldest();
    if (recording.state->dropped) recording.configuration.full = false;
    const bool over = recording.samples.empty() && !recording.configuration.full;
    entry = over ? recordings_.erase(entry) : std::next(entry);
  }
  CountActive();
}

}  // namespace braid::commands
