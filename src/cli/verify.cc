// braid verify: reads everything that a store or a backup holds, and says what is damaged.
#include <CLI/CLI.hpp>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/strings.h"
#include "braid/embedded.h"
#include "cli/backup/files.h"
#include "cli/backup/reach.h"
#include "cli/backup/source.h"
#include "cli/backup/target.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/progress.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

namespace fs = std::filesystem;

struct VerifyArgs {
  std::string store = "./data";
  bool json = false;
  bool quiet = false;
};

struct Verified {
  struct Damage {
    std::string kind;   // "table", "collection", "store", "backup"
    std::string where;  // its name; empty: the store as a whole
    std::string what;
  };
  int64_t files = 0;  // of a backup, that were compared with its list
  int64_t tables = 0;
  int64_t collections = 0;
  int64_t documents = 0;
  int64_t keys = 0;
  std::vector<Damage> damage;
  bool complete = false;
  std::atomic<uint64_t> bytes_done{0};  // of tables, documents and backups
  std::atomic<int64_t> bytes_total{0};  // of tables
};

void AddErrors(const bson_t* row, const std::string& kind, const std::string& where, Verified& verified) {
  bson_iter_t errors;
  bson_iter_t error;
  if (!bson_iter_init_find(&errors, row, "errors") || !bson_iter_recurse(&errors, &error)) return;
  while (bson_iter_next(&error)) {
    verified.damage.push_back({.kind = kind, .where = where, .what = bson_iter_utf8(&error, nullptr)});
  }
}

void TakeVerifyRow(const bson_t* row, Verified& verified) {
  if (bson_has_field(row, "store")) {
    verified.bytes_total = client::IntegerOf(row, "bytes");
    return;
  }
  verified.bytes_done += static_cast<uint64_t>(client::IntegerOf(row, "bytes"));
  if (bson_has_field(row, "table")) {
    ++verified.tables;
    AddErrors(row, "table", std::string(client::TextOf(row, "table")), verified);
  } else if (bson_has_field(row, "collection")) {
    ++verified.collections;
    verified.documents += client::IntegerOf(row, "documents");
    verified.keys += client::IntegerOf(row, "keys");
    AddErrors(row, "collection", std::string(client::TextOf(row, "collection")), verified);
  } else if (client::BoolOf(row, "end")) {
    verified.complete = true;
  } else {
    verified.keys += client::IntegerOf(row, "keys");
    AddErrors(row, "store", "", verified);
  }
}

/// A backup's own checksums cover every byte, also where RocksDB has none.
Status VerifyBackupFiles(const fs::path& path, Verified& verified, const std::atomic<bool>& stop) {
  backup::BackupVisitor visitor;
  visitor.bytes_read = &verified.bytes_done;
  visitor.bytes = [&stop](std::string_view) { return backup::CheckStop(stop); };
  auto read = backup::ReadWhole(path, visitor);
  if (!read.ok() && read.error().code() != Code::kStorageCorrupt) return read.error();
  if (!read.ok()) {
    verified.damage.push_back({.kind = "backup", .where = path.string(), .what = std::string(read.error().message())});
    return {};
  }
  verified.files += static_cast<int64_t>(read->list.files.size());
  for (std::string& line : read->damage) {
    verified.damage.push_back({.kind = "backup", .where = path.string(), .what = std::move(line)});
  }
  return {};
}

Status VerifyStore(const std::string& store, Verified& verified, const std::atomic<bool>& stop) {
  auto reached = backup::ReachStore(store, backup::Reach::kLook);
  if (!reached.ok() && reached.error().code() == Code::kStorageCorrupt) {
    verified.damage.push_back({.kind = "store", .where = "", .what = std::string(reached.error().message())});
    return {};
  }
  if (!reached.ok()) return reached.error();
  client::Bson batch;
  batch.Integer("batchSize", 0);
  client::Bson command;
  command.Integer("braidVerify", 1).Document("cursor", batch);
  BRAID_CHECK_OK(backup::ForEachRow(*reached->clients, command.get(), 1, [&](const bson_t* row) -> Status {
    BRAID_CHECK_OK(backup::CheckStop(stop));
    if (bson_has_field(row, "store")) BRAID_CHECK_OK(reached->Check(client::TextOf(row, "process")));
    TakeVerifyRow(row, verified);
    return {};
  }));
  if (!verified.complete) return {Code::kProtocolError, "the server ended before everything was read"};
  return {};
}

