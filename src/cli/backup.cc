// braid backup: a copy of a whole store, of a running server or of a directory, into a directory or one file.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <optional>

#include "base/strings.h"
#include "cli/backup/reach.h"
#include "cli/backup/source.h"
#include "cli/backup/target.h"
#include "cli/common_options.h"
#include "cli/job_report.h"
#include "cli/patience.h"
#include "cli/subcommands.h"
#include "cli/transfer/progress.h"
#include "client/handles.h"

namespace braid::cli {
namespace {

struct BackupArgs {
  std::string target;
  std::string store = "./data";
  size_t keep = 0;
  bool check = false;
  bool list = false;
  bool json = false;
  bool quiet = false;
};

std::string BackupProgress(const backup::BackupFigures& figures, Pace& pace) {
  const uint64_t done = figures.bytes_done;
  const uint64_t total = figures.bytes_total;
  const auto share = total > 0 ? std::optional(static_cast<double>(done) / static_cast<double>(total)) : std::nullopt;
  return StrCat("backup: ", transfer::Bytes(done), " of ", transfer::Bytes(total),
                ", bytes: ", pace.ToString(static_cast<int64_t>(done), share));
}

void PrintBackup(const BackupArgs& args, const backup::Target& target, const backup::BackupList& list,
                 const std::string& path, const backup::BackupFigures& figures, size_t removed) {
  if (!args.json) {
    std::printf("%s: %s of %s, %zu files; %s copied, %zu files shared with earlier backups%s\n", path.c_str(),
                transfer::Bytes(list.bytes()).c_str(), UtcText(list.time_millis).c_str(), list.files.size(),
                transfer::Bytes(figures.bytes_copied).c_str(), static_cast<size_t>(figures.files_shared),
                removed > 0 ? StrCat("; ", removed, " old removed").c_str() : "");
    return;
  }
  client::Bson json;
  json.Bool("ok", true).Text("path", path);
  if (target.id() > 0) json.Integer("backup", target.id());
  json.Text("time", UtcText(list.time_millis)).Integer("files", static_cast<int64_t>(list.files.size()));
  json.Integer("bytes", static_cast<int64_t>(list.bytes()));
  json.Integer("files_copied", static_cast<int64_t>(figures.files_copied.load()));
  json.Integer("bytes_copied", static_cast<int64_t>(figures.bytes_copied.load()));
  json.Integer("files_shared", static_cast<int64_t>(figures.files_shared.load()));
  json.Integer("removed", static_cast<int64_t>(removed));
  json.Integer("damaged", static_cast<int64_t>(target.damaged().size()));
  client::PrintJson(json);
}

Status MakeBackup(const BackupArgs& args) {
  const std::atomic<bool>& stop = StopOnInterrupt();
  // The store is opened first, so that a mistyped one leaves no target behind.
  BRAID_TRY(const backup::ReachedStore store, backup::ReachStore(args.store, backup::Reach::kCopy));
  BRAID_TRY(const std::unique_ptr<backup::Target> target,
            backup::Target::Open(args.target, {.check_known = args.check}));
  for (const std::filesystem::path& path : target->damaged()) {
    transfer::PrintLine(
        StrCat(path.string(), " is damaged: it is copied again, and later backups do not use the damaged copy"));
  }
  const Patience patience(args.store, {.stop = &stop, .json = args.json});
  backup::BackupFigures figures;
  Pace pace;
  std::optional<transfer::Progress> progress;
  progress.emplace([&] { return BackupProgress(figures, pace); }, args.quiet);
  BRAID_TRY(const backup::BackupList list, backup::ReceiveBackup(store, *target, stop, figures));
  BRAID_TRY(const std::filesystem::path path, target->Finish(list));
  progress.reset();
  size_t removed = 0;
  if (args.keep > 0) {
    BRAID_TRY(removed, target->Keep(args.keep));
  }
  PrintBackup(args, *target, list, path.string(), figures, removed);
  return {};
}

Status ListBackups(const BackupArgs& args) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(args.target, ignored)) {
    return Status(Code::kNamespaceNotFound, StrCat("there is no directory ", args.target));
  }
  BRAID_TRY(const std::vector<backup::FoundBackup> found, backup::FindBackups(args.target));
  client::Bson rows;
  int row_count = 0;
  size_t damaged = 0;
  for (const backup::FoundBackup& each : found) {
    client::Bson row;
    row.Integer("backup", each.id).Text("path", each.path.string());
    if (each.list.ok()) {
      row.Text("time", UtcText(each.list->time_millis)).Integer("files", static_cast<int64_t>(each.list->files.size()));
      row.Integer("bytes", static_cast<int64_t>(each.list->bytes()));
      if (!args.json) {
        std::printf("%lld  %s  %s  %zu files\n", static_cast<long long>(each.id),
                    UtcText(each.list->time_millis).c_str(), transfer::Bytes(each.list->bytes()).c_str(),
                    each.list->files.size());
      }
    } else {
      ++damaged;
      const std::string why(each.list.error().message());
      row.Text("error", why);
      if (!args.json) std::printf("%lld  %s\n", static_cast<long long>(each.id), why.c_str());
    }
    rows.Document(StrCat(row_count++).c_str(), row);
  }
  if (args.json) {
    client::Bson json;
    json.Bool("ok", damaged == 0).Array("backups", rows);
    client::PrintJson(json);
  }
  if (damaged > 0) return Status(Code::kStorageCorrupt, StrCat(damaged, " of ", found.size(), " backups are damaged"));
  return {};
}

}  // namespace

Action SetUpBackup(CLI::App& app) {
  const auto args = std::make_shared<BackupArgs>();
  app.add_option("TARGET", args->target,
                 "A directory, which keeps several backups that share what did not change; or a new file NAME.tar.")
      ->required()
      ->type_name("");
  AddStoreOption(app, args->store);
  app.add_option("--keep", args->keep, "Afterwards removes the oldest backups of the directory, so that N remain.")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  app.add_flag("--check", args->check,
               "Reads the tables of earlier backups before they are shared; damaged ones are copied again.");
  app.add_flag("--list", args->list, "Lists the backups of the directory and makes none.");
  app.add_flag("--json", args->json, "One JSON object on standard output; everything else goes to standard error.");
  app.add_flag("--quiet", args->quiet, "No progress.");
  CheckUsage(app, [args]() -> std::string {
    if (backup::IsArchive(args->target) && (args->keep > 0 || args->check || args->list)) {
      return "--keep, --check and --list are for a directory: a file is one backup";
    }
    return args->list && args->keep > 0 ? "--list removes nothing: leave --keep out" : "";
  });
  return [args] { return args->list ? ListBackups(*args) : MakeBackup(*args); };
}

}  // namespace braid::cli
