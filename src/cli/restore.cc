// braid restore: makes a store from a backup, after every byte was compared with its checksum and the store was opened.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/log.h"
#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/backup/files.h"
#include "cli/backup/source.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/progress.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

struct RestoreArgs {
  std::string source;
  std::string store;
  std::optional<int64_t> backup;
  std::string at;
  bool json = false;
  bool quiet = false;
};

/// The contents of a store in a few numbers.
struct Holdings {
  struct Collection {
    std::string name;  // with its database
    int64_t documents = 0;
  };
  std::vector<Collection> collections;

  int64_t documents() const {
    int64_t sum = 0;
    for (const Collection& collection : collections) sum += collection.documents;
    return sum;
  }
};

struct FreeNames {
  void operator()(char** names) const { bson_strfreev(names); }
};
using Names = std::unique_ptr<char*, FreeNames>;

Status CountDatabase(mongoc_client_t* client, const char* name, Holdings& holdings) {
  const client::DatabasePtr database(mongoc_client_get_database(client, name));
  bson_error_t error{};
  const Names collections(mongoc_database_get_collection_names_with_opts(database.get(), nullptr, &error));
  if (collections == nullptr) return client::FromError(error);
  for (char** each = collections.get(); *each != nullptr; ++each) {
    client::Bson command;
    command.Text("count", *each);
    BRAID_TRY(const client::BsonPtr reply, client::RunCommand(client, name, command.get()));
    holdings.collections.push_back({StrCat(name, ".", *each), client::IntegerOf(reply.get(), "n")});
  }
  return {};
}

/// Every collection and the number of its documents.
Result<Holdings> CountHoldings(Clients& clients) {
  const Client client = clients.Acquire();
  bson_error_t error{};
  const Names databases(mongoc_client_get_database_names_with_opts(client.get(), nullptr, &error));
  if (databases == nullptr) return client::FromError(error);
  Holdings holdings;
  for (char** each = databases.get(); *each != nullptr; ++each) {
    const std::string_view name = *each;
    if (name == "config" || name == "admin") continue;  // views of the server itself
    BRAID_CHECK_OK(CountDatabase(client.get(), *each, holdings));
  }
  return holdings;
}

/// The directory in which the store is made; removed at the end unless it was renamed to the store.
class WorkDirectory {
 public:
  explicit WorkDirectory(fs::path path) : path_(std::move(path)) {}
  ~WorkDirectory() {
    std::error_code ignored;
    if (!kept_) fs::remove_all(path_, ignored);
  }
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  static Result<std::unique_ptr<WorkDirectory>> Make(const fs::path& store) {
    const fs::path path = store.string() + ".restoring";
    std::error_code error;
    fs::create_directories(path.parent_path(), error);
    if (!error && fs::create_directory(path, error)) return std::make_unique<WorkDirectory>(path);
    if (error) return backup::FileError(StrCat("create ", path.string()), error.value());
    return Status(Code::kIllegalOperation,
                  StrCat(path.string(), " exists: another restore is running, or was killed; in that case remove it"));
  }

  const fs::path& path() const { return path_; }
  Status BecomeStore(const fs::path& store) {
    BRAID_CHECK_OK(backup::RenameDurably(path_, store));  // over an empty directory, if there is one
    kept_ = true;
    return {};
  }

 private:
  const fs::path path_;
  bool kept_ = false;
};

Status CheckEmpty(const fs::path& store) {
  std::error_code error;
  if (!fs::exists(store, error)) return {};
  if (fs::is_directory(store, error) && fs::is_empty(store, error) && !error) return {};
  return {Code::kIllegalOperation,
          StrCat("--store ", store.string(), " is not empty: a backup is restored into a new directory, and takes the ",
                 "place of nothing")};
}

Status DamagedBackup(const std::vector<std::string>& damage) {
  std::string text = "the backup is damaged, and nothing was restored:";
  for (const std::string& line : damage) text += StrCat("\n  ", line);
  return {Code::kStorageCorrupt, text};
}

