// The format of tar archives (POSIX ustar), as far as a backup in one file needs it: plain files, each
//
//   header 512 | bytes, filled up with zeros to a multiple of 512
//
// and two empty blocks at the end. So `tar -tf` shows what is in a backup, and `tar -xf` unpacks it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace braid::backup {

constexpr size_t kTarBlock = 512;
constexpr uint64_t kTarFileMax = (uint64_t{1} << 33) - 1;

struct TarEntry {
  std::string name;
  uint64_t size = 0;
};

/// The block before the bytes of a file. The name has at most 99 bytes, the file at most kTarFileMax.
std::string TarHeader(const TarEntry& entry, int64_t time_seconds);
/// Nothing if the block is no header of a plain file, or was changed.
std::optional<TarEntry> ReadTarHeader(std::string_view block);

/// The number of zeros that follow a file of `bytes` bytes.
constexpr size_t TarPadding(uint64_t size) { return (kTarBlock - size % kTarBlock) % kTarBlock; }

}  // namespace braid::backup
