// RunTransaction: several changes that happen together or not at all, on any store that speaks the MongoDB protocol.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid {

/// What a transaction's body works with. Reads see one snapshot and the transaction's own writes. One thread at a time;
/// lives as long as the body runs. After an error the body must return it: nothing else of the transaction is kept.
class Transaction {
 public:
  struct Update {
    const bson_t* filter;
    const bson_t* change;
    bool upsert = false;
  };
  struct Matched {
    int64_t matched = 0;
    int64_t modified = 0;
    int64_t upserted = 0;
  };
  struct FindOptions {
    const bson_t* sort = nullptr;
    const bson_t* projection = nullptr;
    int64_t limit = 0;  // 0: no limit
  };
  using OnDocument = std::function<Status(const bson_t& document)>;

  /// Where every call works.
  const std::string& database() const { return database_; }

  /// Calls `each` for every document that matches; its error ends the walk and is returned.
  Status Find(const std::string& collection, const bson_t* filter, const FindOptions& options, const OnDocument& each);
  Status Find(const std::string& collection, const bson_t* filter, const OnDocument& each) {
    return Find(collection, filter, FindOptions(), each);
  }
  /// The documents of these _ids, in any order; unknown ones are left out.
  Status FindIds(const std::string& collection, std::span<const std::string> ids, const OnDocument& each);
  /// A document that is there already is kDuplicateKey, or a conflict that makes the whole body run again.
  Status Insert(const std::string& collection, std::span<const bson_t* const> documents);
  /// Each changes one document at most.
  Result<Matched> UpdateOnes(const std::string& collection, std::span<const Update> updates);
  /// Removes every document that matches.
  Status Remove(const std::string& collection, const bson_t* filter);

  mongoc_client_t* client() const { return client_; }
  mongoc_client_session_t* session() const { return session_; }

  /// Remembers what the server said of a failed command of the body's own, so that its labels decide on a retry.
  Status Failed(const bson_t& reply, const bson_error_t& error);

 private:
  friend class TransactionRunner;
  Transaction(mongoc_client_t* client, mongoc_client_session_t* session, std::string database)
      : client_(client), session_(session), database_(std::move(database)) {}
  void AppendSession(bson_t* opts) const;

  mongoc_client_t* client_;
  mongoc_client_session_t* session_;
  std::string database_;
  std::unique_ptr<bson_t, void (*)(bson_t*)> failure_{nullptr, bson_destroy};
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
