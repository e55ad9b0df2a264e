#include "cli/backup/target.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "cli/backup/files.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBackupPrefix = "backup-";

std::optional<int64_t> IdOf(const std::string& name) {
  if (!name.starts_with(kBackupPrefix)) return {};
  const std::string_view digits = std::string_view(name).substr(kBackupPrefix.size());
  int64_t id = 0;
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), id);
  if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size() || id <= 0) return {};
  return id;
}

Result<BackupList> ReadList(const fs::path& backup) {
  const fs::path path = backup / kListName;
  BRAID_TRY(const std::string text, ReadSmallFile(path));
  return BackupList::Parse(text, path.string());
}

}  // namespace

Result<std::vector<FoundBackup>> FindBackups(const fs::path& target) {
  std::vector<FoundBackup> found;
  std::error_code error;
  for (fs::directory_iterator entry(target, error), end; !error && entry != end; entry.increment(error)) {
    const auto id = IdOf(entry->path().filename().string());
    if (id) found.push_back({.id = *id, .path = entry->path(), .list = ReadList(entry->path())});
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    return FileError(StrCat("read the directory ", target.string()), error.value());
  }
  std::ranges::sort(found, {}, &FoundBackup::id);
  return found;
}

bool IsArchive(const fs::path& target) { return target.extension() == ".tar"; }

Result<std::unique_ptr<Target>> Target::Open(const fs::path& target, const TargetOptions& options) {
  return IsArchive(target) ? OpenArchiveTarget(target) : OpenDirectoryTarget(target, options);
}

}  // namespace braid::backup
