// Small files that subcommands read and write, and times as text.
#include <fmt/chrono.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "base/strings.h"
#include "cli/settlement/actions.h"

namespace braid::cli::settlement {

Result<std::string> ReadFile(const std::filesystem::path& path, size_t bytes_max) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Status(Code::kBadValue, StrCat("cannot read ", path.string(), ": ", strerror(errno)));
  std::string text(std::istreambuf_iterator<char>(file), {});
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

std::string Time(int64_t millis) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(static_cast<std::time_t>(millis / 1000)));
}

}  // namespace braid::cli::settlement
