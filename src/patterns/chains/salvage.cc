#include "patterns/chains/salvage.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/log.h"
#include "patterns/chains/segment.h"

namespace braid::chains {
namespace {

using client::Bson;

// Where the segments end, from the index alone: no segment is read.
Result<std::vector<int64_t>> EndsInIndex(const client::CollectionPtr& log, int64_t chain, int64_t after) {
  Bson later;
  later.Integer("$gt", after);
  Bson filter;
  filter.Integer("symbol_id", chain).Document("last_seq", later);
  Bson order;
  order.Integer("symbol_id", 1).Integer("last_seq", 1);
  Bson fields;
  fields.Integer("_id", 0).Integer("symbol_id", 1).Integer("last_seq", 1);
  Bson opts;
  opts.Document("sort", order).Document("projection", fields).Document("hint", order);
  std::vector<int64_t> ends;
  BRAID_CHECK_OK(Find(log, filter, opts, [&](const bson_t& entry) {
    ends.push_back(client::IntegerOf(&entry, "last_seq"));
    return Status();
  }));
  return ends;
}

Status ReadOneByOne(const client::CollectionPtr& log, int64_t chain, int64_t after, const std::vector<int64_t>& ends,
                    const SalvageTarget& target) {
  for (const int64_t end : ends) {
    Bson filter;
    filter.Integer("symbol_id", chain).Integer("last_seq", end);
    const Bson opts;
    const Status read = Find(log, filter, opts, [&](const bson_t& segment) {
      target.on_segment(segment);
      return Status();
    });
    if (!read.ok() && !IsLost(read)) return read;
    if (!read.ok()) target.on_lost(after, end, read.message());
    after = end;
  }
  return {};
}

// Ids of one chain are in the order of its segments.
Status ReadById(const client::CollectionPtr& log, int64_t chain, int64_t after, const SalvageTarget& target) {
  Bson ids;
  ids.Text("$gt", SegmentId(chain, after)).Text("$lt", StrCat(chain, ";"));  // the character after ':'
  Bson filter;
  filter.Document("_id", ids);
  Bson order;
  order.Integer("_id", 1);
  Bson opts;
  opts.Document("sort", order).Integer("batchSize", 1);
  const Status read = Find(log, filter, opts, [&](const bson_t& segment) {
    target.on_segment(segment);
    after = std::max(after, client::IntegerOf(&segment, "last_seq"));
    return Status();
  });
  if (!read.ok() && !IsLost(read)) return read;
  if (!read.ok()) target.on_lost(after, 0, read.message());
  return {};
}

}  // namespace

Status Salvage(mongoc_client_t* client, const ChainsOptions& options, int64_t chain, int64_t after,
               const SalvageTarget& target) {
  const client::CollectionPtr log = client::CollectionOf(client, options.database, options.log);
  const Result<std::vector<int64_t>> ends = EndsInIndex(log, chain, after);
  if (ends.ok()) return ReadOneByOne(log, chain, after, *ends, target);
  if (!IsLost(ends.error())) return ends.error();
  target.on_index_lost(ends.error().message());
  return ReadById(log, chain, after, target);
}

}  // namespace braid::chains
