#include "cli/transfer/input.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/strings.h"

namespace braid::transfer {
namespace {

constexpr size_t kPiece = 256 * 1024;

}  // namespace

Result<std::unique_ptr<Input>> Input::Open(const std::string& path) {
  const int descriptor = path == "-" ? dup(STDIN_FILENO) : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat about {};
  if (descriptor < 0 || fstat(descriptor, &about) != 0) {
    return Status(Code::kBadValue, StrCat("cannot read ", path, ": ", strerror(errno)));
  }
  if (S_ISDIR(about.st_mode)) {
    close(descriptor);
    return Status(Code::kBadValue,
                  StrCat("cannot read ", path, ": it is a directory; name a file, or - for standard input"));
  }
  std::unique_ptr<Input> input(new Input);
  input->path_ = path == "-" ? "standard input" : path;
  input->size_ = S_ISREG(about.st_mode) ? static_cast<uint64_t>(about.st_size) : 0;
  input->file_ = gzdopen(descriptor, "rb");
  if (input->file_ == nullptr) {
    close(descriptor);
    return Status(Code::kInternalError, StrCat("cannot read ", path, ": out of memory"));
  }
  gzbuffer(input->file_, 128 * 1024);
  return input;
}

std::unique_ptr<Input> Input::FromText(std::string_view text) {
  std::unique_ptr<Input> input(new Input);
  input->buffer_ = text;
  return input;
}

Input::~Input() {
  if (file_ != nullptr) gzclose(file_);
}

bool Input::Fill() {
  if (file_ == nullptr || !failure_.ok()) return false;
  buffer_.erase(0, mark_);
  next_ -= mark_;
  mark_ = 0;
  const size_t held = buffer_.size();
  buffer_.resize(held + kPiece);
  const int got = gzread(file_, buffer_.data() + held, kPiece);
  buffer_.resize(held + static_cast<size_t>(got > 0 ? got : 0));
  position_.store(static_cast<uint64_t>(gzoffset(file_)), std::memory_order_relaxed);
  int code = Z_OK;
  const char* reason = gzerror(file_, &code);
  if (got < 0 || code == Z_BUF_ERROR) {
    failure_ = Status(Code::kBadValue, StrCat("reading ", path_, ": ", code == Z_ERRNO ? strerror(errno) : reason));
  }
  return got > 0;
}

void Input::SkipLine() {
  for (int c = Peek(); c != kEnd; c = Peek()) {
    Skip();
    if (c == '\n') return;
  }
}

void Input::Mark() {
  mark_ = next_;
  mark_line_ = line_;
}

void Input::Rewind() {
  next_ = mark_;
  line_ = mark_line_;
}

}  // namespace braid::transfer
