// Joining stages into a query, and counting in the place of a stage.
#include "engine/exec/pipeline/front.h"

#include "base/assert.h"

namespace braid::query::pipeline {
namespace {

bson::Document Conjunction(const std::vector<bson::Document>& matches) {
  if (matches.empty()) return {};
  if (matches.size() == 1) return matches.front();
  bson::Builder out;
  out.OpenArray("$and");
  for (const bson::Document& match : matches) out.AppendNext(match);
  out.Close();
  return out.Finish();
}

bool IncludesParent(const std::set<std::string>& paths, const std::string& path) {
  for (size_t dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1)) {
    if (paths.contains(path.substr(0, dot))) return true;
  }
  return false;
}

/// An inclusion of the paths that `stages` read; empty if they need whole documents.
bson::Document NeededFields(const std::vector<StagePtr>& stages) {
  std::set<std::string> paths;
  Needs needs = Needs::kMore;
  for (size_t i = 0; i < stages.size() && needs == Needs::kMore; ++i) needs = stages[i]->CollectPaths(&paths);
  if (needs != Needs::kOnly || paths.empty() || paths.contains("")) return {};
  bson::Builder out;
  bool id = false;
  for (const std::string& path : paths) {
    id = id || path == "_id" || path.starts_with("_id.");
    if (!IncludesParent(paths, path)) out.Append(path, 1);
  }
  if (!id) out.Append("_id", 0);
  return out.Finish();
}

}  // namespace

Result<Query> TakeFront(const PipelineOptions& options, std::vector<StagePtr>* stages) {
  Front front;
  size_t joined = 0;
  while (joined < stages->size() && (*stages)[joined]->JoinFront(front)) ++joined;
  stages->erase(stages->begin(), stages->begin() + static_cast<std::ptrdiff_t>(joined));

  Query query;
  query.collection = options.collection;
  query.environment = options.environment;
  query.hint = options.hint;
  query.hint_name = options.hint_name;
  query.explain = options.explain;
  BRAID_TRY(query.filter, Filter::Parse(Conjunction(front.matches), options.environment));
  query.sort = std::move(front.sort);
  query.skip = front.window.skip;
  query.limit = front.window.limit;
  query.projection = std::move(front.projection);
  query.projection_spec = std::move(front.projection_spec);
  if (query.projection != nullptr) return query;

  query.projection_spec = NeededFields(*stages);
  if (query.projection_spec.empty()) return query;
  auto needed = Projection::Parse(query.projection_spec, Projection::Use::kProject, nullptr, options.environment);
  if (!needed.ok()) return query;  // names that no projection can say: whole documents do as well
  query.projection = *std::move(needed);
  query.projection_optional = true;
  return query;
}

void NoteWindows(const std::vector<StagePtr>& stages) {
  for (size_t i = 0; i < stages.size(); ++i) {
    Window window;
    for (size_t next = i + 1; next < stages.size() && stages[next]->JoinWindow(window);) ++next;
    if (window.limit != 0) stages[i]->Expect(static_cast<uint64_t>(window.skip) + static_cast<uint64_t>(window.limit));
  }
}

Result<bool> Counted::Next(txn::Context& context, bson::View* document) {
  if (done_) return false;
  BRAID_ASSERT(stage_->counts());
  done_ = true;
  int64_t count = 0;
  if (query_.explain) {
    BRAID_CHECK_OK(Prepare(context));
    BRAID_TRY(executed_, ExplainCount(context, query_, true));
    count = executed_.count;
  } else {
    BRAID_TRY(count, query::Count(context, query_));
  }
  if (count == 0) return false;
  output_ = stage_->FromCount(count);
  *document = output_;
  return true;
}

Status Counted::Prepare(txn::Context& context) {
  BRAID_TRY(planned_, ExplainCount(context, query_, false));
  return {};
}

bson::Document Counted::ExplainStage(bool executed) const {
  bson::Builder out;
  out.AppendAll(stage_->Explain(false));
  if (executed) out.Append("nReturned", executed_.count > 0 ? 1 : 0);
  return out.Finish();
}

}  // namespace braid::query::pipeline
