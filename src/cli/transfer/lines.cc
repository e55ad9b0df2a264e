#include "cli/transfer/lines.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/strings.h"

namespace braid::transfer {
namespace {

constexpr size_t kReadBytes = 256 << 10;
constexpr size_t kReadyBytesMax = 4 << 20;
constexpr size_t kLineBytesMax = 32 << 20;
constexpr int kPollMs = 100;

}  // namespace

// A packed or plain file, or standard input. zlib waits until it can fill its buffer, which is wrong for a pipe.
class Lines::Source {
 public:
  explicit Source(gzFile file, std::string name) : file_(file), name_(std::move(name)) {}
  ~Source() {
    if (file_ != nullptr) gzclose(file_);
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  /// 0 at the end; -1 if there is nothing yet.
  Result<ssize_t> Read(char* to, size_t bytes) {
    if (file_ == nullptr) return ReadStandardInput(to, bytes);
    const int got = gzread(file_, to, static_cast<unsigned>(bytes));
    int code = Z_OK;
    const char* reason = gzerror(file_, &code);
    if (got < 0 || (got == 0 && code == Z_BUF_ERROR)) {
      return Status(Code::kBadValue, StrCat(name_, ": ", code == Z_ERRNO ? strerror(errno) : reason));
    }
    return ssize_t{got};
  }
  const std::string& name() const { return name_; }

 private:
  static Result<ssize_t> ReadStandardInput(char* to, size_t bytes) {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, kPollMs) == 0) return ssize_t{-1};
    const ssize_t got = read(STDIN_FILENO, to, bytes);
    if (got >= 0) return got;
    if (errno == EINTR || errno == EAGAIN) return ssize_t{-1};
    return Status(Code::kBadValue, StrCat("standard input: ", strerror(errno)));
  }

  gzFile file_;  // null: standard input
  const std::string name_;
};

Result<std::unique_ptr<Lines>> Lines::Open(const std::string& path) {
  gzFile file = nullptr;
  if (path != "-") {
    file = gzopen(path.c_str(), "rb");
    if (file == nullptr) return Status(Code::kBadValue, StrCat("cannot read ", path, ": ", strerror(errno)));
    gzbuffer(file, kReadBytes);
  }
  return std::unique_ptr<Lines>(new Lines(std::make_unique<Source>(file, path == "-" ? "standard input" : path)));
}

Lines::Lines(std::unique_ptr<Source> source) : source_(std::move(source)), reader_([this] { ReadAhead(); }) {}

Lines::~Lines() {
  {
    const std::lock_guard lock(mu_);
    closing_ = true;
  }
  changed_.notify_all();
  reader_.join();
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
    std::unique_lock lock(mu_);
    if (!got.ok()) failure_ = got.error();
    if (buffer.size() > kLineBytesMax && end == std::string::npos) {
      failure_ = Status(Code::kBadValue, StrCat(source_->name(), ": a line is longer than ", kLineBytesMax, " bytes"));
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
    changed_.notify_all();
    changed_.wait(lock, [&] { return closing_ || ready_.size() < kReadyBytesMax; });
    more = more && !closing_;
  }
  const std::lock_guard lock(mu_);
  ended_ = true;
  changed_.notify_all();
}

Result<std::vector<std::string_view>> Lines::Next() {
  std::vector<std::string_view> lines;
  while (lines.empty()) {
    {
      std::unique_lock lock(mu_);
      changed_.wait(lock, [&] { return ended_ || !ready_.empty(); });
      block_ = std::exchange(ready_, std::string());
      if (block_.empty()) return failure_.ok() ? Result(std::move(lines)) : std::exchange(failure_, Status());
    }
    changed_.notify_all();
    for (std::string_view line : Split(block_, '\n')) {
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") != std::string_view::npos) lines.push_back(line);
    }
  }
  return lines;
}

}  // namespace braid::transfer
