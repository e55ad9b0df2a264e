#include "services/shop/documents.h"

namespace braid::shop {

using client::Bson;

Status Reads::Find(const char* collection, const bson_t* filter, const Transaction::FindOptions& options,
                   const Transaction::OnDocument& each) {
  if (transaction_ != nullptr) return transaction_->Find(collection, filter, options, each);
  Bson opts;
  if (!options.sort.empty()) BSON_APPEND_DOCUMENT(opts.get(), "sort", options.sort.get());
  if (!options.projection.empty()) BSON_APPEND_DOCUMENT(opts.get(), "projection", options.projection.get());
  if (options.limit > 0) BSON_APPEND_INT64(opts.get(), "limit", options.limit);
  // A limit of one needs no cursor on the server at all.
  if (options.limit == 1) BSON_APPEND_BOOL(opts.get(), "singleBatch", true);
  const client::CollectionPtr handle = client::CollectionOf(client_, database_, collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter, opts.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(each(Document::View(*document)));
  bson_error_t error{};
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

Result<client::BsonPtr> Reads::FindOne(const char* collection, const bson_t* filter) {
  client::BsonPtr found;
  BRAID_CHECK_OK(Find(collection, filter, {.limit = 1}, [&](const bson_t& document) {
    found.reset(bson_copy(&document));
    return Status();
  }));
  return found;
}

}  // namespace braid::shop
