// distinct: the distinct values of a field among matching documents; arrays count as their elements.
#include "engine/commands/crud/reads.h"

#include <set>

#include "base/strings.h"
#include "engine/bson/arena.h"
#include "engine/bson/compare.h"
#include "engine/bson/validate.h"
#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"
#include "engine/language/match/path.h"

namespace braid::commands {

Result<DistinctArgs> ParseDistinct(Call& call, const Request& request) {
  std::string_view collection;
  std::string_view key;
  bson::View filter;
  bson::Value hint;
  std::optional<bson::View> collation;
  ArgReader reader(request);
  reader.Collection("distinct", collection);
  reader.Required("key", key);
  reader.Optional("query", filter);
  reader.Optional("hint", hint);
  reader.Optional("collation", collation);
  reader.Ignore({"rawData"});
  BRAID_CHECK_OK(reader.Finish());
  BRAID_CHECK_OK(bson::CheckPathLength(key));
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(request.database, collection));

  DistinctArgs args;
  args.key = key;
  BRAID_TRY(args.query.collection, FindForRead(call, ns));
  BRAID_TRY(args.query.environment, MakeEnvironment(call, args.query.collection, collation, std::nullopt));
  BRAID_TRY(args.query.filter, query::Filter::Parse(filter, args.query.environment));
  BRAID_CHECK_OK(ReadHint(hint, &args.query));
  return args;
}

namespace {

// Every value at the path, stepping into arrays; an array at the end counts by its elements.
void Collect(const bson::Value& value, std::string_view path, const std::function<void(const bson::Value&)>& found) {
  if (path.empty()) {
    if (!value.Is(bson::Type::kArray)) {
      if (!value.missing()) found(value);
      return;
    }
    for (const auto& [name, element] : value.AsView()) found(element);
    return;
  }
  const size_t dot = path.find('.');
  const std::string_view head = path.substr(0, dot);
  const std::string_view rest = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
  if (value.Is(bson::Type::kObject)) return Collect(value.AsView().Find(head), rest, found);
  if (!value.Is(bson::Type::kArray)) return;
  if (query::IsArrayIndex(head)) Collect(value.AsView().Find(head), rest, found);
  for (const auto& [name, element] : value.AsView()) {
    if (element.Is(bson::Type::kObject)) Collect(element, path, found);
  }
}

Result<bson::Document> RunDistinct(Call& call) {
  call.engine.counters.queries.fetch_add(1, std::memory_order_relaxed);
  BRAID_TRY(DistinctArgs args, ParseDistinct(call, call.request));
  const bson::ValueLess less{args.query.environment->collation.get()};
  const std::string key = args.key;
  BRAID_TRY(auto plan, query::Plan::Make(std::move(args.query)));
  const query::PlanCost cost(call.context, *plan);

  bson::Arena arena;
  std::set<bson::Value, bson::ValueLess> values(less);
  size_t bytes = 0;
  bson::View document;
  while (true) {
    BRAID_TRY(bool more, plan->Next(call.context, &document));
    if (!more) break;
    Collect(bson::Value(document), key, [&](const bson::Value& value) {
      if (values.contains(value)) return;
      bytes += value.bytes().size() + 16;
      values.insert(arena.Copy(value));
    });
    if (bytes > bson::kDocumentBytesMax) return Status(Location(17217), "distinct too big, 16mb cap");
  }
  bson::Builder reply;
  reply.OpenArray("values");
  for (const bson::Value& value : values) reply.AppendNext(value);
  reply.Close();
  if (call.snapshot_time != 0) reply.Append("atClusterTime", bson::Timestamp{call.snapshot_time});
  return reply.Finish();
}

}  // namespace

constinit const Command kDistinct = {.name = "distinct",
                                     .flags = kReadOnly | kTakesReadConcern | kInTransaction | kGivesWay,
                                     .help = "Lists the different values of a field.",
                                     .run = RunDistinct};
}  // namespace braid::commands
