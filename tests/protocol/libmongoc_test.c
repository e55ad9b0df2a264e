/* Braid through libmongoc: what C programs do with it, with every compressor. Run by clients.test.mjs with the server's URI in BRAID_URI.
 * Every check prints "ok NAME" or "not ok NAME: why"; the exit code is the number of those that failed. */
#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures = 0;

static void check(bool passed, const char *name, const char *why) {
  if (passed) {
    printf("ok %s\n", name);
  } else {
    printf("not ok %s: %s\n", name, why);
    ++failures;
  }
}

static bson_t *json(const char *text) {
  bson_error_t error;
  bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
  if (document == NULL) {
    fprintf(stderr, "%s: %s\n", text, error.message);
    exit(2);
  }
  return document;
}

/* The whole number at `path`, or -1. */
static int64_t number(const bson_t *document, const char *path) {
  bson_iter_t iter;
  bson_iter_t value;
  if (!bson_iter_init(&iter, document) || !bson_iter_find_descendant(&iter, path, &value)) return -1;
  return bson_iter_as_int64(&value);
}

/* The documents of a cursor; -1 after an error. */
static int count_all(mongoc_cursor_t *cursor) {
  const bson_t *document;
  int count = 0;
  while (mongoc_cursor_next(cursor, &document)) ++count;
  bson_error_t error;
  if (mongoc_cursor_error(cursor, &error)) {
    fprintf(stderr, "cursor: %s\n", error.message);
    count = -1;
  }
  mongoc_cursor_destroy(cursor);
  return count;
}

static void test_crud(mongoc_collection_t *collection) {
  bson_error_t error = {0};
  bson_t reply;
  bson_t *first = json("{\"_id\": 1, \"n\": 1}");
  check(mongoc_collection_insert_one(collection, first, NULL, NULL, &error), "insert_one", error.message);
  check(!mongoc_collection_insert_one(collection, first, NULL, NULL, &error) && error.code == 11000, "duplicate key", error.message);

  bson_t *many[250];
  for (int i = 0; i < 250; ++i) many[i] = BCON_NEW("_id", BCON_INT32(100 + i), "n", BCON_INT32(i));
  const bool inserted = mongoc_collection_insert_many(collection, (const bson_t **)many, 250, NULL, &reply, &error);
  check(inserted && number(&reply, "insertedCount") == 250, "insert_many", error.message);
  bson_destroy(&reply);
  for (int i = 0; i < 250; ++i) bson_destroy(many[i]);

  bson_t *all = bson_new();
  bson_t *small = json("{\"n\": {\"$lt\": 10}}");
  bson_t *increment = json("{\"$inc\": {\"n\": 1000}}");
  check(count_all(mongoc_collection_find_with_opts(collection, all, NULL, NULL)) == 251, "find over several batches", "wrong count");
  const bool updated = mongoc_collection_update_many(collection, small, increment, NULL, &reply, &error);
  check(updated && number(&reply, "modifiedCount") == 11, "update_many", error.message);
  bson_destroy(&reply);
  check(mongoc_collection_count_documents(collection, small, NULL, NULL, NULL, &error) == 0, "count_documents", error.message);

  bson_t *which = json("{\"_id\": 7777}");
  bson_t *upsert = json("{\"upsert\": true}");
  bson_t *replacement = json("{\"r\": 1}");
  const bool replaced = mongoc_collection_replace_one(collection, which, replacement, upsert, &reply, &error);
  check(replaced && number(&reply, "upsertedId") == 7777, "replace_one with upsert", error.message);
  bson_destroy(&reply);
  const bool deleted = mongoc_collection_delete_one(collection, which, NULL, &reply, &error);
  check(deleted && number(&reply, "deletedCount") == 1, "delete_one", error.message);
  bson_destroy(&reply);

  mongoc_find_and_modify_opts_t *options = mongoc_find_and_modify_opts_new();
  mongoc_find_and_modify_opts_set_update(options, increment);
  mongoc_find_and_modify_opts_set_flags(options, MONGOC_FIND_AND_MODIFY_RETURN_NEW);
  const bool modified = mongoc_collection_find_and_modify_with_opts(collection, first, options, &reply, &error);
  check(modified && number(&reply, "value.n") == -1, "find_and_modify of nothing", error.message);
  bson_destroy(&reply);
  bson_t *by_id = json("{\"_id\": 1}");
  check(mongoc_collection_find_and_modify_with_opts(collection, by_id, options, &reply, &error) && number(&reply, "value.n") == 2001,
        "find_and_modify", error.message);
  bson_destroy(&reply);
  mongoc_find_and_modify_opts_destroy(options);
  bson_destroy(first);
  bson_destroy(all);
  bson_destroy(small);
  bson_destroy(increment);
  bson_destroy(which);
  bson_destroy(upsert);
  bson_destroy(replacement);
  bson_destroy(by_id);
}

