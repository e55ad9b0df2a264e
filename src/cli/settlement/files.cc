// Small files that subcommands read and write, and times as text.
#include <fmt/chrono.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/strings.h"
#include "cli/settlement/actions.h"

namespace braid::cli::settlement {
namespace {

constexpr size_t kPieceBytes = 1u << 20;
constexpr int64_t kMillisMax = 253'402'300'799'999;  // the end of the year 9999

}  // namespace

Result<std::string> ReadFile(const std::filesystem::path& path, size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kBadValue, StrCat("cannot read ", path.string(), ": ", strerror(errno)));
  std::string text;
  while (file && text.size() <= bytes_max) {
    const size_t size = text.size();
    text.resize(size + std::min(kPieceBytes, bytes_max + 1 - size));
    file.read(text.data() + size, static_cast<std::streamsize>(text.size() - size));
    text.resize(size + static_cast<size_t>(file.gcount()));
  }
  if (file.bad()) return Status(Code::kBadValue, StrCat("cannot read ", path.string(), ": ", strerror(errno)));
  if (text.size() > bytes_max) {
    return Status(Code::kBadValue, StrCat(path.string(), " has more than ", bytes_max, " bytes"));
  }
  return text;
}

Status WriteFile(const std::string& path, std::string_view text) {
  FILE* file = path == "-" ? stdout : std::fopen(path.c_str(), "wb");
  if (file == nullptr) return Status(Code::kBadValue, StrCat("cannot write ", path, ": ", strerror(errno)));
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const bool closed = file == stdout ? std::fflush(file) == 0 : std::fclose(file) == 0;
  if (!written || !closed) return Status(Code::kOutOfDiskSpace, StrCat("cannot write ", path, ": ", strerror(errno)));
  return {};
}

// What a store or a file says may be any number.
std::string Time(int64_t millis) {
  const int64_t known = std::clamp<int64_t>(millis, 0, kMillisMax);
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(known / 1000)));
}

}  // namespace braid::cli::settlement
