// What the code of keys and checkpoints shares: hexadecimal both ways, and key files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/strings.h"
#include "braid/status.h"

namespace braid::signing {

/// A PEM file of an Ed25519 key has 120 bytes; comments may stand around it.
constexpr size_t kKeyFileBytesMax = 64 * 1024;

inline std::string HexOf(std::span<const uint8_t> bytes) {
  return Hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

/// The bytes of lower-case hexadecimal, the only accepted form, so that each value has exactly one text. The message of
/// kFailedToParse says what is wrong with it.
Result<std::string> BytesOfHex(std::string_view hex);

/// Fills all of `out`, or kFailedToParse.
Status FillFromHex(std::string_view hex, std::span<uint8_t> out);

/// A file that is there already is left alone: kIllegalOperation. Durable when OK.
Status WriteNewFile(const std::filesystem::path& path, std::string_view text, mode_t mode);

/// The text of a key file; kFailedToParse if it is longer than any key file.
Result<std::string> ReadKeyFile(const std::filesystem::path& path);

}  // namespace braid::signing