static void test_bulk(mongoc_collection_t *collection) {
  bson_error_t error = {0};
  bson_t reply;
  bson_t *one = json("{\"_id\": \"bulk\", \"n\": 1}");
  bson_t *filter = json("{\"_id\": \"bulk\"}");
  bson_t *increment = json("{\"$inc\": {\"n\": 1}}");
  mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(collection, NULL);
  mongoc_bulk_operation_insert(bulk, one);
  mongoc_bulk_operation_update_one_with_opts(bulk, filter, increment, NULL, NULL);
  mongoc_bulk_operation_remove_one_with_opts(bulk, filter, NULL, NULL);
  const bool done = mongoc_bulk_operation_execute(bulk, &reply, &error) != 0;
  check(done && number(&reply, "nInserted") == 1 && number(&reply, "nModified") == 1 && number(&reply, "nRemoved") == 1, "bulk", error.message);
  bson_destroy(&reply);
  mongoc_bulk_operation_destroy(bulk);
  bson_destroy(one);
  bson_destroy(filter);
  bson_destroy(increment);
}

static void test_aggregate_and_indexes(mongoc_client_t *client, mongoc_collection_t *collection) {
  bson_error_t error = {0};
  bson_t reply;
  bson_t *pipeline = json("{\"pipeline\": [{\"$group\": {\"_id\": {\"$mod\": [\"$n\", 10]}, \"c\": {\"$sum\": 1}}}]}");
  check(count_all(mongoc_collection_aggregate(collection, MONGOC_QUERY_NONE, pipeline, NULL, NULL)) == 10, "aggregate", "wrong count");
  bson_t *create = json("{\"createIndexes\": \"c\", \"indexes\": [{\"key\": {\"n\": 1}, \"name\": \"n_1\"}]}");
  check(mongoc_client_write_command_with_opts(client, "libmongoc", create, NULL, &reply, &error), "createIndexes", error.message);
  bson_destroy(&reply);
  check(count_all(mongoc_collection_find_indexes_with_opts(collection, NULL)) == 2, "find_indexes", "wrong count");
  bson_t *filter = json("{\"n\": {\"$gte\": 200}}");
  bson_t *hint = json("{\"hint\": \"n_1\", \"sort\": {\"n\": 1}, \"batchSize\": 7}");
  check(count_all(mongoc_collection_find_with_opts(collection, filter, hint, NULL)) == 61, "find by an index", "wrong count");
  bson_destroy(pipeline);
  bson_destroy(create);
  bson_destroy(filter);
  bson_destroy(hint);
}

static void test_errors(mongoc_client_t *client) {
  bson_error_t error = {0};
  bson_t reply;
  bson_t *unknown = json("{\"nosuch\": 1}");
  check(!mongoc_client_command_simple(client, "libmongoc", unknown, NULL, &reply, &error) && error.code == 59, "unknown command", error.message);
  bson_destroy(&reply);
  bson_destroy(unknown);
  bson_t *bad = json("{\"find\": \"c\", \"filter\": {\"a\": {\"$bogus\": 1}}}");
  check(!mongoc_client_command_simple(client, "libmongoc", bad, NULL, &reply, &error) && error.code == 2, "unknown operator", error.message);
  bson_destroy(&reply);
  bson_destroy(bad);
}

