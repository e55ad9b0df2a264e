// Clients: where every pattern and service gets its connections from, whatever the store is (E5).
#pragma once

#include <mongoc/mongoc.h>

#include <memory>
#include <string>
#include <utility>

#include "braid/status.h"

namespace braid {

class Client;

/// A store to talk to, as libmongoc clients. Any thread.
class Clients {
 public:
  /// A server, replica set or sharded cluster. Checks the URI and that a server answers there, within 5 s unless the
  /// URI says otherwise. At most `clients_max` clients at a time: one more Acquire() waits.
  static Result<std::unique_ptr<Clients>> Connect(const std::string& uri, uint32_t clients_max = 100);
  virtual ~Clients() = default;
  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  Client Acquire();

  /// False if an error of the store lasts for as long as this object does, so that trying again is of no use.
  virtual bool MayRecover(const Status& /*error*/) const { return true; }

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
  mongoc_client_t* get() const { return client_; }

 private:
  Clients* clients_;
  mongoc_client_t* client_;  // null only after a move
};

inline Client Clients::Acquire() { return Client(*this); }

}  // namespace braid