/// The backups that --store names: a backup itself, in a directory or a file, or all those of a directory of backups.
Result<std::vector<fs::path>> BackupsAt(const std::string& store) {
  std::error_code ignored;
  if (IsUri(store)) return std::vector<fs::path>();
  if (fs::is_regular_file(store, ignored) || fs::exists(fs::path(store) / backup::kListName, ignored)) {
    return std::vector<fs::path>{store};
  }
  BRAID_TRY(const std::vector<backup::FoundBackup> found, backup::FindBackups(store));
  std::vector<fs::path> paths;
  paths.reserve(found.size());
  for (const backup::FoundBackup& each : found) paths.push_back(each.path);
  return paths;
}

void PrintVerified(const VerifyArgs& args, const Verified& verified) {
  if (!args.json) {
    for (const Verified::Damage& damage : verified.damage) {
      std::printf("%s%s%s: %s\n", damage.kind.c_str(), damage.where.empty() ? "" : " ", damage.where.c_str(),
                  damage.what.c_str());
    }
    std::string read = verified.files > 0 ? StrCat(verified.files, " files of backups") : "";
    if (verified.complete) {
      read += StrCat(read.empty() ? "" : ", ", verified.tables, " tables, ", verified.collections, " collections, ",
                     verified.documents, " documents, ", verified.keys, " entries of indexes and other keys");
    }
    std::printf("%s: %s read; %s\n", args.store.c_str(), read.empty() ? "nothing" : read.c_str(),
                verified.damage.empty() ? "nothing is damaged" : "damaged");
    return;
  }
  client::Bson rows;
  int row_count = 0;
  for (const Verified::Damage& damage : verified.damage) {
    client::Bson row;
    row.Text("kind", damage.kind).Text("where", damage.where).Text("what", damage.what);
    rows.Document(StrCat(row_count++).c_str(), row);
  }
  client::Bson json;
  json.Bool("ok", verified.damage.empty()).Text("store", args.store);
  if (verified.files > 0) json.Integer("files", verified.files);
  json.Integer("tables", verified.tables);
  json.Integer("collections", verified.collections).Integer("documents", verified.documents);
  json.Integer("keys", verified.keys).Array("damage", rows);
  client::PrintJson(json);
}

Status RunVerify(const VerifyArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  const Patience patience(args.store, {.stop = &stop, .json = args.json});
  Verified verified;
  Pace pace;
  std::optional<transfer::Progress> progress;
  progress.emplace(
      [&] {
        const uint64_t bytes = verified.bytes_done;
        return StrCat("verify: ", transfer::Bytes(bytes), " read, tables have ",
                      transfer::Bytes(static_cast<uint64_t>(verified.bytes_total.load())),
                      ", bytes: ", pace.ToString(static_cast<int64_t>(bytes), std::nullopt));
      },
      args.quiet);
  BRAID_TRY(const std::vector<fs::path> backups, BackupsAt(args.store));
  for (const fs::path& path : backups) BRAID_CHECK_OK(VerifyBackupFiles(path, verified, stop));
  std::error_code ignored;
  const bool is_backup = backups.size() == 1 && backups.front() == args.store && fs::is_directory(args.store, ignored);
  if (is_backup || backups.empty()) BRAID_CHECK_OK(VerifyStore(args.store, verified, stop));
  progress.reset();
  PrintVerified(args, verified);
  if (verified.damage.empty()) return {};
  return Status(Code::kStorageCorrupt, StrCat("damaged in ", verified.damage.size(), " places"));
}

}  // namespace

Action SetUpVerify(CLI::App& app) {
  const auto args = std::make_shared<VerifyArgs>();
  AddStoreOption(app, args->store);
  app.add_flag("--json", args->json, "One JSON object on standard output; everything else goes to standard error.");
  app.add_flag("--quiet", args->quiet, "No progress.");
  return [args] { return RunVerify(*args); };
}

}  // namespace braid::cli
