#include "base/spill.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/strings.h"

namespace braid {
namespace {

constexpr size_t kBufferBytes = 256 * 1024;
constexpr size_t kHeadBytes = 12;  // of a record: uint32 size, uint64 checksum

uint64_t Checksum(std::string_view bytes) {
  uint64_t sum = 0x9E3779B97F4A7C15ull + bytes.size();
  while (!bytes.empty()) {
    uint64_t word = 0;
    const size_t taken = std::min(bytes.size(), sizeof(word));
    std::memcpy(&word, bytes.data(), taken);
    sum = std::rotl((sum ^ word) * 0xD6E8FEB86659FD93ull, 29);
    bytes.remove_prefix(taken);
  }
  return sum;
}

// Not every file system supports files without a name.
int OpenNameless(const std::filesystem::path& directory) {
  const int fd = ::open(directory.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL)) return fd;
  std::string name = (directory / "spill.XXXXXX").string();
  const int named = ::mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(name.c_str());
  return named;
}

}  // namespace

bool SpillSpace::Take(uint64_t bytes) {
  struct statvfs disk {};
  if (::statvfs(directory_.c_str(), &disk) != 0) return false;
  const uint64_t free = uint64_t{disk.f_bavail} * disk.f_frsize;
  const uint64_t before = bytes_.fetch_add(bytes, std::memory_order_relaxed);
  if (files_.fetch_add(1, std::memory_order_relaxed) < files_max_ && before + bytes <= (before + free) / 4) return true;
  GiveBack(bytes);
  return false;
}

void SpillSpace::GiveBack(uint64_t bytes) {
  bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  files_.fetch_sub(1, std::memory_order_relaxed);
}

std::unique_ptr<SpillFile> SpillFile::Create(SpillSpace& space, uint64_t bytes) {
  if (!space.Take(bytes)) return nullptr;
  const int fd = OpenNameless(space.directory_);
  if (fd >= 0) return std::unique_ptr<SpillFile>(new SpillFile(space, fd, bytes));
  space.GiveBack(bytes);
  return nullptr;
}

SpillFile::~SpillFile() {
  ::close(fd_);
  space_.GiveBack(taken_);
}

bool SpillFile::Append(std::string_view record) {
  const auto size = static_cast<uint32_t>(record.size());
  const uint64_t checksum = Checksum(record);
  buffer_.append(reinterpret_cast<const char*>(&size), sizeof(size));
  buffer_.append(reinterpret_cast<const char*>(&checksum), sizeof(checksum));
  buffer_.append(record);
  return buffer_.size() < kBufferBytes || WriteBuffer();
}

bool SpillFile::WriteBuffer() {
  for (std::string_view rest = buffer_; !rest.empty();) {
    const ssize_t written = ::pwrite(fd_, rest.data(), rest.size(), static_cast<off_t>(size_));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    size_ += static_cast<uint64_t>(written);
    rest.remove_prefix(static_cast<size_t>(written));
  }
  buffer_.clear();
  return true;
}

bool SpillFile::Finish() {
  if (!WriteBuffer()) return false;
  buffer_.shrink_to_fit();
  return true;
}

// So many bytes, at least, are in the buffer and not handed out.
Status SpillFile::Fill(size_t bytes) {
  if (buffer_.size() - begin_ >= bytes) return {};
  buffer_.erase(0, begin_);
  begin_ = 0;
  size_t held = buffer_.size();
  buffer_.resize(std::max(bytes, kBufferBytes));
  while (held < bytes) {
    const ssize_t got = ::pread(fd_, buffer_.data() + held, buffer_.size() - held, static_cast<off_t>(read_));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      return {Code::kStorageCorrupt, StrCat("a temporary file of sorted documents cannot be read: ",
                                            got == 0 ? "it is too short" : std::strerror(errno))};
    }
    read_ += static_cast<uint64_t>(got);
    held += static_cast<size_t>(got);
  }
  buffer_.resize(held);
  return {};
}

Result<bool> SpillFile::Next(std::string_view* record) {
  if (begin_ == buffer_.size() && read_ == size_) return false;
  BRAID_CHECK_OK(Fill(kHeadBytes));
  uint32_t size = 0;
  uint64_t checksum = 0;
  std::memcpy(&size, buffer_.data() + begin_, sizeof(size));
  std::memcpy(&checksum, buffer_.data() + begin_ + sizeof(size), sizeof(checksum));
  if (size > size_) return Status(Code::kStorageCorrupt, "a temporary file of sorted documents is damaged");
  BRAID_CHECK_OK(Fill(kHeadBytes + size));
  *record = std::string_view(buffer_).substr(begin_ + kHeadBytes, size);
  if (Checksum(*record) != checksum) {
    return Status(Code::kStorageCorrupt, "a temporary file of sorted documents is damaged");
  }
  begin_ += kHeadBytes + size;
  return true;
}

}  // namespace braid
