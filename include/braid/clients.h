// Clients: where every pattern and service gets its connections from, whatever the store is (E5).
//
//   Result<std::unique_ptr<Clients>> store = Clients::Connect("mongodb://127.0.0.1:27017");
//   if (!store.ok()) return store.error();
//   BRAID_TRY(Document reply, (*store)->Acquire().Command("admin", {{"ping", 1}}));
//
// braid/embedded.h opens a directory in this process as the same kind of object, and OpenStore() there opens either,
// depending on the name.
#pragma once

#include <mongoc/mongoc.h>

#include <memory>
#include <string>
#include <utility>

#include "braid/document.h"
#include "braid/status.h"

namespace braid {

class Client;

/// A store to talk to, as libmongoc clients. Any thread. Must outlive the Client objects and the patterns that use it.
class Clients {
 public:
  /// A server, replica set or sharded cluster. Checks the URI and that a server answers there, within 5 s unless the
  /// URI says otherwise. At most `clients_max` clients are in use at a time: a further Acquire() waits.
  static Result<std::unique_ptr<Clients>> Connect(const std::string& uri, uint32_t clients_max = 100);
  virtual ~Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  /// A client for this thread, until it is destroyed. Cheap: clients are kept and lent again.
  Client Acquire();

  /// Ends the use of the store and reports errors, which a destructor cannot do. Every Client must have been given
  /// back; otherwise nothing is closed, and the result is kConflictingOperationInProgress. Afterwards only the
  /// destructor and Close() may be called. For a connection to a server this is always OK, because the server is not
  /// involved.
  virtual Status Close() { return {}; }

  /// False if the store's error is permanent for this object, so that a retry cannot succeed: for example, a damaged
  /// file must be restored first.
  virtual bool MayRecover(const Status& error) const { return error.code() != Code::kStorageCorrupt; }

 protected:
  Clients() = default;

 private:
  friend class Client;
  virtual mongoc_client_t* Pop() = 0;
  virtual void Push(mongoc_client_t* client) = 0;
};

/// One client, given back at the end. Move-only; must not outlive its Clients. One thread at a time.
class Client {
 public:
  explicit Client(Clients& clients) : clients_(&clients), client_(clients.Pop()) {}
  Client(Client&& other) noexcept : clients_(other.clients_), client_(std::exchange(other.client_, nullptr)) {}
  Client& operator=(Client&& other) noexcept {
    std::swap(clients_, other.clients_);
    std::swap(client_, other.client_);
    return *this;
  }
  ~Client() {
    if (client_ != nullptr) clients_->Push(client_);
  }
  /// Runs a command, such as {{"createIndexes", "orders"}, …}, and gives the server's reply; the server's error if it
  /// fails. Not part of any transaction.
  Result<Document> Command(const std::string& database, const Document& command) const;
  /// For any function of libmongoc.
  mongoc_client_t* get() const { return client_; }

 private:
  Clients* clients_;
  mongoc_client_t* client_;  // null only after a move
};

inline Client Clients::Acquire() { return Client(*this); }

}  // namespace braid
