// Embedded: a complete Braid inside a program. It opens a directory, and its clients reach it by function calls.
//
//   BRAID_TRY(std::unique_ptr<Embedded> store, Embedded::Open({.directory = "./data"}));
//   BRAID_CHECK_OK(RunTransaction(*store, {.database = "example"}, [](Transaction& transaction) {
//     return transaction.Insert("visits", {{"page", "/"}});
//   }));
//   return store->Close();
//
// OpenStore() opens a directory or connects to a server, as its argument says: the rest of a program is the same.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid {

struct EmbeddedOptions {
  /// The directory of the data. Only one process at a time can have it open.
  std::string directory;
  /// Creates a store if there is none. If false, a missing store is kNamespaceNotFound, and the disk is not changed.
  bool create = true;
  /// Opens a private view instead of the directory itself, so that nothing is written there: for a directory that may
  /// only be read, or that another process has open. Writes are lost when the object ends.
  bool private_view = false;
  /// Logical shards of new sharded collections. Default 4, 1..1024; a directory that has more keeps them.
  uint32_t shards = 4;
  /// Memory for cached data and unwritten changes. Default 512 MiB, at least 16 MiB.
  uint64_t cache_bytes = 512ull << 20;
  /// Opens a store although its files have lost data that had been durable; the log says what is missing. If false,
  /// such a store is kStorageCorrupt.
  bool accept_loss = false;
};

struct ListenOptions {
  /// Loopback addresses.
  std::vector<std::string> addresses = {"127.0.0.1"};
  /// 0 takes a free port.
  uint16_t port = 0;
};

/// The engine and its clients in one process (E5). Any number of clients and threads; each client's commands run on the
/// thread that calls libmongoc. Every Client must be given back before the Embedded ends, and nothing else may use it
/// while it is destroyed or closed.
class Embedded final : public Clients {
 public:
  /// kFileAlreadyOpen if another process has the directory.
  static Result<std::unique_ptr<Embedded>> Open(const EmbeddedOptions& options);
  /// Calls Close() if that was not done, and discards its error.
  ~Embedded() override;
  /// Ends the server of Listen(), makes durable what was written with {j: false} or {w: 0}, and gives the directory
  /// back. kStoreReadOnly if the store had stopped accepting writes; it is closed in this case, too.
  Status Close() override;

  /// Also serves the same data over TCP, until the object is destroyed. May be called once. Returns the address, such
  /// as "127.0.0.1:27017".
  Result<std::string> Listen(const ListenOptions& options);

  /// False once the store is read-only (a full disk, a damaged file): it has to be opened again.
  bool MayRecover(const Status& error) const override {
    return error.code() != Code::kStoreReadOnly && Clients::MayRecover(error);
  }

 private:
  struct Parts;
  explicit Embedded(std::unique_ptr<Parts> parts);
  mongoc_client_t* Pop() override;
  void Push(mongoc_client_t* client) override;
  std::unique_ptr<Parts> parts_;  // null once closed
};

/// True for mongodb:// and mongodb+srv://.
bool IsUri(const std::string& store);

/// The purpose that a store is opened for.
enum class StoreUse {
  kCreate,    ///< to write; creates the store if there is none
  kExisting,  ///< to write to a store that must exist
  /// To read from a store that must exist. A directory that cannot be written to, or that another process has open, is
  /// read through a private view; nothing is written there.
  kRead,
};

/// kBadValue for a URI of an unknown scheme, such as http://host, which would otherwise be taken for a directory.
Status CheckStoreName(const std::string& store);

/// Opens what `--store` names: connects to a URI, and opens anything else as a directory in this process. Both are used
/// alike. kNamespaceNotFound for a directory that holds no store, unless it may be created.
Result<std::unique_ptr<Clients>> OpenStore(const std::string& store, StoreUse use = StoreUse::kCreate);

}  // namespace braid
