#include "services/settlement/views/recovery.h"

#include <algorithm>
#include <chrono>

#include "base/strings.h"

namespace braid::settlement {
namespace {

// Enough for every chain to have its first damage in the list, whatever the others have.
constexpr uint32_t kDamageMax = 1'000'000;

class Stopwatch {
 public:
  double Seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class Recovery {
 public:
  Recovery(Views& views, const RecoverOptions& options) : views_(views), options_(options) {}

  Result<RecoverReport> Run() {
    BRAID_CHECK_OK(Verify());
    report_.failure = Apply();
    if (report_.verify.ok()) BRAID_CHECK_OK(report_.failure);
    return std::move(report_);
  }

 private:
  Status Apply() {
    BRAID_CHECK_OK(Replay());
    AddDamage(report_.replay.damage);
    return options_.check ? Check() : Status();
  }

  Status Verify() {
    const Stopwatch watch;
    int64_t total = 0;
    BRAID_TRY(const std::vector<ChainHead> heads, views_.chains().Heads());
    for (const ChainHead& head : heads) total += head.records;
    VerifyOptions verify;
    verify.threads = options_.threads;
    verify.damage_max = kDamageMax;
    verify.on_progress = [this, total](int64_t records) { Tell("verified", records, total); };
    BRAID_TRY(report_.verify, views_.chains().Verify(verify));
    report_.verify_seconds = watch.Seconds();
    for (const ChainDamage& damage : report_.verify.damage) {
      const auto [place, is_new] = follow_.stop_before.emplace(damage.chain, damage.sequence);
      if (!is_new) place->second = std::min(place->second, damage.sequence);
    }
    return {};
  }

  Status Replay() {
    const Stopwatch watch;
    if (options_.rebuild) {
      follow_.on_progress = [this](int64_t records) { Tell("applied", records, report_.verify.records); };
      BRAID_TRY(RebuildReport rebuilt, views_.Rebuild(kViews, follow_));
      Add(rebuilt.replay);
      report_.kept = std::move(rebuilt.kept);
    }
    // After a rebuild there is something to do only for a view that was kept.
    BRAID_TRY(const std::vector<ChainHead> heads, views_.chains().Heads());
    BRAID_TRY(const std::vector<ViewProgress> progress, views_.Progress(heads));
    int64_t behind = 0;
    for (const ViewProgress& view : progress) behind = std::max(behind, view.behind);
    follow_.on_progress = [this, behind](int64_t records) { Tell("applied", records, behind); };
    BRAID_TRY(const FollowReport followed, views_.Follow(follow_));
    Add(followed);
    report_.replay_seconds = watch.Seconds();
    return {};
  }

  Status Check() {
    const Stopwatch watch;
    FollowOptions check;
    check.on_progress = [this](int64_t records) {
      Tell("recounted", records, report_.verify.records * static_cast<int64_t>(std::size(kViews)));
    };
    BRAID_TRY(report_.check, views_.Check(check));
    AddDamage(report_.check->damage);
    report_.check_seconds = watch.Seconds();
    return {};
  }

  void Add(const FollowReport& report) {
    report_.replay.records += report.records;
    report_.replay.payload_bytes += report.payload_bytes;
    report_.replay.damage.insert(report_.replay.damage.end(), report.damage.begin(), report.damage.end());
  }

  // What verification has not named: it does not look into payloads.
  void AddDamage(const std::vector<ChainDamage>& damage) {
    for (const ChainDamage& one : damage) {
      std::vector<ChainDamage>& known = report_.verify.damage;
      const bool named = std::any_of(known.begin(), known.end(), [&](const ChainDamage& other) {
        return other.chain == one.chain && other.sequence <= one.sequence;
      });
      if (named) continue;
      known.push_back(one);
      ++report_.verify.damaged;
    }
  }

  void Tell(const std::string& done, int64_t records, int64_t total) const {
    if (options_.on_progress) options_.on_progress(done, records, total);
  }

  Views& views_;
  const RecoverOptions& options_;
  FollowOptions follow_;
  RecoverReport report_;
};

}  // namespace

Result<RecoverReport> Recover(Views& views, const RecoverOptions& options) { return Recovery(views, options).Run(); }

}  // namespace braid::settlement
