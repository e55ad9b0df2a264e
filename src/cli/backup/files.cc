#include "cli/backup/files.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/strings.h"

namespace braid::backup {
namespace {

constexpr size_t kPartBytes = 1 << 20;

}  // namespace

Status FileError(std::string_view doing, int error) {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  return {full ? Code::kOutOfDiskSpace : Code::kInternalError, StrCat("cannot ", doing, ": ", strerror(error))};
}

Result<OutputFile> OutputFile::Create(const std::filesystem::path& path) {
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (descriptor < 0) return FileError(StrCat("create ", path.string()), errno);
  return OutputFile(descriptor, path);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), path_(std::move(other.path_)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(path_, other.path_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

Status OutputFile::Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor_, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return FileError(StrCat("write ", path_.string()), errno);
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return {};
}

Status OutputFile::Finish() {
  if (fsync(descriptor_) != 0) return FileError(StrCat("sync ", path_.string()), errno);
  if (close(std::exchange(descriptor_, -1)) != 0) return FileError(StrCat("close ", path_.string()), errno);
  return {};
}

Status SyncDirectory(const std::filesystem::path& directory) {
  const std::string doing = StrCat("sync the directory ", directory.string());
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return FileError(doing, errno);
  const int error = fsync(descriptor) == 0 ? 0 : errno;
  close(descriptor);
  return error == 0 ? Status() : FileError(doing, error);
}

Status RenameDurably(const std::filesystem::path& from, const std::filesystem::path& to) {
  if (rename(from.c_str(), to.c_str()) != 0) {
    return FileError(StrCat("rename ", from.string(), " to ", to.string()), errno);
  }
  return SyncDirectory(to.parent_path().empty() ? "." : to.parent_path());
}

Status ReadParts(const std::filesystem::path& path, const OnBytes& part) {
  const std::string doing = StrCat("read ", path.string());
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return FileError(doing, errno);
  std::string buffer(kPartBytes, '\0');
  Status status;
  while (status.ok()) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) break;
    status = got < 0 ? FileError(doing, errno) : part({buffer.data(), static_cast<size_t>(got)});
  }
  close(descriptor);
  return status;
}

Result<std::string> ReadSmallFile(const std::filesystem::path& path) {
  std::string bytes;
  BRAID_CHECK_OK(ReadParts(path, [&bytes](std::string_view part) {
    bytes += part;
    return Status();
  }));
  return bytes;
}

Status CheckStop(const std::atomic<bool>& stop) {
  return stop.load() ? Status(Code::kInterrupted, "interrupted") : Status();
}

}  // namespace braid::backup
