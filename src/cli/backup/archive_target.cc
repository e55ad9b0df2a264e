// A backup in one file, a tar archive (tar.h), written from front to end.
#include "base/strings.h"
#include "cli/backup/files.h"
#include "cli/backup/tar.h"
#include "cli/backup/target.h"

namespace braid::backup {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNoTime = 0;  // of single files; the list has the backup's

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
