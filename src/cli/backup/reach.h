// How `braid backup` and `braid verify` reach a whole store: through its server, also if the named directory is open in
// a server.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "braid/clients.h"

namespace braid::backup {

/// A server's address in the directory of its store, as long as the object exists, so that the server can be found from
/// the directory. A file left by a killed server does no harm: it is read only while a process has the directory open,
/// and the server that is found must be the one that wrote it.
class ServerNote {
 public:
  /// `address` such as "127.0.0.1:27017"; `process`: the engine's, which it tells its clients. If the note cannot be
  /// written, only this feature is missing.
  ServerNote(const std::string& directory, const std::string& address, const std::string& process);
  ~ServerNote();
  ServerNote(const ServerNote&) = delete;
  ServerNote& operator=(const ServerNote&) = delete;

 private:
  const std::string path_;
};

struct ReachedStore {
  std::unique_ptr<Clients> clients;
  /// The id of the process that has the directory open; empty if the store itself was named.
  std::string process;
  /// Whether the server that answers is that process.
  Status Check(std::string_view found) const;
};

enum class Reach {
  kCopy,  ///< a directory is opened as it is
  kLook,  ///< a directory is opened through a private view: nothing is written there
};
/// A URI, or a directory with a store. One that another process has open is reached through its server.
Result<ReachedStore> ReachStore(const std::string& store, Reach reach);

/// Runs a command of admin that answers with a cursor, and gives each of its documents to `row`, until that fails. The
/// server is asked for `batch` of them at a time. kCommandNotSupported if the server is not Braid.
using OnRow = std::function<Status(const bson_t* row)>;
Status ForEachRow(Clients& clients, const bson_t* command, int64_t batch, const OnRow& row);

}  // namespace braid::backup
