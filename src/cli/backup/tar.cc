#include "cli/backup/tar.h"

#include <fmt/format.h>

#include <charconv>

namespace braid::backup {
namespace {

// Places of the header's fields.
constexpr size_t kNameBytes = 100;
constexpr size_t kModeAt = 100;
constexpr size_t kOwnerAt = 108;
constexpr size_t kGroupAt = 116;
constexpr size_t kSizeAt = 124;
constexpr size_t kTimeAt = 136;
constexpr size_t kSumAt = 148;
constexpr size_t kSumBytes = 8;
constexpr size_t kTypeAt = 156;
constexpr size_t kMagicAt = 257;
constexpr std::string_view kMagic("ustar\00000", 8);

/// The sum of all bytes, the field of the sum itself taken as spaces.
unsigned SumOf(std::string_view block) {
  unsigned sum = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    sum += i >= kSumAt && i < kSumAt + kSumBytes ? ' ' : static_cast<unsigned char>(block[i]);
  }
  return sum;
}

std::optional<uint64_t> Octal(std::string_view field) {
  uint64_t number = 0;
  const auto parsed = std::from_chars(field.data(), field.data() + field.size(), number, 8);
  if (parsed.ec != std::errc()) return std::nullopt;
  return number;
}

}  // namespace

std::string TarHeader(const TarEntry& entry, int64_t time_seconds) {
  std::string block(kTarBlock, '\0');
  const auto put = [&block](size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, entry.name);
  put(kModeAt, "0000600");
  put(kOwnerAt, "0000000");
  put(kGroupAt, "0000000");
  put(kSizeAt, fmt::format("{:011o}", entry.size));
  put(kTimeAt, fmt::format("{:011o}", static_cast<uint64_t>(time_seconds)));
  put(kTypeAt, "0");
  put(kMagicAt, kMagic);
  put(kSumAt, fmt::format("{:06o}", SumOf(block)) + std::string("\0 ", 2));
  return block;
}

std::optional<TarEntry> ReadTarHeader(std::string_view block) {
  if (block.size() != kTarBlock || block.substr(kMagicAt, kMagic.size()) != kMagic || block[kTypeAt] != '0') return {};
  const auto size = Octal(block.substr(kSizeAt, 12));
  const auto sum = Octal(block.substr(kSumAt, kSumBytes));
  if (!size || !sum || *sum != SumOf(block)) return {};
  const std::string_view name = block.substr(0, kNameBytes);
  return TarEntry{std::string(name.substr(0, name.find('\0'))), *size};
}

}  // namespace braid::backup
