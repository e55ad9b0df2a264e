// CheckStart: manifest and logs against the record of what is durable.
#include "engine/storage/start_check.h"

#include <rocksdb/file_system.h>
#include <xxhash.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "engine/storage/directory.h"
#include "engine/storage/options.h"

namespace braid::storage {
namespace {

using Manifest = DurableState::Manifest;

/// The manifest that CURRENT names, as it is.
struct FoundManifest {
  std::string path;  // empty: CURRENT is missing, or names none
  uint64_t number = 0;
  std::string bytes;  // empty: it is missing
};

Result<FoundManifest> ReadManifest(rocksdb::FileSystem& files, const std::string& directory,
                                   const std::string& current) {
  FoundManifest found;
  const auto number = ManifestNumber(std::string_view(current).substr(0, current.find('\n')));
  if (!number) return found;
  found.number = *number;
  found.path = StrCat(directory, "/", current.substr(0, current.find('\n')));
  if (files.FileExists(found.path, {}, nullptr).IsNotFound()) return found;
  const std::string doing = StrCat("cannot read ", found.path);
  BRAID_CHECK_OK(Translate(rocksdb::ReadFileToString(&files, found.path, &found.bytes), doing));
  return found;
}

uint64_t HashOf(std::string_view bytes) { return XXH3_64bits(bytes.data(), bytes.size()); }

/// What is missing of it, as text for people; empty if nothing is.
std::string CompareManifest(const std::string& directory, const FoundManifest& found, const DurableState& durable) {
  if (durable.manifests.empty() || durable.position == 0) return "";  // nothing was ever durable
  if (found.path.empty()) return StrCat(directory, "/CURRENT names no manifest");
  const auto known = std::find_if(durable.manifests.begin(), durable.manifests.end(),
                                  [&found](const Manifest& manifest) { return manifest.number == found.number; });
  if (known == durable.manifests.end()) {
    return StrCat(directory, "/CURRENT names the manifest ", found.path, ", which was not the newest");
  }
  if (found.bytes.empty()) return StrCat("the manifest ", found.path, " is missing or empty");
  if (found.bytes.size() < known->size) {
    return StrCat("the manifest ", found.path, " has ", found.bytes.size(), " of ", known->size,
                  " bytes that had been durable: the newest tables, with what is in them, are not named any more");
  }
  if (HashOf(std::string_view(found.bytes).substr(0, known->size)) == known->hash) return "";
  return StrCat("the manifest ", found.path, " is damaged in its first ", known->size,
                " bytes, which had been durable");
}

Status LossRefused(const std::vector<std::string>& losses) {
  std::string text;
  for (const std::string& what : losses) text += StrCat(text.empty() ? "" : "; ", what);
  return {Code::kStorageCorrupt,
          StrCat(text, ". Acknowledged writes would be lost: restore a backup; or copy the directory, and start with ",
                 "--accept-loss to open the rest")};
}

/// The record for the next start, which describes the present files.
DurableState StateOf(std::vector<Manifest> manifests, const std::vector<FoundLog>& logs, LogPosition position) {
  DurableState state{.position = position, .manifests = std::move(manifests), .logs = {}};
  state.logs.reserve(logs.size());
  for (const FoundLog& log : logs) {
    if (log.first == 0) continue;
    state.logs.push_back({log.number, log.first, log.next - 1});
    state.position = std::max(state.position, log.next - 1);
  }
  return state;
}

/// Accepts the manifest as it is. It is written again, because it is not known how much of it is on the disk.
Result<std::vector<Manifest>> TakeManifest(rocksdb::FileSystem& files, const std::string& directory,
                                           const FoundManifest& found) {
  if (found.bytes.empty()) return std::vector<Manifest>();  // RocksDB reports it, or creates a store
  BRAID_CHECK_OK(ReplaceFile(files, directory, found.path, found.bytes));
  return std::vector<Manifest>{{found.number, found.bytes.size(), HashOf(found.bytes)}};
}

Result<std::unique_ptr<DurableRecord>> CheckLocked(rocksdb::FileSystem& files, const std::string& directory,
                                                   bool accept_loss) {
  std::vector<std::string> losses;
  DurableState durable;
  auto read = DurableRecord::Read(files, directory);
  const bool known = read.ok() && *read;
  if (known) {
    durable = **std::move(read);
  } else if (!read.ok()) {
    if (read.error().code() != Code::kStorageCorrupt) return read.error();
    losses.emplace_back(read.error().message());
  }
  BRAID_TRY(const std::string current, ReadCurrent(files, directory));
  if (current.empty() && durable.position > 0) {
    return Status(Code::kStorageCorrupt,
                  StrCat(directory, "/CURRENT is missing, which names the store's manifest: ", "restore a backup"));
  }
  if (!current.empty() && !known && losses.empty()) {
    log::warn("{} has no record of what is durable, DURABLE, as a store of an earlier version: it begins now",
              directory);
  }
  BRAID_TRY(const FoundManifest manifest, ReadManifest(files, directory, current));
  BRAID_TRY(std::vector<FoundLog> logs, ReadLogs(files, directory));
  if (std::string loss = CompareManifest(directory, manifest, durable); !loss.empty())
    losses.push_back(std::move(loss));
  BRAID_TRY(LogLoss loss, FindLoss(files, directory, logs, durable));
  const bool logs_lost = !loss.what.empty();
  if (logs_lost) losses.push_back(std::move(loss.what));

  if (!losses.empty() && !accept_loss) return LossRefused(losses);
  for (const std::string& what : losses) log::warn("accepted loss: {}", what);
  if (logs_lost) BRAID_CHECK_OK(DropLogsBehind(files, directory, loss.last, logs));
  BRAID_CHECK_OK(DropTornEnd(files, directory, logs, /*keep=*/logs_lost));
  if (!losses.empty()) durable.position = 0;
  if (!losses.empty() || !known) {
    BRAID_TRY(durable.manifests, TakeManifest(files, directory, manifest));
  }
  return DurableRecord::Create(files, directory, StateOf(std::move(durable.manifests), logs, durable.position));
}

}  // namespace

Result<std::unique_ptr<DurableRecord>> CheckStart(rocksdb::FileSystem& files, const std::string& directory,
                                                  bool accept_loss) {
  // A running store writes to its logs: nothing is touched without the lock, which RocksDB then takes itself.
  rocksdb::FileLock* lock = nullptr;
  const rocksdb::IOStatus locked = files.LockFile(StrCat(directory, "/LOCK"), {}, &lock, nullptr);
  if (!locked.ok()) return DirectoryInUse(directory, locked);
  auto checked = CheckLocked(files, directory, accept_loss);
  BRAID_CHECK_OK(Translate(files.UnlockFile(lock, {}, nullptr), "cannot unlock the directory"));
  return checked;
}

}  // namespace braid::storage
