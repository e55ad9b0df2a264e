// Updates made of operators: their paths form one tree, which is applied in one pass.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/bson/validate.h"
#include "engine/language/update/apply.h"
#include "engine/language/update/kinds.h"
#include "engine/language/update/operators.h"
#include "engine/language/update/storage_rules.h"

namespace braid::update {
namespace {

class OperatorUpdate final : public Update {
 public:
  static Result<std::unique_ptr<const Update>> Parse(bson::View specification, const Options& options,
                                                     const EnvironmentPtr& environment);

  Result<std::optional<bson::Document>> Apply(bson::View document, const query::MatchDetails& details) const override {
    ApplyContext context{.before = document, .environment = *environment_, .array_index = details.array_index};
    BRAID_TRY(std::optional<bson::Document> after, Run(context));
    if (after.has_value()) BRAID_CHECK_OK(CheckUpdatedSize(*after));
    return after;
  }

  Result<bson::Document> Upsert(const query::Filter& filter) const override {
    BRAID_TRY(bson::Document base, BaseFromFilter(filter));
    ApplyContext context{.before = base, .environment = *environment_, .inserting = true};
    BRAID_TRY(std::optional<bson::Document> after, Run(context));
    if (after.has_value()) base = *std::move(after);
    BRAID_CHECK_OK(CheckId(base.Find("_id")));
    base = WithIdFirst(std::move(base), {});
    BRAID_CHECK_OK(CheckUpsertedSize(base));
    return base;
  }

  bool needs_position() const override { return needs_position_; }

 private:
  /// Nullopt if nothing changes. Except for its size the result is fit to be stored.
  Result<std::optional<bson::Document>> Run(ApplyContext& context) const {
    if (root_ == nullptr) return std::optional<bson::Document>();
    constexpr size_t kRoomForGrowth = 256;
    std::string buffer;
    buffer.reserve(context.before.size() + kRoomForGrowth);
    bson::Builder out(std::move(buffer));
    BRAID_CHECK_OK(Applier(filters_, context, out).Run(root_));
    if (!context.changed) return std::optional<bson::Document>();
    bson::Document after = out.Finish();
    if (touches_id_) {
      const bson::Value before = context.before.Find("_id");
      if (!before.missing()) BRAID_CHECK_OK(CheckSameId(before, after.Find("_id")));
    }
    if (touches_dollar_) BRAID_CHECK_OK(CheckDollarFields(after));
    if (depth_ > bson::kDepthMax) BRAID_CHECK_OK(CheckDepth(after));
    return std::optional<bson::Document>(std::move(after));
  }

  EnvironmentPtr environment_;
  ArrayFilters filters_;
  std::shared_ptr<const Node> root_;  // null: no operator has a field
  int depth_ = 0;                     // of the deepest value that is written, counted from the root
  bool needs_position_ = false;
  bool touches_id_ = false;
  bool touches_dollar_ = false;  // a path begins with a name that does
};

Result<std::unique_ptr<const Update>> OperatorUpdate::Parse(bson::View specification, const Options& options,
                                                            const EnvironmentPtr& environment) {
  auto update = std::make_unique<OperatorUpdate>();
  update->environment_ = environment;
  BRAID_TRY(update->filters_, ArrayFilters::Parse(options.array_filters, environment));
  std::set<std::string, std::less<>> used;
  TreeBuilder tree;
  for (const bson::Element& element : specification) {
    const Operator* op = FindOperator(element.name);
    if (op == nullptr) return Status(Code::kFailedToParse, StrCat("Unknown modifier: ", element.name));
    if (!element.value.Is(bson::Type::kObject)) {
      return Status(Code::kFailedToParse, StrCat(element.name, " takes a document {<field>: …}, not a value of type ",
                                                 bson::TypeName(element.value.type())));
    }
    for (const bson::Element& field : element.value.AsView()) {
      BRAID_CHECK_OK(CheckPath(field.name));
      std::vector<Branch> branches;
      BRAID_CHECK_OK(op->parse({field.name, field.value, environment}, &branches));
      for (const Branch& branch : branches) {
        BRAID_CHECK_OK(update->filters_.CheckIdentifiers(branch.path, &used));
        const std::vector<std::string_view> parts = Split(branch.path, '.');
        update->touches_id_ |= parts.front() == "_id";
        update->touches_dollar_ |= parts.front().starts_with('$');
        update->needs_position_ |= std::ranges::find(parts, "$") != parts.end();
        update->depth_ = std::max(update->depth_, static_cast<int>(parts.size()) + branch.operation->operand_depth());
        BRAID_CHECK_OK(tree.Add(branch.path, branch.operation));
      }
    }
  }
  update->root_ = tree.Finish();
  BRAID_CHECK_OK(update->filters_.CheckAllUsed(used));
  return std::unique_ptr<const Update>(std::move(update));
}

}  // namespace

Result<std::unique_ptr<const Update>> ParseOperators(bson::View specification, const Update::Options& options,
                                                     const EnvironmentPtr& environment) {
  return OperatorUpdate::Parse(specification, options, environment);
}

}  // namespace braid::update
