// $limit and $skip: the first documents, and all but the first.
#include <algorithm>

#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"
#include "engine/language/match/operands.h"

namespace braid::query::pipeline {
namespace {

class Cut : public Stage {
 public:
  using Stage::Stage;
  bool JoinFront(Front& front) const override { return JoinWindow(front.window); }
  Needs CollectPaths(std::set<std::string>*) const override { return Needs::kMore; }
};

class Limit final : public Cut {
 public:
  Limit(std::string_view name, const bson::Value& specification, int64_t limit)
      : Cut(name, specification), limit_(limit), left_(limit) {}

  bool JoinWindow(Window& window) const override {
    window.limit = window.limit == 0 ? limit_ : std::min(window.limit, limit_);
    return true;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    if (left_ == 0) return false;
    --left_;
    return input().Next(context, document);
  }

 private:
  const int64_t limit_;
  int64_t left_;
};

class Skip final : public Cut {
 public:
  Skip(std::string_view name, const bson::Value& specification, int64_t skip)
      : Cut(name, specification), skip_(skip), left_(skip) {}

  bool JoinWindow(Window& window) const override {
    if (window.limit != 0 && window.limit <= skip_) return false;  // nothing is left, which a window cannot say
    int64_t together = 0;
    if (__builtin_add_overflow(window.skip, skip_, &together)) return false;
    window.skip = together;
    if (window.limit != 0) window.limit -= skip_;
    return true;
  }

 protected:
  Result<bool> Pull(txn::Context& context, bson::View* document) override {
    for (; left_ > 0; --left_) {
      BRAID_TRY(const bool more, input().Next(context, document));
      if (!more) return false;
    }
    return input().Next(context, document);
  }

 private:
  const int64_t skip_;
  int64_t left_;
};

Result<int64_t> AmountOf(std::string_view name, const bson::Value& specification, int code) {
  Result<int64_t> amount = NonNegativeInteger(name, specification);
  if (amount.ok()) return amount;
  return Status(Location(code), StrCat("invalid argument to ", name, " stage: ", amount.error().message()));
}

}  // namespace

Status ParseLimit(StageParser& parser, std::string_view name, const bson::Value& specification) {
  BRAID_TRY(const int64_t limit, AmountOf(name, specification, 5107201));
  if (limit == 0) return {Location(15958), "the limit must be positive"};
  parser.stages.push_back(std::make_unique<Limit>(name, specification, limit));
  return {};
}

Status ParseSkip(StageParser& parser, std::string_view name, const bson::Value& specification) {
  BRAID_TRY(const int64_t skip, AmountOf(name, specification, 5107200));
  parser.stages.push_back(std::make_unique<Skip>(name, specification, skip));
  return {};
}

}  // namespace braid::query::pipeline