Result<backup::BackupList> CopyBackup(const RestoreArgs& args, const fs::path& from, const fs::path& to) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  std::atomic<uint64_t> done{0};
  Pace pace;
  const transfer::Progress progress(
      [&] {
        const uint64_t bytes = done;
        return StrCat("restore: ", transfer::Bytes(bytes),
                      ", bytes: ", pace.ToString(static_cast<int64_t>(bytes), std::nullopt));
      },
      args.quiet);
  std::optional<backup::OutputFile> output;
  backup::BackupVisitor visitor;
  visitor.bytes_read = &done;
  visitor.start = [&](const std::string& name) -> Status {
    BRAID_TRY(backup::OutputFile created, backup::OutputFile::Create(to / name));
    output.emplace(std::move(created));
    return {};
  };
  visitor.bytes = [&](std::string_view bytes) -> Status {
    BRAID_CHECK_OK(backup::CheckStop(stop));
    return output->Write(bytes);
  };
  visitor.end = [&] { return output->Finish(); };
  BRAID_TRY(backup::ReadBackup read, backup::ReadWhole(from, visitor));
  if (!read.damage.empty()) return DamagedBackup(read.damage);
  BRAID_CHECK_OK(backup::SyncDirectory(to));
  return std::move(read.list);
}

/// With as many shards as it has: one that has fewer than asked for would get more.
Result<Holdings> OpenAndCount(const fs::path& directory) {
  log::Init(log::Level::kWarning);
  BRAID_TRY(const std::unique_ptr<Embedded> opened,
            Embedded::Open({.directory = directory.string(), .create = false, .shards = 1}));
  return CountHoldings(*opened);
}

void PrintRestored(const RestoreArgs& args, const fs::path& from, const backup::BackupList& list,
                   const Holdings& holdings) {
  if (!args.json) {
    std::printf("%s: restored from %s, as it was at %s: %zu collections, %lld documents\n", args.store.c_str(),
                from.c_str(), UtcText(list.time_millis).c_str(), holdings.collections.size(),
                static_cast<long long>(holdings.documents()));
    return;
  }
  client::Bson rows;
  int row_count = 0;
  for (const Holdings::Collection& collection : holdings.collections) {
    client::Bson row;
    row.Text("collection", collection.name).Integer("documents", collection.documents);
    rows.Document(StrCat(row_count++).c_str(), row);
  }
  client::Bson json;
  json.Bool("ok", true).Text("store", args.store).Text("backup", from.string()).Text("time", UtcText(list.time_millis));
  json.Integer("documents", holdings.documents()).Array("collections", rows);
  client::PrintJson(json);
}

Status RunRestore(const RestoreArgs& args) {
  if (!args.at.empty()) {
    return Status(Code::kCommandNotSupported,
                  StrCat("--at ", args.at, ": no log of changes is kept after a backup, so a store can be restored ",
                         "only as it was when a backup began; braid backup --list shows when"));
  }
  const fs::path store = fs::absolute(args.store).lexically_normal();
  const fs::path directory = store.has_filename() ? store : store.parent_path();
  BRAID_CHECK_OK(CheckEmpty(directory));
  BRAID_TRY(const fs::path from, backup::ChooseBackup(args.source, args.backup));
  BRAID_TRY(const std::unique_ptr<WorkDirectory> work, WorkDirectory::Make(directory));
  BRAID_TRY(const backup::BackupList list, CopyBackup(args, from, work->path()));
  BRAID_TRY(const Holdings holdings, OpenAndCount(work->path()));
  BRAID_CHECK_OK(work->BecomeStore(directory));
  PrintRestored(args, from, list, holdings);
  return {};
}

}  // namespace

Action SetUpRestore(CLI::App& app) {
  const auto args = std::make_shared<RestoreArgs>();
  app.add_option("SOURCE", args->source, "A directory with backups, one of them, or a file NAME.tar.")
      ->required()
      ->type_name("");
  app.add_option("--store", args->store, "The directory of the new store; it must be empty or not exist.")
      ->required()
      ->type_name("DIR");
  app.add_option("--backup", args->backup,
                 "Which backup of the directory, as braid backup --list shows it; by default "
                 "the newest.")
      ->type_name("N");
  app.add_option("--at", args->at, "A point in time between backups: refused, since no log of changes is kept.")
      ->type_name("TIME");
  app.add_flag("--json", args->json, "One JSON object on standard output; everything else goes to standard error.");
  app.add_flag("--quiet", args->quiet, "No progress.");
  CheckUsage(app, [args]() -> std::string {
    return IsUri(args->store) || args->store.empty() ? "--store needs a directory, such as --store ./data" : "";
  });
  return [args] { return RunRestore(*args); };
}

}  // namespace braid::cli
