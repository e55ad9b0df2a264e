// Embedded: a whole Braid inside a program. A directory is opened, and libmongoc clients talk to it by function call.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "braid/clients.h"

namespace braid {

struct EmbeddedOptions {
  /// Where the data lives; created if absent. One process at a time has it open.
  std::string directory;
  /// Logical shards of new sharded collections. Default 4, 1..1024; a directory that has more keeps them.
  uint32_t shards = 4;
  /// Memory for cached data and unwritten changes. Default 512 MiB, at least 16 MiB.
  uint64_t cache_bytes = 512ull << 20;
};

struct ListenOptions {
  /// Loopback addresses.
  std::vector<std::string> addresses = {"127.0.0.1"};
  /// 0 takes a free port.
  uint16_t port = 0;
};

/// The engine and its clients in one process (E5). Any number of clients and threads; each client's commands run on the
/// thread that calls libmongoc. Every Client must be given back before the Embedded ends.
class Embedded final : public Clients {
 public:
  /// kFileAlreadyOpen if another process has the directory.
  static Result<std::unique_ptr<Embedded>> Open(const EmbeddedOptions& options);
  ~Embedded() override;

  /// Serves the same data over TCP too, until the object ends; once. Gives the address, such as "127.0.0.1:27017".
  Result<std::string> Listen(const ListenOptions& options);

  /// A store that went read-only (a full disk, a damaged file) has to be opened anew.
  bool MayRecover(const Status& error) const override { return error.code() != Code::kStoreReadOnly; }

 private:
  struct Parts;
  explicit Embedded(std::unique_ptr<Parts> parts);
  mongoc_client_t* Pop() override;
  void Push(mongoc_client_t* client) override;
  std::unique_ptr<Parts> parts_;
};

/// True for mongodb:// and mongodb+srv://.
bool IsUri(const std::string& store);

/// The one store option: a URI is connected to, anything else is a directory that is opened in this process. Who uses
/// the result cannot tell the difference.
Result<std::unique_ptr<Clients>> OpenStore(const std::string& store);

}  // namespace braid
