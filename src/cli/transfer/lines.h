// Lines of a file or of standard input, unpacked and read ahead on a thread of their own, and made-up lines on standard
// output.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"

namespace braid::transfer {

/// Bytes that may be packed, unpacked as they come. gzip and zstd are told by their first bytes; everything else is
/// passed on as it is. Several packed parts one after the other are read as one, as `zcat` and `zstdcat` do. Memory
/// does not grow with what the bytes unpack to. One thread.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();

  /// More bytes, which stay valid until Take() has given 0.
  void Give(std::string_view packed) { input_ = packed; }
  /// Fills up to `bytes` and says how many; 0: all that was given is unpacked.
  Result<size_t> Take(char* to, size_t bytes);
  /// Ends the input: the next Take() returns the remaining bytes, and fails if a packed part lacks its end.
  void Finish() { finished_ = true; }

 private:
  class Packing;
  class Gzip;
  class Zstd;
  enum class Kind { kUnknown, kPlain, kPacked };
  void TellKind();

  Kind kind_ = Kind::kUnknown;
  std::string head_;  // the first bytes, until the kind is known and they are given
  std::string_view input_;
  bool finished_ = false;
  std::unique_ptr<Packing> packing_;  // of kPacked
};

/// Gives what is at hand, so that a slow writer at the other end of a pipe is not waited for, and a fast one makes
/// large pieces. What is packed with gzip or zstd is unpacked, and a byte-order mark at the start is left out. One
/// thread at a time, position() and Close() any.
class Lines {
 public:
  static constexpr size_t kLineBytesMax = size_t{32} << 20;
  /// "-" is standard input. A line of more than `line_bytes_max` bytes is an error.
  static Result<std::unique_ptr<Lines>> Open(const std::string& path, size_t line_bytes_max = kLineBytesMax);
  ~Lines();
  Lines(const Lines&) = delete;
  Lines& operator=(const Lines&) = delete;

  /// Waits for at least one line and gives all that were read so far, without their ends; empty ones are left out. They
  /// live until the next call. No line: the end. An error is given once, after the lines before it.
  Result<std::vector<std::string_view>> Next();
  /// The numbers of these lines, from 1 and with the empty ones counted.
  const std::vector<uint64_t>& numbers() const { return numbers_; }

  /// Ends the reading: a Next() that waits, and every later one, gives what was read so far and then no line.
  void Close();

  /// How much of a file was read, from 0 to 1; nothing if its size is not known, as of a pipe. Any thread.
  std::optional<double> share() const;

  /// Bytes read, of lines.
  uint64_t position() const { return position_.load(std::memory_order_relaxed); }

 private:
  class Source;
  Lines(std::unique_ptr<Source> source, size_t line_bytes_max);
  void ReadAhead();

  const std::unique_ptr<Source> source_;
  const size_t line_bytes_max_;
  std::atomic<uint64_t> position_ = 0;
  std::string block_;  // of the last Next()
  std::vector<uint64_t> numbers_;
  uint64_t lines_ = 0;  // given so far, or left out
  Mutex mu_;
  CondVar changed_;
  std::string ready_ BRAID_GUARDED_BY(mu_);  // whole lines
  Status failure_ BRAID_GUARDED_BY(mu_);
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  bool closing_ BRAID_GUARDED_BY(mu_) = false;
  std::thread reader_;
};

/// Writes so many lines; a pipe that is closed, or a full disk, is an error.
Status WriteMadeUp(uint64_t count, const std::function<std::string()>& next);

}  // namespace braid::transfer
