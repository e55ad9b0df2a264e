#include "cli/backup/reach.h"

#include <filesystem>
#include <fstream>

#include "base/log.h"
#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/backup/files.h"
#include "cli/common_options.h"
#include "client/fields.h"
#include "client/handles.h"
#include "embedded/private_view.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;
using embedded::Access;

std::string NotePath(const std::string& directory) { return (fs::path(directory) / "SERVER").string(); }

Result<ReachedStore> ReachHolder(const std::string& store, const Access& access) {
  // "mongodb://127.0.0.1:27017 65a1…\n"
  const std::string note = ReadSmallFile(NotePath(store)).value_or("");
  const std::string uri = note.substr(0, note.find(' '));
  if (!IsUri(uri) || uri.size() == note.size()) {
    return Status(Code::kFileAlreadyOpen,
                  StrCat(access.Describe(store), ", which is not braid serve: wait until it has ended"));
  }
  auto clients = Clients::Connect(uri);
  if (!clients.ok()) {
    return Status(Code::kFileAlreadyOpen, StrCat(access.Describe(store), ", and its server does not answer at ", uri,
                                                 ": ", clients.error().message()));
  }
  return ReachedStore{*std::move(clients), note.substr(uri.size() + 1, note.find('\n') - uri.size() - 1)};
}

Status NotBraid(const Status& status) {
  if (status.code() != Code::kCommandNotFound) return status;
  return {Code::kCommandNotSupported,
          StrCat("the server does not know this command, so it is not Braid: ", status.message())};
}

}  // namespace

ServerNote::ServerNote(const std::string& directory, const std::string& address, const std::string& process)
    : path_(NotePath(directory)) {
  std::ofstream note(path_, std::ios::trunc);
  note << "mongodb://" << address << " " << process << "\n";
  if (!note.flush())
    log::warn("cannot write {}: give braid backup the server's address instead of the directory", path_);
}

ServerNote::~ServerNote() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

Status ReachedStore::Check(std::string_view found) const {
  if (process.empty() || process == found) return {};
  return {Code::kFileAlreadyOpen,
          "the directory is in use by another process, and the server whose address is in it has another store"};
}

Result<ReachedStore> ReachStore(const std::string& store, Reach reach) {
  if (IsUri(store)) {
    BRAID_TRY(auto clients, cli::OpenStoreFor(store, StoreUse::kRead));
    return ReachedStore{std::move(clients), ""};
  }
  log::Init(log::Level::kWarning);
  std::error_code ignored;
  const Access access = fs::is_directory(store, ignored) ? embedded::LookAt(store) : Access();
  if (access.kind == Access::Kind::kInUse) return ReachHolder(store, access);
  if (access.kind == Access::Kind::kUnreadable) return Status(Code::kUnauthorized, access.Describe(store));
  const bool view = reach == Reach::kLook || access.kind != Access::Kind::kWritable;
  // As many shards as it has: one that has fewer than asked for would get more.
  auto opened = Embedded::Open({.directory = store, .create = false, .private_view = view, .shards = 1});
  if (opened.ok()) return ReachedStore{*std::move(opened), ""};
  if (opened.error().code() != Code::kNamespaceNotFound) return opened.error();
  return Status(Code::kNamespaceNotFound, StrCat("--store ", store, ": ", opened.error().message()));
}

// The cursor belongs to the session of the command that made it.
Status ForEachRow(Clients& clients, const bson_t* command, int64_t batch, const OnRow& row) {
  const Client client = clients.Acquire();
  bson_error_t error{};
  const client::SessionPtr session(mongoc_client_start_session(client.get(), nullptr, &error));
  if (session == nullptr) return client::FromError(error);
  client::Bson options;
  if (!mongoc_client_session_append(session.get(), options.get(), &error)) return client::FromError(error);
  bson_t reply;
  const bool ok =
      mongoc_client_read_command_with_opts(client.get(), "admin", command, nullptr, options.get(), &reply, &error);
  if (!ok) {
    bson_destroy(&reply);
    return NotBraid(client::FromError(error));
  }
  options.Integer("batchSize", batch);
  const client::CursorPtr cursor(mongoc_cursor_new_from_command_reply_with_opts(client.get(), &reply, options.get()));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) BRAID_CHECK_OK(row(document));
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return {};
}

}  // namespace braid::backup
