// Which kind of update a specification is, and replacements: a new document in the place of the old one, which keeps
// its _id.
#include "engine/language/update/update.h"

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/language/update/kinds.h"
#include "engine/language/update/storage_rules.h"

namespace braid::update {
namespace {

class ReplacementUpdate final : public Update {
 public:
  explicit ReplacementUpdate(bson::Document replacement) : replacement_(std::move(replacement)) {
    for (const bson::Element& element : replacement_.view()) {
      if (!element.name.starts_with("$")) continue;
      unfit_ = Status(Code::kDollarPrefixedFieldName,
                      StrCat("The field '", element.name,
                             "' begins with '$', which a replacement allows only in embedded "
                             "documents; a pipeline with $replaceWith can store it"));
      break;
    }
  }

  Result<std::optional<bson::Document>> Apply(bson::View document,
                                              const query::MatchDetails& /*details*/) const override {
    BRAID_TRY(bson::Document after, Replace(document.Find("_id")));
    if (after.view().bytes() == document.bytes()) return std::optional<bson::Document>();
    BRAID_CHECK_OK(CheckUpdatedSize(after));
    return std::optional<bson::Document>(std::move(after));
  }

  Result<bson::Document> Upsert(const query::Filter& filter) const override {
    BRAID_TRY(const bson::Document base, IdFromFilter(filter));
    BRAID_TRY(bson::Document after, Replace(base.Find("_id")));
    BRAID_CHECK_OK(CheckId(after.Find("_id")));
    BRAID_CHECK_OK(CheckUpsertedSize(after));
    return after;
  }

  bool is_replacement() const override { return true; }

 private:
  /// The replacement with the _id first; `id` is the one it must have, if any.
  Result<bson::Document> Replace(const bson::Value& id) const {
    BRAID_CHECK_OK(unfit_);
    const bson::Value own = replacement_.Find("_id");
    if (!own.missing() && !id.missing()) BRAID_CHECK_OK(CheckSameId(id, own));
    return WithIdFirst(replacement_, id);
  }

  bson::Document replacement_;
  Status unfit_;  // why it cannot be stored: reported when it would be stored
};

}  // namespace

Result<std::unique_ptr<const Update>> ParseReplacement(bson::View specification, const Update::Options& options,
                                                       const EnvironmentPtr& environment) {
  if (!options.array_filters.empty()) {
    return Status(Code::kFailedToParse, "arrayFilters may not be specified for replacement updates");
  }
  if (options.multi)
    return Status(Code::kFailedToParse, "A replacement cannot update several documents: use update operators");
  BRAID_CHECK_OK(CheckDepth(specification));
  return std::unique_ptr<const Update>(
      std::make_unique<ReplacementUpdate>(FillTimestamps(specification, environment->cluster_time)));
}

Result<std::unique_ptr<const Update>> Update::Parse(const bson::Value& u, const Options& options,
                                                    const EnvironmentPtr& environment) {
  if (u.Is(bson::Type::kArray)) return ParsePipeline(u.AsView(), options, environment);
  if (!u.Is(bson::Type::kObject)) {
    return Status(Code::kFailedToParse,
                  StrCat("An update must be an object or an array, not a value of type ", bson::TypeName(u.type())));
  }
  const bson::View specification = u.AsView();
  const bool operators = !specification.empty() && specification.begin()->name.starts_with("$");
  return operators ? ParseOperators(specification, options, environment)
                   : ParseReplacement(specification, options, environment);
}

}  // namespace braid::update
