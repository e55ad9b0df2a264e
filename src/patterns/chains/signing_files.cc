// Hexadecimal and key files.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "patterns/chains/signing.h"

namespace braid::signing {
namespace {

Status FileError(const std::filesystem::path& path, std::string_view what) {
  return Status(Code::kOperationFailed, StrCat(what, " ", path.string(), ": ", std::strerror(errno)));
}

bool WriteAll(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    text.remove_prefix(static_cast<size_t>(written));
  }
  return fsync(file) == 0;
}

/// 0 to 15, or -1.
int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Result<std::string> BytesOfHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return Status(Code::kFailedToParse, StrCat("an odd number (", hex.size(), ") of digits"));
  std::string bytes;
  bytes.reserve(hex.size() / 2);
  for (size_t i = 0; i < hex.size(); i += 2) {
    const int high = DigitOf(hex[i]), low = DigitOf(hex[i + 1]);
    if (high < 0 || low < 0) {
      return Status(Code::kFailedToParse,
                    StrCat("not a lower-case hexadecimal digit at position ", high < 0 ? i : i + 1));
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

Status FillFromHex(std::string_view hex, std::span<uint8_t> out) {
  if (hex.size() != 2 * out.size()) {
    return Status(Code::kFailedToParse, StrCat("expected ", 2 * out.size(), " digits, got ", hex.size()));
  }
  BRAID_TRY(const std::string bytes, BytesOfHex(hex));
  std::memcpy(out.data(), bytes.data(), bytes.size());
  return Status();
}

Status WriteNewFile(const std::filesystem::path& path, std::string_view text, mode_t mode) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0 && errno == EEXIST) {
    return Status(Code::kIllegalOperation, StrCat(path.string(), " exists already; a key is never overwritten"));
  }
  if (file < 0) return FileError(path, "cannot create");
  Status status;
  if (!WriteAll(file, text)) status = FileError(path, "cannot write");
  if (close(file) != 0 && status.ok()) status = FileError(path, "cannot close");
  if (!status.ok()) unlink(path.c_str());  // half a key helps nobody, and would be in the way of the next attempt
  return status;
}

Result<std::string> ReadKeyFile(const std::filesystem::path& path) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) return FileError(path, "cannot open");
  std::string text(kKeyFileBytesMax + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) return FileError(path, "cannot read");
  text.resize(static_cast<size_t>(file.gcount()));
  if (text.size() > kKeyFileBytesMax) {
    return Status(Code::kFailedToParse, StrCat(path.string(), " is longer than ", kKeyFileBytesMax, " bytes: no key"));
  }
  return text;
}

}  // namespace braid::signing
