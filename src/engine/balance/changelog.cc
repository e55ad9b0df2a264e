#include "engine/balance/changelog.h"

#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/txn/index_build.h"
#include "engine/txn/records.h"

namespace braid::balance {
namespace {

constexpr int32_t kKeptSeconds = 7 * 24 * 3600;

Status Append(txn::Context& context, const std::string& collection_name, bson::View row) {
  const catalog::Namespace ns{"config", collection_name};
  txn::Shared& shared = context.shared();
  if (shared.catalog.Find(ns) == nullptr) {
    BRAID_TRY(
        catalog::IndexSpec spec,
        catalog::IndexSpec::Parse(
            bson::Make("key", bson::Make("time", 1), "name", "time_1", "expireAfterSeconds", kKeptSeconds), nullptr));
    BRAID_CHECK_OK(txn::BuildIndexes(context, ns, {std::move(spec)}));
  }
  const catalog::CollectionPtr collection = shared.catalog.Find(ns);
  if (collection == nullptr) return {Code::kNamespaceNotFound, "dropped meanwhile"};
  BRAID_TRY(const Gate::Pass gate, collection->state->gate.Share(context.operation()));
  if (shared.catalog.Find(ns) != collection) return {Code::kConflictingOperationInProgress, "changed meanwhile"};
  txn::Context own(shared, context.operation());
  BRAID_CHECK_OK(txn::Insert(own, collection, row));
  BRAID_CHECK_OK(own.Commit());
  context.NotePosition(own.position());
  return {};
}

bson::Builder Row(txn::Context& context, std::string_view what) {
  bson::Builder row;
  const bson::ObjectId id = bson::ObjectId::Generate();
  row.Append("_id", StrCat("braid-", Hex(std::string_view(id.bytes, sizeof(id.bytes))))).Append("server", "braid");
  row.Append("time", bson::Date{context.now_millis()}).Append("what", what);
  return row;
}

void Note(txn::Context& context, const std::string& collection, bson::View row) {
  if (const Status status = Append(context, collection, row); !status.ok()) {
    log::warn("config.{}: {}", collection, status.ToString());
  }
}

}  // namespace

void NoteChange(txn::Context& context, std::string_view what, std::string_view ns, bson::View details) {
  bson::Builder row = Row(context, what);
  Note(context, "changelog", row.Append("ns", ns).Append("details", details).Finish());
}

void NoteRound(txn::Context& context, bson::View details) {
  bson::Builder row = Row(context, "balancer.round");
  Note(context, "actionlog", row.Append("ns", "").Append("details", details).Finish());
}

}  // namespace braid::balance
