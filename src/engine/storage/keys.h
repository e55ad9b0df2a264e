// The layout of the key space. Every key starts with one letter; numbers are big-endian, so order is numeric order.
//
//   b | database                                     → BSON: the database's primary shard (catalog/catalog.h)
//   c | database 00 collection                       → BSON: the collection's description (catalog/collection.h)
//   h                                                → BSON: the cluster's id and its shards (catalog/catalog.h)
//   n                                                → counter: last collection or index number given out
//   t | session 16                                   → BSON: the result of the session's newest transaction number
//                                                      (commands/transactions.h)
//   t | session 16 | number u64 | statement u32      → BSON: a further run of statements of a retryable write that are
//                                                      done, from this one on (commands/retry_notes.h)
//   x | number u32 | 'c' or 'i'                      → empty: data of this dropped collection or index is to be removed
//   d | collection u32 | shard u16 | key(_id)        → BSON: the document
//   i | index u32 | shard u16 | key(values) | key(_id) → entry of an index that is not unique
//   i | index u32 | shard u16 | key(values)          → entry of a unique index
//        value of both: u32 LE length L of key(_id) | key(_id) if unique, else nothing | BSON {"0": v0, "1": v1, …} of
//        the indexed values as the document has them (a missing one is left out), so that a covered query needs no
//        document
//   u | index u32 | key(values)                      → key(_id): keeps a unique index unique over the shards of a
//                                                      sharded collection, beside the entry of the document's shard
//   u | collection u32 | key(_id)                    → shard u16 BE: the same for _id, where the shard key does not
//                                                      follow from it
//   m | index u32                                    → u64 LE: bit i set if field i of the key has met an array
//   s | collection u32 | shard u16 | 'n' or 'b'      → counter: documents, bytes of documents
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/storage/store.h"

namespace braid::storage {

using ShardNumber = uint16_t;
/// A number that no shard has: for data about a document that does not depend on its shard.
constexpr ShardNumber kNoShard = 0xffff;

std::string ClusterKey();
std::string DatabaseKey(std::string_view database);
Range DatabaseRange();
std::string CatalogKey(std::string_view database, std::string_view collection);
Range CatalogRange();
std::string SessionKey(std::string_view lsid);
/// Every session, each followed by its statements.
Range SessionRange();
std::string StatementsKey(std::string_view lsid, int64_t number, int32_t first);
Range StatementsRange(std::string_view lsid, int64_t number);
/// The parts of a key of SessionRange(); -1 if it is a session's own key.
std::string_view SessionOf(std::string_view key);
int64_t NumberOfStatements(std::string_view key);
int32_t FirstStatementOf(std::string_view key);
std::string NumberKey();
std::string PendingDropKey(uint32_t number, bool index);
Range PendingDropRange();

std::string DocumentPrefix(uint32_t collection, ShardNumber shard);
Range DocumentRange(uint32_t collection, ShardNumber shard);
Range DocumentRange(uint32_t collection);  ///< all shards

std::string IndexPrefix(uint32_t index, ShardNumber shard);
Range IndexRange(uint32_t index, ShardNumber shard);
Range IndexRange(uint32_t index);  ///< all shards
std::string MultikeyKey(uint32_t index);

std::string GlobalKey(uint32_t number, std::string_view key);  ///< of an index, or of a collection for its _id
Range GlobalRange(uint32_t number);

std::string CountKey(uint32_t collection, ShardNumber shard);
std::string BytesKey(uint32_t collection, ShardNumber shard);
Range CounterRange(uint32_t collection);
/// The shard in the key of a counter, or of a document or entry.
ShardNumber ShardOfKey(std::string_view key);

}  // namespace braid::storage
