#include "patterns/chains/log.h"

#include <algorithm>
#include <vector>

#include "base/strings.h"
#include "client/fields.h"
#include "patterns/chains/segment.h"

namespace braid::chains {
namespace {

using client::Bson;

// The target size of replies: larger ones leave the CPU caches before they are read, and their memory is allocated and
// freed for each. The first segments show how large segments are.
constexpr int64_t kReplyBytes = 256 << 10;
constexpr int64_t kFirstReply = 8;
constexpr int64_t kReplyMost = 1000;

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

Status Find(const client::CollectionPtr& collection, const Bson& filter, const Bson& opts,
            const std::function<Status(const bson_t&)>& each) {
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), filter.get(), opts.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(each(*document));
  bson_error_t error{};
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

SegmentCursor::SegmentCursor(mongoc_client_t* client, const ChainsOptions& options, const SegmentQuery& query) {
  Bson filter;
  filter.Integer("symbol_id", query.chain);
  if (query.from_sequence > 0) {
    Bson from;
    from.Integer("$gte", query.from_sequence);
    filter.Document("last_seq", from);
  }
  Bson sort;
  sort.Integer("symbol_id", 1).Integer("last_seq", 1);
  Bson opts;
  opts.Document("sort", sort).Integer("batchSize", kFirstReply);
  if (query.limit > 0) opts.Integer("limit", query.limit);
  const client::CollectionPtr log = client::CollectionOf(client, options.database, options.log);
  cursor_.reset(mongoc_collection_find_with_opts(log.get(), filter.get(), opts.get(), nullptr));
}

Result<const bson_t*> SegmentCursor::Next() {
  if (at_end_) return nullptr;
  const bson_t* document = nullptr;
  if (!mongoc_cursor_next(cursor_.get(), &document)) {
    bson_error_t error{};
    if (mongoc_cursor_error(cursor_.get(), &error)) return client::FromError(error);
    at_end_ = true;
    return nullptr;
  }
  ++documents_;
  bytes_ += document->len;
  if (documents_ % kFirstReply == 0) {
    const int64_t fit = kReplyBytes / (bytes_ / documents_);
    mongoc_cursor_set_batch_size(cursor_.get(), static_cast<uint32_t>(std::clamp<int64_t>(fit, 1, kReplyMost)));
  }
  return document;
}

Status FindSegments(mongoc_client_t* client, const ChainsOptions& options, const SegmentQuery& query,
                    const std::function<Status(const bson_t&)>& each) {
  SegmentCursor cursor(client, options, query);
  for (;;) {
    BRAID_TRY(const bson_t* document, cursor.Next());
    if (document == nullptr) return {};
    BRAID_CHECK_OK(each(*document));
  }
}

// Skips from one chain to the next by the index: the cost grows with the chains, not with the segments.
Result<std::vector<int64_t>> ChainsInLog(mongoc_client_t* client, const ChainsOptions& options) {
  Bson sort;
  sort.Integer("symbol_id", 1);
  Bson fields;
  fields.Integer("symbol_id", 1);
  Bson opts;
  opts.Document("sort", sort).Document("projection", fields).Integer("limit", 1);
  const client::CollectionPtr log = client::CollectionOf(client, options.database, options.log);
  std::vector<int64_t> chains;
  for (;;) {
    Bson after;
    after.Integer(chains.empty() ? "$gte" : "$gt", chains.empty() ? INT64_MIN : chains.back());
    Bson filter;
    filter.Document("symbol_id", after);
    const size_t before = chains.size();
    BRAID_CHECK_OK(Find(log, filter, opts, [&](const bson_t& document) {
      chains.push_back(client::IntegerOf(&document, "symbol_id"));
      return Status();
    }));
    if (chains.size() == before) return chains;
  }
}

Result<std::vector<int64_t>> ChainsWithHead(mongoc_client_t* client, const ChainsOptions& options,
                                            const std::string& heads) {
  Bson empty;
  empty.Integer("$ne", 0);
  Bson filter;
  filter.Document("seq", empty);
  const Bson opts;
  std::vector<int64_t> chains;
  BRAID_CHECK_OK(Find(client::CollectionOf(client, options.database, heads), filter, opts, [&](const bson_t& document) {
    chains.push_back(client::IntegerOf(&document, "_id"));
    return Status();
  }));
  return chains;
}

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
