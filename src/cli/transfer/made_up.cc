#include "cli/transfer/made_up.h"

#include <cstdio>

namespace braid::transfer {

Status WriteMadeUp(uint64_t count, const std::function<std::string()>& next) {
  bool written = true;
  for (uint64_t i = 0; written && i < count; ++i) {
    const std::string line = next() + "\n";
    written = std::fwrite(line.data(), 1, line.size(), stdout) == line.size();
  }
  if (std::fflush(stdout) == 0 && written) return {};
  return Status(Code::kOutOfDiskSpace, "cannot write to standard output");
}

}  // namespace braid::transfer
