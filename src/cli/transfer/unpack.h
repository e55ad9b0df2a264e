// Bytes that may be packed, unpacked as they come.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::transfer {

/// gzip and zstd are told by their first bytes; everything else is passed on as it is. Several packed parts one after
/// the other are read as one, as `zcat` and `zstdcat` do. Memory does not grow with what the bytes unpack to. One
/// thread.
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

}  // namespace braid::transfer
