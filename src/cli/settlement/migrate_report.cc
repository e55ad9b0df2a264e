// The progress of a migration, as JSON and as text.
#include <cstdio>

#include "base/strings.h"
#include "cli/settlement/migrate.h"

namespace braid::cli::settlement {

using braid::settlement::migration::CompareReport;
using braid::settlement::migration::NameOf;
using braid::settlement::migration::Phase;
using braid::settlement::migration::ReadsChains;
using braid::settlement::migration::State;

namespace {

std::string NextStep(const State& state, bool has_old_table) {
  switch (state.phase) {
    case Phase::kNone:
    case Phase::kRolledBack: return "`preflight` to see whether a migration can begin, or `run` to begin";
    case Phase::kPreflight:
    case Phase::kDualWrite:
    case Phase::kBackfill:
    case Phase::kVerify: return "`run` continues; `rollback` gives up";
    case Phase::kVerified: return "`switch` makes readers read the new chains; `rollback` gives up";
    case Phase::kSwitching: return "`switch` completes the switch that was begun";
    case Phase::kSwitched: return "`drop --yes` removes the old table; `rollback` goes back to it, nothing is lost";
    case Phase::kDropping: return "`drop --yes` completes the drop that was begun";
    case Phase::kDropped:
      if (has_old_table) return "`drop --yes` removes the old table";
      if (state.mirrored_seq < state.seq) {
        return "`drop --yes`, or the next write, completes what a killed writer left in the queue";
      }
      return "nothing: the migration is over";
  }
  return "";
}

}  // namespace

client::Bson& AppendTo(client::Bson& json, const State& state, bool has_old_table) {
  client::Bson history;
  for (size_t i = 0; i < state.history.size(); ++i) {
    client::Bson change;
    change.Text("phase", state.history[i].phase).Integer("at_ms", state.history[i].at);
    if (!state.history[i].why.empty()) change.Text("why", state.history[i].why);
    history.Document(StrCat(i).c_str(), change);
  }
  return json.Text("phase", NameOf(state.phase))
      .Text("reads", ReadsChains(state.phase) ? "chains" : "old_table")
      .Integer("outputs", state.outputs)
      .Integer("output_seq", state.seq)
      .Integer("mirrored_outputs", state.mirrored_outputs)
      .Integer("mirrored_seq", state.mirrored_seq)
      .Integer("verified_seq", state.verified_seq)
      .Bool("old_table_exists", has_old_table)
      .Text("why", state.why)
      .Text("next", NextStep(state, has_old_table))
      .Array("history", history);
}

void AppendTo(client::Bson& json, const CompareReport& report) {
  client::Bson differences;
  for (size_t i = 0; i < report.differences.size(); ++i) {
    client::Bson one;
    one.Integer("symbol_id", report.differences[i].symbol_id)
        .Integer("output_seq", report.differences[i].output_seq)
        .Text("what", report.differences[i].what);
    differences.Document(StrCat(i).c_str(), one);
  }
  client::Bson verify;
  verify.Bool("ok", report.ok())
      .Integer("old_outputs", report.old_outputs)
      .Integer("new_outputs", report.new_outputs)
      .Integer("differences_total", report.differences_total)
      .Array("differences", differences);
  json.Document("verify", verify);
}

void PrintText(const State& state, bool has_old_table) {
  const std::string since = state.history.empty() ? "" : StrCat(" since ", Time(state.history.back().at));
  std::printf("phase       %s%s\n", std::string(NameOf(state.phase)).c_str(), since.c_str());
  std::printf("outputs     %lld, the newest is %lld\n", static_cast<long long>(state.outputs),
              static_cast<long long>(state.seq));
  std::printf("new chains  %lld outputs, up to %lld; compared up to %lld\n",
              static_cast<long long>(state.mirrored_outputs), static_cast<long long>(state.mirrored_seq),
              static_cast<long long>(state.verified_seq));
  std::printf("readers     read the %s\n", ReadsChains(state.phase) ? "new chains" : "old table");
  if (!state.why.empty()) std::printf("because     %s\n", state.why.c_str());
  std::printf("next        %s\n", NextStep(state, has_old_table).c_str());
}

}  // namespace braid::cli::settlement
