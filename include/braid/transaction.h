// RunTransaction: several changes that happen together or not at all, on any store that speaks the MongoDB protocol.
//
//   Status status = RunTransaction(*store, {.database = "shop"}, [&](Transaction& transaction) -> Status {
//     BRAID_TRY(std::optional<Document> lamp, transaction.FindOne("products", {{"_id", "lamp"}}));
//     if (!lamp || lamp->GetOr<int64_t>("qty", 0) < 1) return Status(Code::kBadValue, "there is no lamp left");
//     BRAID_CHECK_OK(transaction.Insert("orders", {{"product", "lamp"}, {"user", "ann"}}));
//     const Transaction::Update sold{.filter = {{"_id", "lamp"}}, .change = {{"$inc", {{"qty", -1}}}}};
//     return transaction.UpdateOne("products", sold).status();
//   });
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "braid/clients.h"
#include "braid/document.h"

namespace braid {

/// A running transaction, as its body uses it. Reads see one snapshot and the transaction's own writes. One thread at a
/// time; lives as long as the body runs. The body must return the first error that it gets: nothing of the transaction
/// is kept then.
class Transaction {
 public:
  struct Update {
    Document filter;
    Document change;  ///< operators, such as {{"$inc", {{"n", 1}}}}
    bool upsert = false;
  };
  struct Matched {
    int64_t matched = 0;
    int64_t modified = 0;
    int64_t upserted = 0;
  };
  struct FindOptions {
    Document sort;        ///< such as {{"at", -1}}; empty: in any order
    Document projection;  ///< empty: all fields
    int64_t limit = 0;    ///< 0: no limit
    Document hint;        ///< the key pattern of the index to use; empty: the store chooses
  };
  /// Gets a document that lives for the call; a copy of it may be kept.
  using OnDocument = std::function<Status(const Document& document)>;

  /// The database that every call works on.
  const std::string& database() const { return database_; }

  /// Calls `each` for every document that matches; its error ends the walk and is returned.
  Status Find(const std::string& collection, const Document& filter, const FindOptions& options,
              const OnDocument& each);
  Status Find(const std::string& collection, const Document& filter, const OnDocument& each) {
    return Find(collection, filter, FindOptions(), each);
  }
  /// The first document that matches; nothing if there is none.
  Result<std::optional<Document>> FindOne(const std::string& collection, const Document& filter);
  /// The documents of these _ids, in any order; unknown ones are left out.
  Status FindIds(const std::string& collection, std::span<const std::string> ids, const OnDocument& each);
  /// How many documents match.
  Result<int64_t> Count(const std::string& collection, const Document& filter);

  /// A document that is there already is kDuplicateKey, or a conflict that makes the whole body run again. One without
  /// an _id gets an ObjectId.
  Status Insert(const std::string& collection, const Document& document);
  Status Insert(const std::string& collection, std::span<const Document> documents);
  Status Insert(const std::string& collection, std::span<const bson_t* const> documents);
  /// Each changes one document at most.
  Result<Matched> UpdateOnes(const std::string& collection, std::span<const Update> updates);
  Result<Matched> UpdateOne(const std::string& collection, const Update& update) {
    return UpdateOnes(collection, {&update, 1});
  }
  /// Removes every document that matches.
  Status Remove(const std::string& collection, const Document& filter);

  /// For the functions of libmongoc that the calls above do not cover: add the session to their options
  /// (mongoc_client_session_append) and give Failed() what they answered.
  mongoc_client_t* client() const { return client_; }
  mongoc_client_session_t* session() const { return session_; }

  /// Strings that an object (`owner`) keeps during this run of the body; nothing is written to the store.
  std::unordered_set<std::string>& Notes(const void* owner) { return notes_[owner]; }

  /// Keeps the server's reply to a failed command that the body ran itself, so that the reply's error labels decide on
  /// a retry.
  Status Failed(const bson_t& reply, const bson_error_t& error);

 private:
  friend class TransactionRunner;
  Transaction(mongoc_client_t* client, mongoc_client_session_t* session, std::string database)
      : client_(client), session_(session), database_(std::move(database)) {}
  void AppendSession(bson_t* opts) const;

  mongoc_client_t* client_;
  mongoc_client_session_t* session_;
  std::string database_;
  std::map<const void*, std::unordered_set<std::string>> notes_;
  std::optional<Document> failure_;  // what the server said of the command that failed
};

struct TransactionOptions {
  std::string database;
  /// Ends the retries when it becomes true; may be null.
  const std::atomic<bool>* stop = nullptr;
  /// Counts the runs of the body after its first; may be null.
  std::atomic<uint64_t>* retries = nullptr;
};

/// Runs `body` in a transaction (read concern snapshot, write concern majority) and commits it. The body may run
/// several times: a conflict, a lost connection or a stepped-down primary starts it again, with back-off, for up to two
/// minutes (error labels, as drivers do). So it must change nothing but the store and what it sets anew at each run.
/// OK: the commit is durable. An error: nothing was changed, except that after a commit whose answer was lost for two
/// minutes the changes may be there.
Status RunTransaction(Clients& clients, const TransactionOptions& options,
                      const std::function<Status(Transaction&)>& body);

}  // namespace braid
