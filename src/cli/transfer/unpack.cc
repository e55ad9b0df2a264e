// Bytes that may be packed, unpacked as they come.
#include "cli/transfer/lines.h"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "base/strings.h"

namespace braid::transfer {
namespace {

constexpr std::string_view kGzipMagic = "\x1F\x8B";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";

bool MayBecome(std::string_view head, std::string_view magic) {
  return magic.starts_with(head.substr(0, magic.size()));
}

Status Broken(std::string_view what) { return Status(Code::kBadValue, StrCat("cannot be unpacked: ", what)); }

}  // namespace

class Unpacker::Packing {
 public:
  virtual ~Packing() = default;
  /// Takes from the input what it needs and gives how many bytes it has written.
  virtual Result<size_t> Take(std::string_view& input, char* to, size_t bytes) = 0;
  /// Between two parts, or behind the last one.
  virtual bool at_end() const = 0;
};

class Unpacker::Gzip final : public Packing {
 public:
  Gzip() { ready_ = inflateInit2(&stream_, 15 + 16) == Z_OK; }
  ~Gzip() override { inflateEnd(&stream_); }
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;

  Result<size_t> Take(std::string_view& input, char* to, size_t bytes) override {
    if (!ready_) return Status(Code::kInternalError, "out of memory");
    if (at_end_ && !input.empty()) {
      // What does not begin as another part is padding, as of a tape, and is left out.
      if (!input.starts_with(kGzipMagic[0])) input = {};
      if (input.empty()) return size_t{0};
      inflateReset(&stream_);
      at_end_ = false;
    }
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(input.data()));
    stream_.avail_in = static_cast<uInt>(input.size());
    stream_.next_out = reinterpret_cast<Bytef*>(to);
    stream_.avail_out = static_cast<uInt>(bytes);
    const int code = inflate(&stream_, Z_NO_FLUSH);
    input.remove_prefix(input.size() - stream_.avail_in);
    if (code == Z_STREAM_END) at_end_ = true;
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR) {
      return Broken(stream_.msg != nullptr ? stream_.msg : "damaged gzip data");
    }
    return bytes - stream_.avail_out;
  }
  bool at_end() const override { return at_end_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
  bool at_end_ = false;
};

class Unpacker::Zstd final : public Packing {
 public:
  Result<size_t> Take(std::string_view& input, char* to, size_t bytes) override {
    if (stream_ == nullptr) return Status(Code::kInternalError, "out of memory");
    ZSTD_inBuffer in{.src = input.data(), .size = input.size(), .pos = 0};
    ZSTD_outBuffer out{.dst = to, .size = bytes, .pos = 0};
    const size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
    if (ZSTD_isError(left) != 0) return Broken(ZSTD_getErrorName(left));
    // Without input and output the call only says what it would like to have next.
    if (in.pos > 0 || out.pos > 0) at_end_ = left == 0;
    input.remove_prefix(in.pos);
    return out.pos;
  }
  bool at_end() const override { return at_end_; }

 private:
  struct Free {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  const std::unique_ptr<ZSTD_DStream, Free> stream_{ZSTD_createDStream()};
  bool at_end_ = false;
};

Unpacker::Unpacker() = default;
Unpacker::~Unpacker() = default;

// Leaves the kind unknown while the bytes so far are the beginning of a magic number.
void Unpacker::TellKind() {
  const size_t wanted = std::min(kZstdMagic.size() - head_.size(), input_.size());
  head_ += input_.substr(0, wanted);
  input_.remove_prefix(wanted);
  if (head_.starts_with(kGzipMagic)) {
    packing_ = std::make_unique<Gzip>();
  } else if (head_.starts_with(kZstdMagic)) {
    packing_ = std::make_unique<Zstd>();
  } else if (!finished_ && (MayBecome(head_, kGzipMagic) || MayBecome(head_, kZstdMagic))) {
    return;
  }
  kind_ = packing_ != nullptr ? Kind::kPacked : Kind::kPlain;
}

Result<size_t> Unpacker::Take(char* to, size_t bytes) {
  if (kind_ == Kind::kUnknown) TellKind();
  if (kind_ == Kind::kUnknown) return size_t{0};
  // The first bytes go before the others.
  std::string_view head = head_;
  std::string_view& from = head.empty() ? input_ : head;
  size_t taken = 0;
  if (kind_ == Kind::kPlain) {
    taken = std::min(bytes, from.size());
    std::memcpy(to, from.data(), taken);
    from.remove_prefix(taken);
  } else {
    size_t before = 0;
    do {
      before = from.size();
      BRAID_TRY(taken, packing_->Take(from, to, bytes));
    } while (taken == 0 && !from.empty() && from.size() < before);
  }
  if (!head_.empty()) {
    head_.erase(0, head_.size() - head.size());
    if (taken == 0 && head_.empty()) return Take(to, bytes);
    return taken;
  }
  if (taken == 0 && finished_ && kind_ == Kind::kPacked && !packing_->at_end()) return Broken("its end is missing");
  return taken;
}

}  // namespace braid::transfer
