// braid settlement recover: verify every chain, then bring the views up to it (C5, C8).
#include <fmt/format.h>

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/settlement/actions.h"
#include "cli/transfer/progress.h"
#include "services/settlement/views/follower.h"
#include "services/settlement/views/recovery.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::CheckReport;
using braid::settlement::Recover;
using braid::settlement::RecoverOptions;
using braid::settlement::RecoverReport;
using braid::settlement::ViewDifference;
using braid::settlement::Views;
using braid::settlement::ViewsOptions;

struct RecoverArgs {
  Common common;
  uint32_t workers = 4;
  RecoverOptions recover;
};

// The latest figures, for the progress line's thread.
class ReplayFigures {
 public:
  void Set(const std::string& done, int64_t records, int64_t total) {
    const MutexLock lock(mu_);
    if (done != done_) pace_ = Pace();
    done_ = done;
    records_ = records;
    total_ = total;
  }

  // "[######....] 600000 of 1000000 records verified, 1 200 000/s, 60 %, 1 s left"; the bar only on a terminal.
  std::string ToString() {
    constexpr int kWidth = 30;
    const MutexLock lock(mu_);
    if (total_ <= 0) return StrCat(records_, " records ", done_, ", ", pace_.ToString(records_, std::nullopt));
    const double part = std::min(1.0, static_cast<double>(records_) / static_cast<double>(total_));
    const std::string text = StrCat(records_, " of ", total_, " records ", done_, ", ", pace_.ToString(records_, part));
    if (isatty(STDERR_FILENO) == 0) return text;
    const auto full = static_cast<size_t>(part * kWidth);
    return fmt::format("[{:.<{}}] {}", std::string(full, '#'), kWidth, text);
  }

 private:
  Mutex mu_;
  std::string done_ BRAID_GUARDED_BY(mu_) = "verified";
  int64_t records_ BRAID_GUARDED_BY(mu_) = 0;
  int64_t total_ BRAID_GUARDED_BY(mu_) = 0;
  Pace pace_ BRAID_GUARDED_BY(mu_);
};

double PerSecond(int64_t count, double seconds) { return seconds > 0 ? static_cast<double>(count) / seconds : 0; }

void AppendCheck(client::Bson& json, const CheckReport& check) {
  client::Bson differences;
  for (size_t i = 0; i < check.differences.size(); ++i) {
    const ViewDifference& difference = check.differences[i];
    client::Bson one;
    one.Text("view", NameOf(difference.view))
        .Text("id", difference.id)
        .Text("expected", difference.expected)
        .Text("found", difference.found);
    differences.Document(StrCat(i).c_str(), one);
  }
  client::Bson part;
  part.Bool("ok", check.ok())
      .Integer("documents", check.documents)
      .Integer("differences_total", check.differences_total)
      .Array("differences", differences);
  json.Document("check", part);
}

void PrintRecoveryJson(const RecoverReport& report) {
  client::Bson verified;
  AppendTo(verified, report.verify);
  client::Bson json;
  json.Bool("ok", report.ok());  // of everything, not of the verification alone
  bson_copy_to_excluding_noinit(verified.get(), json.get(), "ok", nullptr);
  json.Integer("applied_records", report.replay.records)
      .Double("verify_seconds", report.verify_seconds)
      .Double("apply_seconds", report.replay_seconds)
      .Double("seconds", report.verify_seconds + report.replay_seconds + report.check_seconds)
      .Double("records_per_second", PerSecond(report.verify.records, report.verify_seconds + report.replay_seconds))
      .Texts("not_rebuilt", report.kept);
  if (!report.failure.ok()) json.Text("failure", report.failure.message());
  if (report.check) AppendCheck(json, *report.check);
  client::PrintJson(json);
}

