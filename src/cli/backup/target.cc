#include "cli/backup/target.h"

#include <algorithm>
#include <charconv>

#include "base/strings.h"
#include "cli/backup/files.h"
#include "cli/backup/format.h"

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

constexpr int64_t kNoTime = 0;  // of single files; the list has the backup's

// A backup in one file, a tar archive (format.h), written from front to end.
class ArchiveTarget final : public Target {
 public:
  ArchiveTarget(fs::path path, fs::path incomplete, OutputFile output)
      : path_(std::move(path)), incomplete_(std::move(incomplete)), output_(std::move(output)) {}
  ~ArchiveTarget() override {
    std::error_code ignored;
    if (!finished_) fs::remove(incomplete_, ignored);
  }

  Status CheckStore(const std::string& /*identity*/) const override { return {}; }
  std::vector<BackupFile> Known() const override { return {}; }
  Status StartFile(const BackupFile& file) override {
    if (file.size > kTarFileMax) {
      return {Code::kOverflow,
              StrCat(file.name, " has ", file.size, " bytes, too many for an archive: use a directory")};
    }
    size_ = file.size;
    return output_.Write(TarHeader({file.name, file.size}, kNoTime));
  }
  Status Write(std::string_view bytes) override { return output_.Write(bytes); }
  Status EndFile() override { return output_.Write(std::string(TarPadding(size_), '\0')); }
  Result<uint64_t> TakeKnown(const BackupFile& file) override {
    return Status(Code::kProtocolError, StrCat("an archive has no earlier ", file.name));
  }

  Result<fs::path> Finish(const BackupList& list) override {
    const std::string text = list.ToText();
    BRAID_CHECK_OK(StartFile({.name = kListName, .size = text.size()}));
    BRAID_CHECK_OK(output_.Write(text));
    BRAID_CHECK_OK(EndFile());
    BRAID_CHECK_OK(output_.Write(std::string(2 * kTarBlock, '\0')));
    BRAID_CHECK_OK(output_.Finish());
    BRAID_CHECK_OK(RenameDurably(incomplete_, path_));
    finished_ = true;
    return path_;
  }

  std::vector<fs::path> damaged() const override { return {}; }
  int64_t id() const override { return 0; }
  Result<size_t> Keep(size_t /*count*/) override { return size_t{0}; }

 private:
  const fs::path path_;
  const fs::path incomplete_;
  OutputFile output_;
  uint64_t size_ = 0;  // of the file that is being written
  bool finished_ = false;
};

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

Result<std::unique_ptr<Target>> OpenArchiveTarget(const fs::path& file) {
  std::error_code error;
  if (fs::exists(file, error)) {
    return Status(Code::kIllegalOperation, StrCat(file.string(), " exists already: give the backup another name"));
  }
  const fs::path incomplete = file.string() + ".incomplete";
  fs::remove(incomplete, error);  // of a process that was killed
  BRAID_TRY(OutputFile output, OutputFile::Create(incomplete));
  return std::unique_ptr<Target>(std::make_unique<ArchiveTarget>(file, incomplete, std::move(output)));
}

}  // namespace braid::backup
