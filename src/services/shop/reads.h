// Reads: finding documents inside a transaction or outside of one, by the same calls.
#pragma once

#include <functional>
#include <string>

#include "braid/transaction.h"
#include "client/handles.h"

namespace braid::shop {

/// One thread at a time; lives no longer than what it was made from.
class Reads {
 public:
  /// Of the transaction's snapshot, with its own writes.
  explicit Reads(Transaction& transaction) : transaction_(&transaction) {}
  /// Of the latest committed state, each call by itself: one round trip, without a transaction's commit.
  Reads(const Client& client, const std::string& database) : client_(client.get()), database_(database) {}

  Status Find(const char* collection, const bson_t* filter, const Transaction::FindOptions& options,
              const Transaction::OnDocument& each);
  /// The first that matches; null if there is none.
  Result<client::BsonPtr> FindOne(const char* collection, const bson_t* filter);

 private:
  Transaction* transaction_ = nullptr;
  mongoc_client_t* client_ = nullptr;
  std::string database_;
};

}  // namespace braid::shop
