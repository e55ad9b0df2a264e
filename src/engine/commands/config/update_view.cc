#include "engine/commands/config/update_view.h"

#include "engine/commands/config/views.h"
#include "engine/commands/parts.h"
#include "engine/commands/sharding/common.h"

namespace braid::commands {
namespace {

/// The new value of noBalance. An error if any other field differs.
Result<bool> NewNoBalance(const catalog::Namespace& view, bson::View before, bson::View after) {
  bson::Builder expected;
  const bson::Value wanted = after.Find("noBalance");
  for (const auto& [name, value] : before) expected.Append(name, name == "noBalance" ? wanted : value);
  if (expected.Finish().bytes() != after.bytes()) return CheckNoConfigView(view);
  if (wanted.missing()) return false;
  if (!wanted.Is(bson::Type::kBool)) return Status(Code::kTypeMismatch, "noBalance must be a boolean");
  return wanted.AsBool();
}

Status SetNoBalance(Call& call, std::string_view name, bool no_balance) {
  BRAID_TRY(const catalog::Namespace ns, ParseFullName(name));
  const catalog::CollectionPtr collection = call.engine.catalog->Find(ns);
  if (collection == nullptr) return {};  // dropped meanwhile, and its row with it
  BRAID_TRY(const catalog::Catalog::Change change,
            call.engine.catalog->Place(ns, collection->number, [&](sharding::Placement* placement, storage::WriteSet&) {
              placement->no_balance = no_balance;
              return Status();
            }));
  call.context.NotePosition(change.position);
  return {};
}

}  // namespace

Result<UpdateOutcome> UpdateConfigView(Call& call, const query::Query& query, const update::Update& update,
                                       const UpdateStatement& statement) {
  const catalog::Namespace& view = query.collection->ns;
  if (view.collection != "collections" || statement.upsert) return CheckNoConfigView(view);
  BRAID_TRY(const auto plan, query::Plan::Make(query));
  UpdateOutcome outcome;
  bson::View before;
  while (outcome.matched == 0 || statement.multi) {
    BRAID_TRY(const bool more, plan->Next(call.context, &before));
    if (!more) break;
    query::MatchDetails details;
    BRAID_CHECK_OK(query.filter.Matches(before, &details));
    BRAID_TRY(const std::optional<bson::Document> after, update.Apply(before, details));
    if (after) {
      BRAID_TRY(const bool no_balance, NewNoBalance(view, before, *after));
      BRAID_CHECK_OK(SetNoBalance(call, before.Find("_id").AsString(), no_balance));
      ++outcome.modified;
    }
    if (statement.seen) BRAID_CHECK_OK(statement.seen(&before, after ? after->view() : before));
    ++outcome.matched;
  }
  return outcome;
}

}  // namespace braid::commands
