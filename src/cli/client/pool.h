// A pool of connections to one server.
#pragma once

#include <string>
#include <utility>

#include "base/status.h"
#include "cli/client/handles.h"

namespace braid::client {

/// One connection, given back to its pool at the end. Move-only; must not outlive the pool. One thread at a time.
class Lease {
 public:
  explicit Lease(mongoc_client_pool_t* pool) : pool_(pool), client_(mongoc_client_pool_pop(pool)) {}
  Lease(Lease&& other) noexcept : pool_(other.pool_), client_(std::exchange(other.client_, nullptr)) {}
  Lease& operator=(Lease&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(client_, other.client_);
    return *this;
  }
  ~Lease() {
    if (client_ != nullptr) mongoc_client_pool_push(pool_, client_);
  }
  mongoc_client_t* get() const { return client_; }
  CollectionPtr Collection(const std::string& database, const std::string& collection) const {
    return CollectionPtr(mongoc_client_get_collection(client_, database.c_str(), collection.c_str()));
  }

 private:
  mongoc_client_pool_t* pool_;
  mongoc_client_t* client_;  // null only after a move
};

/// Any thread. Connections are opened when first used.
class Pool {
 public:
  /// Checks the URI and that a server answers there, within 5 s unless the URI says otherwise.
  static Result<Pool> Connect(const std::string& uri, size_t clients_max);
  Lease Acquire() { return Lease(pool_.get()); }

 private:
  explicit Pool(PoolPtr pool) : pool_(std::move(pool)) {}
  PoolPtr pool_;
};

/// Runs a command on a database and gives its reply.
Result<BsonPtr> RunCommand(mongoc_client_t* client, const char* database, const bson_t* command);

/// Drops a collection; OK if there is none.
Status DropCollection(mongoc_client_t* client, const std::string& database, const std::string& collection);

}  // namespace braid::client
