// $count: the number of documents under a name; gives no document if there are none.
#include "engine/exec/pipeline/stage.h"
#include "engine/exec/plan/stage.h"

namespace braid::query::pipeline {
namespace {

class Count final : public Stage {
 public:
  Count(std::string_view name, const bson::Value& specification)
      : Stage(name, specification), field_(specification.AsString()) {}

  Needs CollectPaths(std::set<std::string>*) const override { return Needs::kOnly; }
  bool counts() const override { return true; }
  bson::Document FromCount(int64_t count) const override {
    bson::Builder out;
    plan::AppendNumber(out, field_, static_cast<uint64_t>(count));
    return out.Finish();
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (counted_) return false;
    int64_t count = 0;
    for (;; ++count) {
      BRAID_CHECK_OK(context.Check());
      BRAID_TRY(const bool more, input().Next(context, document));
      if (!more) break;
    }
    counted_ = true;
    if (count == 0) return false;
    output_ = FromCount(count);
    *document = output_;
    return true;
  }

 private:
  const std::string field_;
  bool counted_ = false;
  bson::Document output_;
};

}  // namespace

Status ParseCount(StageParser& parser, std::string_view name, const bson::Value& specification) {
  if (!specification.Is(bson::Type::kString)) return {Location(40156), "the count field must be a non-empty string"};
  const std::string_view field = specification.AsString();
  if (field.empty()) return {Location(40157), "the count field must be a non-empty string"};
  if (field.front() == '$') return {Location(40158), "the count field cannot be a $-prefixed path"};
  if (field.find('\0') != field.npos) return {Location(40159), "the count field cannot contain a null byte"};
  if (field.find('.') != field.npos) return {Location(40160), "the count field cannot contain '.'"};
  parser.stages.push_back(std::make_unique<Count>(name, specification));
  return {};
}

}  // namespace braid::query::pipeline
