// Stage: counting and explaining, alike for all stages.
#include "engine/exec/plan/stage.h"

#include "base/assert.h"

#include <limits>

namespace braid::query::plan {

Stage::Stage(ShardRun& run, std::string_view name, std::unique_ptr<Stage> input) : run_(run), name_(name) {
  if (input != nullptr) inputs_.push_back(std::move(input));
}

void Stage::Describe(bson::Builder&, bool) const {}

Result<bool> Stage::Counted(txn::Context& context, Row* row) {
  if (figures_.at_end) return false;
  Result<bool> more = Pull(context, row);
  ++figures_.works;
  if (!more.ok()) return more;
  if (*more) {
    ++figures_.advanced;
  } else {
    figures_.at_end = true;
  }
  return more;
}

Result<bool> Stage::Next(txn::Context& context, Row* row) {
  if (!run_.timed) return Counted(context, row);
  const auto start = std::chrono::steady_clock::now();
  Result<bool> more = Counted(context, row);
  figures_.time += std::chrono::steady_clock::now() - start;
  return more;
}

bson::Document Stage::Explain(bool executed) const {
  BRAID_ASSERT(!name_.empty() || inputs_.size() == 1);
  if (name_.empty()) return inputs_.front()->Explain(executed);
  bson::Builder out;
  out.Append("stage", name_);
  if (const Residual* residual = filter()) AppendFilter(*residual, out);
  if (executed) {
    AppendNumber(out, "nReturned", figures_.advanced);
    const auto millis = std::chrono::duration_cast<std::chrono::milliseconds>(figures_.time).count();
    AppendNumber(out, "executionTimeMillisEstimate", static_cast<uint64_t>(millis));
    // A unit of work advances, needs more time, or finds the end.
    AppendNumber(out, "works", figures_.works);
    AppendNumber(out, "advanced", figures_.advanced);
    AppendNumber(out, "needTime", figures_.works - figures_.advanced - (figures_.at_end ? 1 : 0));
    out.Append("needYield", 0).Append("saveState", 0).Append("restoreState", 0);
    out.Append("isEOF", figures_.at_end ? 1 : 0);
  }
  Describe(out, executed);
  if (inputs_.size() == 1) out.Append("inputStage", inputs_.front()->Explain(executed));
  if (inputs_.size() > 1) {
    out.OpenArray("inputStages");
    for (const auto& input : inputs_) out.AppendNext(input->Explain(executed));
    out.Close();
  }
  return out.Finish();
}

void AppendNumber(bson::Builder& out, std::string_view name, uint64_t number) {
  if (number <= static_cast<uint64_t>(std::numeric_limits<int32_t>::max())) {
    out.Append(name, static_cast<int32_t>(number));
  } else {
    out.Append(name, number);
  }
}

Result<bool> MeetsAll(const Residual& residual, bson::View document) {
  for (const MatchNode* node : residual) {
    BRAID_TRY(const bool met, node->Matches(document, nullptr));
    if (!met) return false;
  }
  return true;
}

void AppendFilter(const Residual& residual, bson::Builder& out) {
  if (residual.empty()) return;
  out.OpenObject("filter");
  if (residual.size() == 1) {
    residual.front()->AppendTo(out);
  } else {
    out.OpenArray("$and");
    for (const MatchNode* node : residual) {
      out.OpenNextObject();
      node->AppendTo(out);
      out.Close();
    }
    out.Close();
  }
  out.Close();
}

}  // namespace braid::query::plan
