// The check of the write-ahead log before the store opens.
#include "engine/storage/start_check.h"

#include <rocksdb/file_system.h>

#include <algorithm>

#include "base/assert.h"
#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/directory.h"
#include "engine/storage/log_scan.h"
#include "engine/storage/options.h"

namespace braid::storage {
namespace {

Result<std::vector<FoundLog>> ListLogs(rocksdb::FileSystem& files, const std::string& directory) {
  std::vector<std::string> names;
  BRAID_CHECK_OK(Translate(files.GetChildren(directory, {}, &names, nullptr), "cannot list the directory"));
  std::vector<FoundLog> logs;
  logs.reserve(names.size());
  for (const std::string& name : names) {
    if (const auto number = LogNumber(name)) logs.push_back({.number = *number, .path = StrCat(directory, "/", name)});
  }
  std::sort(logs.begin(), logs.end(), [](const FoundLog& a, const FoundLog& b) { return a.number < b.number; });
  return logs;
}

Status ReadLog(rocksdb::FileSystem& files, const std::string& path, LogScan& scan) {
  const std::string doing = StrCat("cannot read the log ", path);
  std::unique_ptr<rocksdb::FSSequentialFile> file;
  BRAID_CHECK_OK(Translate(files.NewSequentialFile(path, {}, &file, nullptr), doing));
  std::string scratch(LogScan::kBlockBytes, '\0');
  rocksdb::Slice block;
  do {
    BRAID_CHECK_OK(Translate(file->Read(scratch.size(), {}, &block, scratch.data(), nullptr), doing));
    scan.Block(block.ToStringView());
  } while (block.size() == scratch.size());
  return {};
}

/// Writes the complete commits of the log to a new file and syncs it. Syncing the existing file is not enough: after a
/// failed sync in the previous process, the system may show bytes that are not on the disk and that it will not write
/// again.
Status Rewrite(rocksdb::FileSystem& files, const std::string& directory, const FoundLog& log, bool keep) {
  BRAID_ASSERT(log.whole <= log.size);
  const std::string doing = StrCat("cannot write the log ", log.path);
  const std::string copy = StrCat(directory, "/", log.number, ".dbtmp");  // RocksDB removes what is left of such a file
  std::unique_ptr<rocksdb::FSSequentialFile> from;
  BRAID_CHECK_OK(Translate(files.NewSequentialFile(log.path, {}, &from, nullptr), doing));
  std::unique_ptr<rocksdb::FSWritableFile> to;
  BRAID_CHECK_OK(Translate(files.NewWritableFile(copy, {}, &to, nullptr), doing));
  std::string scratch(LogScan::kBlockBytes, '\0');
  for (uint64_t left = log.whole; left > 0;) {
    rocksdb::Slice block;
    const size_t size = std::min<uint64_t>(left, scratch.size());
    BRAID_CHECK_OK(Translate(from->Read(size, {}, &block, scratch.data(), nullptr), doing));
    if (block.size() != size) return {Code::kInternalError, StrCat(doing, ": it is shorter than before")};
    BRAID_CHECK_OK(Translate(to->Append(block, {}, nullptr), doing));
    left -= size;
  }
  BRAID_CHECK_OK(Translate(to->Fsync({}, nullptr), doing));
  BRAID_CHECK_OK(Translate(to->Close({}, nullptr), doing));
  if (keep) BRAID_CHECK_OK(Translate(files.RenameFile(log.path, StrCat(log.path, ".lost"), {}, nullptr), doing));
  return PutInPlace(files, directory, copy, log.path);
}

std::string Damage(const FoundLog& log) {
  return StrCat("the log ", log.path, " is damaged at byte ", log.whole, " of ", log.size, ", which had been durable");
}

/// Only a store whose very first start was interrupted has none: its manifest is the first.
Result<bool> MayHaveNoLog(rocksdb::FileSystem& files, const std::string& directory) {
  BRAID_TRY(const std::string current, ReadCurrent(files, directory));
  return current.empty() || current == "MANIFEST-000001\n";
}

/// The record's entry of a log.
LogLoss CompareLog(const std::string& directory, const std::vector<FoundLog>& logs, const DurableState::Log& durable) {
  const auto found =
      std::find_if(logs.begin(), logs.end(), [&durable](const FoundLog& log) { return log.number == durable.number; });
  const std::string commits = StrCat("commits ", durable.first, " to ", durable.last, ", which had been durable");
  if (found == logs.end()) {
    // RocksDB's way to write the number.
    std::string digits = std::to_string(durable.number);
    digits.insert(0, 6 - std::min<size_t>(6, digits.size()), '0');
    return {StrCat("the log ", directory, "/", digits, ".log is missing, with ", commits), durable.number - 1};
  }
  if (found->first == durable.first && found->next > durable.last) return {};
  const bool begins = found->first == durable.first;
  return {StrCat("the log ", found->path, ", of ", found->size, " bytes, ends ",
                 begins ? StrCat("with commit ", found->next - 1) : std::string("before its first commit"), "; it had ",
                 commits),
          begins ? durable.number : durable.number - 1};
}

}  // namespace

Result<std::vector<FoundLog>> ReadLogs(rocksdb::FileSystem& files, const std::string& directory) {
  BRAID_TRY(std::vector<FoundLog> logs, ListLogs(files, directory));
  LogPosition next = 0;
  for (FoundLog& log : logs) {
    LogScan scan(next);
    BRAID_CHECK_OK(ReadLog(files, log.path, scan));
    log.size = scan.size();
    log.whole = scan.whole();
    log.first = scan.first();
    log.next = next = scan.next();
    log.damaged = scan.damaged();
  }
  return logs;
}

Result<LogLoss> FindLoss(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                         const DurableState& durable) {
  for (const DurableState::Log& log : durable.logs) {
    if (LogLoss loss = CompareLog(directory, logs, log); !loss.what.empty()) return loss;
  }
  if (logs.empty()) {
    BRAID_TRY(const bool may_be, MayHaveNoLog(files, directory));
    if (!may_be) return LogLoss{StrCat("no log (*.log) is left in ", directory, ", and every store has one"), 0};
  }
  const FoundLog* newest = nullptr;  // that has something
  for (const FoundLog& log : logs) {
    if (log.size == 0) continue;
    // A log gets its first byte when the one before it is synced (log_order.h): only the newest can be torn.
    if (newest != nullptr && newest->whole < newest->size) return LogLoss{Damage(*newest), newest->number};
    if (log.damaged) return LogLoss{Damage(log), log.number};
    newest = &log;
  }
  return LogLoss{};
}

Status DropLogsBehind(rocksdb::FileSystem& files, const std::string& directory, uint64_t last,
                      std::vector<FoundLog>& logs) {
  while (!logs.empty() && logs.back().number > last) {
    const std::string& path = logs.back().path;
    log::warn("the log {}, which follows the missing data, is renamed to {}.lost", path, path);
    BRAID_CHECK_OK(PutInPlace(files, directory, path, StrCat(path, ".lost")));
    logs.pop_back();
  }
  return {};
}

Status DropTornEnd(rocksdb::FileSystem& files, const std::string& directory, const std::vector<FoundLog>& logs,
                   bool keep) {
  const auto newest = std::find_if(logs.rbegin(), logs.rend(), [](const FoundLog& log) { return log.size > 0; });
  if (newest == logs.rend()) return {};
  const bool torn = newest->whole < newest->size;
  if (torn) {
    log::warn("the log {} has a torn end: its last {} of {} bytes are dropped, {}", newest->path,
              newest->size - newest->whole, newest->size,
              keep ? "and kept with the others as *.lost" : "which nothing shows to have been durable");
  }
  return Rewrite(files, directory, *newest, keep && torn);
}

}  // namespace braid::storage
