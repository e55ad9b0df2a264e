// EngineClients: libmongoc clients of an engine in this process.
#pragma once

#include <vector>

#include "base/mutex.h"
#include "braid/clients.h"
#include "client/handles.h"
#include "engine/commands/engine.h"
#include "engine/wire/handler.h"

namespace braid::embedded {

/// Any number of clients and threads; each client's commands run on the thread that calls libmongoc. The engine and its
/// handler must outlive it, and every Client must be given back before it ends.
class EngineClients final : public Clients {
 public:
  EngineClients(commands::Engine& engine, wire::Handler& handler);

  /// False once the store is read-only (a full disk, a damaged file): it has to be opened again.
  bool MayRecover(const Status& error) const override {
    return error.code() != Code::kStoreReadOnly && Clients::MayRecover(error);
  }

  mongoc_client_t* Pop() override;
  void Push(mongoc_client_t* client) override;
  /// Destroys the idle clients.
  void Clear();
  /// How many clients are in use.
  size_t lent() const;

 private:
  commands::Engine& engine_;
  wire::Handler& handler_;
  mutable Mutex mu_;
  std::vector<client::ClientPtr> idle_ BRAID_GUARDED_BY(mu_);
  size_t lent_ BRAID_GUARDED_BY(mu_) = 0;
};

}  // namespace braid::embedded