void PrintRecovery(const RecoverReport& report) {
  PrintText(report.verify);
  std::printf(
      "verified: %s in %.1f s, %.0f records/s, %s/s\n",
      transfer::Bytes(static_cast<uint64_t>(report.verify.payload_bytes)).c_str(), report.verify_seconds,
      PerSecond(report.verify.records, report.verify_seconds),
      transfer::Bytes(static_cast<uint64_t>(PerSecond(report.verify.payload_bytes, report.verify_seconds))).c_str());
  std::printf("applied: %lld records in %.1f s, %.0f records/s\n", static_cast<long long>(report.replay.records),
              report.replay_seconds, PerSecond(report.replay.records, report.replay_seconds));
  for (const std::string& why : report.kept) std::printf("not rebuilt: %s\n", why.c_str());
  if (!report.check) return;
  for (size_t i = 0; i < std::min(kShownMax, report.check->differences.size()); ++i) {
    const ViewDifference& difference = report.check->differences[i];
    std::printf("%s %s: the log says %s, the view %s\n", NameOf(difference.view), difference.id.c_str(),
                difference.expected.empty() ? "nothing" : difference.expected.c_str(),
                difference.found.empty() ? "nothing" : difference.found.c_str());
  }
  if (report.check->ok()) {
    std::printf("checked: %lld documents agree with the log\n", static_cast<long long>(report.check->documents));
  }
}

Status StatusOf(const RecoverReport& report) {
  if (!report.failure.ok()) {
    return report.failure.CausedBy(StrCat(report.verify.damaged, " damaged, and the views could not be updated"));
  }
  if (!report.verify.ok() || !report.kept.empty()) {
    return Status(Code::kRecordDamaged, StrCat(report.verify.damaged,
                                               " damaged; --json names all of it. A damaged symbol is applied only up "
                                               "to the record before its first damage, the others to their ends"));
  }
  if (report.check && !report.check->ok()) {
    return Status(Code::kOperationFailed, StrCat(report.check->differences_total,
                                                 " documents differ from the log; --rebuild rebuilds the views"));
  }
  return {};
}

// In a read-only store the views cannot be updated, but the damage of the log can still be reported. The store is
// opened again: reads of a store in this process would wait in vain for the failed write to become durable.
Status VerifyAlone(std::unique_ptr<Clients>& clients, const RecoverArgs& args, const Status& why) {
  clients.reset();
  BRAID_TRY(clients, OpenStoreFor(args.common.store, StoreUse::kExisting));
  BRAID_TRY(const std::unique_ptr<Chains> chains, OpenLog(*clients, args.common));
  RecoverReport report;
  BRAID_TRY(report.verify, VerifyWithProgress(*chains, {.threads = args.recover.threads}));
  report.failure = why;
  args.common.json ? PrintRecoveryJson(report) : PrintRecovery(report);
  return StatusOf(report);
}

Status RunRecover(RecoverArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.common.store, {.stop = &stop, .json = args.common.json});
  BRAID_TRY(std::unique_ptr<Clients> clients, OpenStoreFor(args.common.store, StoreUse::kExisting));
  ViewsOptions options;
  options.database = args.common.options.database;
  options.log = args.common.options.log;
  options.workers = args.workers;
  options.stop = &stop;
  BRAID_CHECK_OK(OpenLog(*clients, args.common));
  const auto opened = Views::Open(*clients, options);
  if (opened.status().code() == Code::kStoreReadOnly) return VerifyAlone(clients, args, opened.error());
  BRAID_CHECK_OK(opened);
  Views& views = **opened;
  ReplayFigures figures;
  args.recover.on_progress = [&](const std::string& done, int64_t records, int64_t total) {
    figures.Set(done, records, total);
  };
  RecoverReport report;
  {
    const transfer::Progress line([&] { return figures.ToString(); }, false);
    BRAID_TRY(report, Recover(views, args.recover));
  }
  args.common.json ? PrintRecoveryJson(report) : PrintRecovery(report);
  return StatusOf(report);
}

}  // namespace

Action SetUpRecover(CLI::App& app) {
  const auto args = std::make_shared<RecoverArgs>();
  AddCommonOptions(app, args->common);
  app.add_flag("--rebuild", args->recover.rebuild,
               "Builds every view again from the first output on, beside the present one.");
  app.add_flag("--check", args->recover.check, "Finally recomputes every view from the log and compares.");
  AddWorkersOption(app, "-j,--workers", args->workers);
  return [args] { return RunRecover(*args); };
}

}  // namespace braid::cli::settlement
