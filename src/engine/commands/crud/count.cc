// count: how many documents match a filter.
#include "engine/commands/crud/reads.h"

#include <limits>

#include "engine/commands/parts.h"
#include "engine/commands/shared/common.h"
#include "engine/commands/table.h"

namespace braid::commands {

Result<query::Query> ParseCount(Call& call, const Request& request) {
  std::string_view collection;
  bson::View filter;
  bson::Value hint;
  std::optional<bson::View> collation;
  int64_t limit = 0;
  int64_t skip = 0;
  ArgReader reader(request);
  reader.Collection("count", collection);
  reader.Optional("query", filter);
  reader.Optional("limit", limit);
  reader.Optional("skip", skip);
  reader.Optional("hint", hint);
  reader.Optional("collation", collation);
  reader.Ignore({"fields", "rawData"});
  reader.AtLeast("skip", skip, 0);
  BRAID_CHECK_OK(reader.Finish());
  BRAID_TRY(catalog::Namespace ns, catalog::Namespace::Make(request.database, collection));

  query::Query query;
  BRAID_TRY(query.collection, FindForRead(call, ns));
  BRAID_TRY(query.environment, MakeEnvironment(call, query.collection, collation, std::nullopt));
  BRAID_TRY(query.filter, query::Filter::Parse(filter, query.environment));
  BRAID_CHECK_OK(ReadHint(hint, &query));
  query.skip = skip;
  query.limit =
      limit == std::numeric_limits<int64_t>::min() ? 0 : std::abs(limit);  // a negative limit means its absolute value
  return query;
}

namespace {

Result<bson::Document> RunCount(Call& call) {
  BRAID_TRY(query::Query query, ParseCount(call, call.request));
  BRAID_TRY(int64_t n, query::Count(call.context, query));
  bson::Builder reply;
  if (n <= std::numeric_limits<int32_t>::max()) {
    reply.Append("n", static_cast<int32_t>(n));
  } else {
    reply.Append("n", n);
  }
  return reply.Finish();
}

}  // namespace

constinit const Command kCount = {.name = "count",
                                  .flags = kReadOnly | kTakesReadConcern | kGivesWay,
                                  .help = "Counts matching documents.",
                                  .run = RunCount};
}  // namespace braid::commands
