// getMore: the next batch of a cursor.
#include <limits>

#include "base/strings.h"
#include "engine/bson/number.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/batch.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {
namespace {

struct GetMoreArgs {
  int64_t id = 0;
  std::string_view collection;
  std::optional<int64_t> batch_size;
};

Result<GetMoreArgs> ParseGetMore(const Request& request) {
  GetMoreArgs args;
  ArgReader reader(request);
  bson::Value id;
  reader.Required("getMore", id);
  reader.Check(
      id.Is(bson::Type::kInt64), Code::kTypeMismatch,
      StrCat("BSON field 'getMore.getMore' is the wrong type '", bson::TypeName(id.type()), "', expected type 'long'"));
  reader.Collection("collection", args.collection);
  reader.Optional("batchSize", args.batch_size);
  reader.Ignore({"term", "lastKnownCommittedOpTime", "includeQueryStatsMetrics"});
  reader.AtLeast("batchSize", args.batch_size.value_or(0), 0);
  BRAID_CHECK_OK(reader.Finish());
  args.id = id.AsInt64();
  return args;
}

// A cursor may be read only where it was opened: same database, same session.
Status CheckOwner(const Call& call, const OpenCursor& cursor) {
  if (cursor.ns.database != call.request.database) {
    return Status(Code::kUnauthorized, StrCat("Requested getMore on namespace in database '", call.request.database,
                                              "', but cursor belongs to a different namespace ", cursor.ns.ToString()));
  }
  if (cursor.lsid != call.lsid) {
    const int code = cursor.lsid.empty() ? 50736 : call.lsid.empty() ? 50737 : 50738;
    return Status(Location(code), StrCat("Cannot run getMore on cursor ", cursor.id,
                                         ", which was created in another session or without one"));
  }
  if (cursor.txn_number != call.txn_number) {
    const int code = cursor.txn_number < 0 ? 50739 : call.txn_number < 0 ? 50740 : 50741;
    return Status(Location(code), StrCat("Cannot run getMore on cursor ", cursor.id,
                                         ", which was created in another transaction or outside of one"));
  }
  return {};
}

Result<bson::Document> RunGetMore(Call& call) {
  call.engine.counters.get_mores.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(GetMoreArgs args, ParseGetMore(call.request));
  BRAID_TRY(std::unique_ptr<OpenCursor> cursor, call.engine.cursors.Take(args.id));
  if (Status owner = CheckOwner(call, *cursor); !owner.ok()) {
    call.engine.cursors.Return(std::move(cursor));
    return owner;
  }
  const int64_t size = args.batch_size.value_or(0);
  return NextBatch(call, std::move(cursor), size == 0 ? std::numeric_limits<int64_t>::max() : size);
}

}  // namespace

constinit const Command kGetMore = {.name = "getMore",
                                    .flags = kReadOnly | kInTransaction | kGivesWay,
                                    .help = "Returns the next batch of a cursor.",
                                    .run = RunGetMore};
}  // namespace braid::commands