static void test_session(mongoc_client_t *client, mongoc_collection_t *collection) {
  bson_error_t error = {0};
  mongoc_client_session_t *session = mongoc_client_start_session(client, NULL, &error);
  check(session != NULL, "start_session", error.message);
  if (session == NULL) return;
  bson_t options = BSON_INITIALIZER;
  check(mongoc_client_session_append(session, &options, &error), "session_append", error.message);
  bson_t *document = json("{\"_id\": \"session\"}");
  check(mongoc_collection_insert_one(collection, document, &options, NULL, &error), "insert in a session", error.message);
  check(count_all(mongoc_collection_find_with_opts(collection, document, &options, NULL)) == 1, "find in a session", "wrong count");
  bson_destroy(&options);

  bson_t in_transaction = BSON_INITIALIZER;
  bson_t *other = json("{\"_id\": \"transaction\"}");
  check(mongoc_client_session_start_transaction(session, NULL, &error), "start_transaction", error.message);
  check(mongoc_client_session_append(session, &in_transaction, &error), "session_append", error.message);
  check(mongoc_collection_insert_one(collection, other, &in_transaction, NULL, &error), "insert in a transaction", error.message);
  check(count_all(mongoc_collection_find_with_opts(collection, other, NULL, NULL)) == 0, "not seen outside before the commit", "seen");
  check(mongoc_client_session_commit_transaction(session, NULL, &error), "commit_transaction", error.message);
  check(count_all(mongoc_collection_find_with_opts(collection, other, NULL, NULL)) == 1, "seen after the commit", "wrong count");
  bson_destroy(&in_transaction);
  bson_destroy(document);
  bson_destroy(other);
  mongoc_client_session_destroy(session);
}

/* The bytes that the server has sent so far. */
static int64_t bytes_sent(mongoc_client_t *client) {
  bson_t reply;
  bson_t *command = json("{\"serverStatus\": 1}");
  mongoc_client_command_simple(client, "admin", command, NULL, &reply, NULL);
  const int64_t bytes = number(&reply, "network.bytesOut");
  bson_destroy(command);
  bson_destroy(&reply);
  return bytes;
}

/* Large documents there and back with the compressor; the server must have agreed to it. */
static void test_compressor(const char *uri_text, const char *compressor) {
  char name[64];
  bson_error_t error = {0};
  mongoc_uri_t *uri = mongoc_uri_new(uri_text);
  snprintf(name, sizeof name, "compressor %s", compressor);
  if (!mongoc_uri_set_compressors(uri, compressor)) {
    check(false, name, "libmongoc has been built without it");
    mongoc_uri_destroy(uri);
    return;
  }
  mongoc_client_t *client = mongoc_client_new_from_uri(uri);
  mongoc_collection_t *collection = mongoc_client_get_collection(client, "libmongoc", compressor);
  const size_t size = 3 * 1024 * 1024;
  char *text = malloc(size + 1);
  for (size_t i = 0; i < size; ++i) text[i] = (char)('a' + (i * i / 7) % 26);
  text[size] = '\0';
  bson_t *document = BCON_NEW("_id", BCON_INT32(1), "text", BCON_UTF8(text));
  check(mongoc_collection_insert_one(collection, document, NULL, NULL, &error), name, error.message);
  bson_t *all = bson_new();
  const int64_t before = bytes_sent(client);
  mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(collection, all, NULL, NULL);
  const bson_t *found = NULL;
  snprintf(name, sizeof name, "compressor %s, read back", compressor);
  check(mongoc_cursor_next(cursor, &found) && bson_equal(found, document), name, "the document came back changed");
  snprintf(name, sizeof name, "compressor %s, fewer bytes", compressor);
  check(bytes_sent(client) - before < (int64_t)size / 2, name, "the reply was not compressed");
  mongoc_cursor_destroy(cursor);
  bson_destroy(all);
  bson_destroy(document);
  free(text);
  mongoc_collection_destroy(collection);
  mongoc_client_destroy(client);
  mongoc_uri_destroy(uri);
}

int main(void) {
  const char *uri = getenv("BRAID_URI");
  if (uri == NULL) {
    fprintf(stderr, "BRAID_URI is not set\n");
    return 2;
  }
  setvbuf(stdout, NULL, _IOLBF, 0);
  mongoc_init();
  mongoc_client_t *client = mongoc_client_new(uri);
  mongoc_collection_t *collection = mongoc_client_get_collection(client, "libmongoc", "c");
  test_crud(collection);
  test_bulk(collection);
  test_aggregate_and_indexes(client, collection);
  test_errors(client);
  test_session(client, collection);
  test_compressor(uri, "snappy");
  test_compressor(uri, "zlib");
  test_compressor(uri, "zstd");
  mongoc_collection_destroy(collection);
  mongoc_client_destroy(client);
  mongoc_cleanup();
  return failures;
}
