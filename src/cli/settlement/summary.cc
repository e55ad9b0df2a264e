// The summary of `braid settlement ingest`: the number of each outcome, and the errors.
#include <algorithm>
#include <tuple>

#include "base/mutex.h"
#include "base/strings.h"
#include "cli/job_report.h"
#include "cli/settlement/actions.h"
#include "cli/settlement/ingest.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli::settlement {
namespace {

using braid::settlement::Answer;
using braid::settlement::kOutcomes;
using braid::settlement::NameOf;
using braid::settlement::Outcome;
using braid::settlement::Totals;

constexpr size_t kKeptMax = 1000;

client::Bson& AppendTotals(client::Bson& json, const Totals& totals) {
  for (size_t i = 0; i < kOutcomes; ++i) {
    json.Integer(std::string(NameOf(static_cast<Outcome>(i))).c_str(), static_cast<int64_t>(totals.counts[i]));
  }
  return json;
}

void AppendWriter(client::Bson& rows, size_t i, const ChainWriterFigures& writer) {
  client::Bson row;
  row.Integer("writer", writer.id);
  if (writer.own_chain) row.Integer("own_symbol_id", *writer.own_chain);
  row.Integer("symbols", static_cast<int64_t>(writer.chains))
      .Integer("records", writer.records)
      .Integer("commits", writer.commits)
      .Integer("retries", writer.retries);
  rows.Document(StrCat(i).c_str(), row);
}

}  // namespace

std::string Describe(const Totals& totals) {
  std::string text;
  for (size_t i = 0; i < kOutcomes; ++i) {
    text += StrCat(i > 0 ? ", " : "", totals.counts[i], " ", NameOf(static_cast<Outcome>(i)));
  }
  return text;
}

void Summary::Add(const std::string& source, const Answer& answer) {
  const MutexLock lock(mu_);
  ++totals_.counts[static_cast<size_t>(answer.outcome)];
  if (!answer.status.ok() && problems_.size() < kKeptMax) problems_.push_back({source, answer});
}

void Summary::AddProblem(const std::string& source, const Answer& answer) {
  const MutexLock lock(mu_);
  if (problems_.size() < kKeptMax) problems_.push_back({source, answer});
}

void Summary::SetStopped(const std::string& source, const Status& why) {
  const MutexLock lock(mu_);
  if (!why.ok()) stopped_ = Status(why.code(), StrCat(source == "-" ? "" : StrCat(source, ": "), why.message()));
}

Status Summary::stopped() const {
  const MutexLock lock(mu_);
  return stopped_;
}

void Summary::Add(const Totals& totals) {
  const MutexLock lock(mu_);
  for (size_t i = 0; i < kOutcomes; ++i) totals_.counts[i] += totals.counts[i];
}

Totals Summary::totals() const {
  const MutexLock lock(mu_);
  return totals_;
}

std::string Summary::ToString() const { return Describe(totals()); }

// Answers come in any order.
std::vector<Summary::Problem> Summary::Sorted() const {
  std::vector<Problem> sorted = problems_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.source, a.answer.number) < std::tie(b.source, b.answer.number);
  });
  return sorted;
}

void Summary::PrintProblems() const {
  const MutexLock lock(mu_);
  Reasons reasons;
  for (const auto& [source, answer] : Sorted()) {
    const std::string reason = StrCat(NameOf(answer.outcome), ": ", answer.status.message());
    if (!reasons.Add(reason)) continue;
    transfer::PrintLine(StrCat(source == "-" ? "" : source + ": ", "line ", answer.line, ": ", reason));
  }
  for (const std::string& line : reasons.Repeated()) transfer::PrintLine(line);
  const uint64_t stored = totals_[Outcome::kAccepted] + totals_[Outcome::kDuplicate];
  const uint64_t problems = totals_.sum() - stored;
  if (problems > problems_.size() && !problems_.empty()) {
    transfer::PrintLine(StrCat("… ", problems, " such lines in all"));
  }
}

void Summary::PrintJson(const std::vector<ChainWriterFigures>& writers, const Views* views, double seconds) const {
  const MutexLock lock(mu_);
  client::Bson problems;
  const std::vector<Problem> sorted = Sorted();
  for (size_t i = 0; i < sorted.size(); ++i) {
    const auto& [source, answer] = sorted[i];
    client::Bson problem;
    problem.Text("file", source)
        .Integer("line", static_cast<int64_t>(answer.line))
        .Integer("output_seq", answer.output_seq)
        .Integer("symbol_id", answer.symbol_id)
        .Text("outcome", NameOf(answer.outcome))
        .Text("reason", answer.status.message());
    problems.Document(StrCat(i).c_str(), problem);
  }
  client::Bson rows;
  for (size_t i = 0; i < writers.size(); ++i) AppendWriter(rows, i, writers[i]);
  client::Bson json;
  AppendTotals(json, totals_).Double("seconds", seconds).Array("problems", problems).Array("writers", rows);
  if (views != nullptr) AppendTo(json, *views);
  client::PrintJson(json);
}

Status Summary::ToStatus(bool elsewhere_matters) const {
  Totals counts = totals();
  if (!elsewhere_matters) counts.counts[static_cast<size_t>(Outcome::kElsewhere)] = 0;
  if (counts.all_stored()) return {};
  const uint64_t missing = counts.sum() - counts[Outcome::kAccepted] - counts[Outcome::kDuplicate];
  std::string text = StrCat(missing, " of ", counts.sum(), " outputs are not in the log");
  if (const Status why = stopped(); !why.ok()) {
    text += StrCat("\n", why.message(), "\ncorrect that line and give its file again from the first line on; ",
                   "`repair --unplaced` gives it up, and --skip-refused REASON passes over such lines");
  } else if (counts[Outcome::kRefused] + counts[Outcome::kHalted] > 0) {
    text +=
        "\n`braid settlement stats` names the halted symbols and the reasons: submit the refused outputs again, "
        "corrected, and those after them; `repair` lets a broken symbol continue";
  }
  if (counts[Outcome::kElsewhere] > 0)
    text += "\nthose of symbols that are leased to another service must be submitted there";
  if (counts[Outcome::kFailed] > 0) text += "\nthe store failed: submit the same outputs again, none is stored twice";
  return Status(Code::kOperationFailed, text);
}

}  // namespace braid::cli::settlement
