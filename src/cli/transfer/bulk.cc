// One batch of documents as one request to the server.
#include "cli/transfer/importer.h"

#include "base/strings.h"

namespace braid::transfer {
namespace {

using client::Bson;

// {field: value, …} of the upsert fields that the document has. False if it has none.
bool MakeSelector(bson_t* selector, const bson_t* document, const std::vector<std::string>& fields) {
  bool any = false;
  for (const std::string& field : fields) {
    bson_iter_t top;
    bson_iter_t found;
    if (!bson_iter_init(&top, document)) continue;
    if (!bson_iter_find_descendant(&top, field.c_str(), &found)) continue;
    bson_append_value(selector, field.c_str(), -1, bson_iter_value(&found));
    any = true;
  }
  return any;
}

bool Add(mongoc_bulk_operation_t* bulk, const bson_t* document, const ImportOptions& options, bson_error_t* error) {
  Bson opts;
  BSON_APPEND_BOOL(opts.get(), "validate", false);  // the server checks the contents of documents
  Bson selector;
  const bool selects =
      options.mode != ImportMode::kInsert && MakeSelector(selector.get(), document, options.upsert_fields);
  if (options.mode == ImportMode::kDelete) {
    if (!selects) {
      bson_set_error(error, 0, 0,
                     "the document has none of the fields that identify the one to delete (--upsertFields)");
      return false;
    }
    return mongoc_bulk_operation_remove_one_with_opts(bulk, selector.get(), nullptr, error);
  }
  if (!selects) return mongoc_bulk_operation_insert_with_opts(bulk, document, opts.get(), error);
  BSON_APPEND_BOOL(opts.get(), "upsert", true);
  if (options.mode == ImportMode::kUpsert) {
    return mongoc_bulk_operation_replace_one_with_opts(bulk, selector.get(), document, opts.get(), error);
  }
  Bson update;
  BSON_APPEND_DOCUMENT(update.get(), "$set", document);
  return mongoc_bulk_operation_update_one_with_opts(bulk, selector.get(), update.get(), opts.get(), error);
}

// {index, errmsg} of each of the reply's errors; `places` maps what was sent to the batch.
void ReadErrors(const bson_t* reply, const std::vector<size_t>& places, BatchOutcome& outcome) {
  bson_iter_t errors;
  bson_iter_t list;
  if (!bson_iter_init_find(&errors, reply, "writeErrors") || !bson_iter_recurse(&errors, &list)) return;
  while (bson_iter_next(&list)) {
    bson_iter_t one;
    if (!bson_iter_recurse(&list, &one)) continue;
    int64_t index = -1;
    std::string reason = "unknown error";
    while (bson_iter_next(&one)) {
      const std::string_view key = bson_iter_key(&one);
      if (key == "index") index = bson_iter_as_int64(&one);
      if (key == "errmsg" && BSON_ITER_HOLDS_UTF8(&one)) reason = bson_iter_utf8(&one, nullptr);
    }
    if (index >= 0 && static_cast<size_t>(index) < places.size()) {
      outcome.failures.emplace_back(places[static_cast<size_t>(index)], std::move(reason));
    }
  }
}

}  // namespace

BatchOutcome SendBatch(mongoc_collection_t* collection, const Batch& batch, const ImportOptions& options) {
  BatchOutcome outcome;
  const bool ordered = options.keep_order || options.stop_on_error;
  Bson opts;
  BSON_APPEND_BOOL(opts.get(), "ordered", ordered);
  const client::BulkPtr bulk(mongoc_collection_create_bulk_operation_with_opts(collection, opts.get()));
  std::vector<size_t> places;
  bson_error_t error{};
  for (size_t i = 0; i < batch.items.size(); ++i) {
    if (Add(bulk.get(), batch.items[i].document.get(), options, &error)) {
      places.push_back(i);
      continue;
    }
    outcome.failures.emplace_back(i, error.message);
    if (ordered) break;
  }
  if (places.empty()) return outcome;
  bson_t reply;
  const bool ok = mongoc_bulk_operation_execute(bulk.get(), &reply, &error) != 0;
  const size_t refused_here = outcome.failures.size();
  if (!ok) ReadErrors(&reply, places, outcome);
  bson_destroy(&reply);
  const size_t refused_there = outcome.failures.size() - refused_here;
  if (!ok && refused_there == 0) {
    outcome.fatal = client::FromError(error);
    return outcome;
  }
  if (ordered && refused_there > 0)
    outcome.done = outcome.failures.back().first;
  else
    outcome.done = places.size() - refused_there;
  return outcome;
}

}  // namespace braid::transfer
