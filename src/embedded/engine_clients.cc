#include "embedded/engine_clients.h"

#include "base/assert.h"
#include "base/mutex.h"
#include "embedded/stream.h"

namespace braid::embedded {

EngineClients::EngineClients(commands::Engine& engine, wire::Handler& handler) : engine_(engine), handler_(handler) {
  client::InitOnce();
}

mongoc_client_t* EngineClients::Pop() {
  {
    const MutexLock lock(mu_);
    ++lent_;
    if (!idle_.empty()) {
      mongoc_client_t* client = idle_.back().release();
      idle_.pop_back();
      return client;
    }
  }
  // Clients of a pool cannot be given a stream of our own, so each is made alone. The host is never looked up.
  mongoc_client_t* client = mongoc_client_new("mongodb://embedded/?appName=embedded");
  BRAID_ASSERT(client != nullptr);
  mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
  const mongoc_stream_initiator_t connect = [](const mongoc_uri_t*, const mongoc_host_list_t*, void* clients,
                                               bson_error_t*) {
    auto* self = static_cast<EngineClients*>(clients);
    return NewStream(self->engine_, self->handler_);
  };
  mongoc_client_set_stream_initiator(client, connect, this);
  return client;
}

void EngineClients::Push(mongoc_client_t* client) {
  const MutexLock lock(mu_);
  --lent_;
  idle_.emplace_back(client);
}

size_t EngineClients::lent() const {
  const MutexLock lock(mu_);
  return lent_;
}

void EngineClients::Clear() {
  const MutexLock lock(mu_);
  idle_.clear();
}

}  // namespace braid::embedded
