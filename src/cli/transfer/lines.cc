#include "cli/transfer/lines.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::transfer {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kReadyBytesMax = 4 << 20;
constexpr int kPollMs = 100;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

// A file or standard input, unpacked. Waits for a pipe no longer than it takes to look whether the reading has ended.
class Lines::Source {
 public:
  Source(int descriptor, std::string name) : descriptor_(descriptor), name_(std::move(name)) {
    struct stat about {};
    if (fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode)) size_ = static_cast<uint64_t>(about.st_size);
  }
  ~Source() { close(descriptor_); }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// 0 at the end; -1 if there is nothing yet.
  Result<ssize_t> Read(char* to, size_t bytes) {
    while (true) {
      size_t filled = 0;
      while (filled < bytes) {
        const auto taken = unpacker_.Take(to + filled, bytes - filled);
        if (!taken.ok()) return Failed(taken.error().message());
        if (*taken == 0) break;
        filled += *taken;
      }
      if (filled > 0 || ended_) return static_cast<ssize_t>(filled);
      pollfd ready{.fd = descriptor_, .events = POLLIN, .revents = 0};
      if (poll(&ready, 1, kPollMs) == 0) return ssize_t{-1};
      const ssize_t got = read(descriptor_, packed_.data(), packed_.size());
      if (got < 0 && (errno == EINTR || errno == EAGAIN)) return ssize_t{-1};
      if (got < 0) return Failed(strerror(errno));
      taken_.fetch_add(static_cast<uint64_t>(got), std::memory_order_relaxed);
      unpacker_.Give(std::string_view(packed_).substr(0, static_cast<size_t>(got)));
      ended_ = got == 0;
      if (ended_) unpacker_.Finish();
    }
  }
  const std::string& name() const { return name_; }
  std::optional<double> share() const {
    if (size_ == 0) return std::nullopt;
    return static_cast<double>(taken_.load(std::memory_order_relaxed)) / static_cast<double>(size_);
  }

 private:
  Status Failed(std::string_view why) const { return Status(Code::kBadValue, StrCat(name_, ": ", why)); }

  const int descriptor_;
  const std::string name_;
  std::string packed_ = std::string(kReadBytes, '\0');
  Unpacker unpacker_;
  uint64_t size_ = 0;                // of a file, as it is on the disk; else 0
  std::atomic<uint64_t> taken_ = 0;  // of it
  bool ended_ = false;
};

Result<std::unique_ptr<Lines>> Lines::Open(const std::string& path, size_t line_bytes_max) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return Status(Code::kBadValue, StrCat("cannot read ", path, ": ", strerror(errno)));
  return std::unique_ptr<Lines>(
      new Lines(std::make_unique<Source>(descriptor, path == "-" ? "standard input" : path), line_bytes_max));
}

Lines::Lines(std::unique_ptr<Source> source, size_t line_bytes_max)
    : source_(std::move(source)), line_bytes_max_(line_bytes_max), reader_([this] { ReadAhead(); }) {}

Lines::~Lines() {
  Close();
  reader_.join();
}

std::optional<double> Lines::share() const { return source_->share(); }

void Lines::Close() {
  const MutexLock lock(mu_);
  closing_ = true;
  changed_.NotifyAll();
}

void Lines::ReadAhead() {
  std::string buffer;  // what came after the last line's end
  bool more = true;
  while (more) {
    const size_t kept = buffer.size();
    buffer.resize(kept + kReadBytes);
    const Result<ssize_t> got = source_->Read(buffer.data() + kept, kReadBytes);
    const size_t arrived = got.ok() && *got > 0 ? static_cast<size_t>(*got) : 0;
    buffer.resize(kept + arrived);
    // What was there before has no line's end.
    const size_t end_of_new = std::string_view(buffer).substr(kept).rfind('\n');
    const size_t end = end_of_new == std::string_view::npos ? std::string::npos : kept + end_of_new;
    MutexLock lock(mu_);
    if (!got.ok()) failure_ = got.error();
    if (buffer.size() > line_bytes_max_ && end == std::string::npos) {
      failure_ =
          Status(Code::kBadValue, StrCat(source_->name(), ": a line is longer than ", line_bytes_max_, " bytes"));
      buffer.clear();
    }
    more = failure_.ok() && *got != 0;
    if (!more && failure_.ok()) {
      ready_ += buffer;  // the last line may lack its end
    } else if (end != std::string::npos) {
      ready_.append(buffer, 0, end + 1);
      buffer.erase(0, end + 1);
    }
    position_.fetch_add(arrived, std::memory_order_relaxed);
    changed_.NotifyAll();
    changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return closing_ || ready_.size() < kReadyBytesMax; });
    more = more && !closing_;
  }
  const MutexLock lock(mu_);
  ended_ = true;
  changed_.NotifyAll();
}

Result<std::vector<std::string_view>> Lines::Next() {
  std::vector<std::string_view> lines;
  numbers_.clear();
  while (lines.empty()) {
    {
      MutexLock lock(mu_);
      changed_.Wait(lock, [&]() BRAID_REQUIRES(mu_) { return ended_ || !ready_.empty(); });
      block_ = std::exchange(ready_, std::string());
      if (block_.empty()) return failure_.ok() ? Result(std::move(lines)) : std::exchange(failure_, Status());
    }
    changed_.NotifyAll();
    for (std::string_view line : Split(block_, '\n')) {
      if (++lines_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
      lines.push_back(line);
      numbers_.push_back(lines_);
    }
    if (block_.ends_with('\n')) --lines_;  // behind the last end there is no line
  }
  return lines;
}

Status WriteMadeUp(uint64_t count, const std::function<std::string()>& next) {
  bool written = true;
  for (uint64_t i = 0; written && i < count; ++i) {
    const std::string line = next() + "\n";
    written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  }
  if (std::fflush(stdout) == 0 && written) return {};
  return Status(Code::kOutOfDiskSpace, "cannot write to standard output");
}

}  // namespace braid::transfer
