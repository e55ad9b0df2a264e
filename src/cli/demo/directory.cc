#include "cli/demo/directory.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>

#include "base/log.h"
#include "base/strings.h"

namespace braid::cli::demo {

Result<Directory> Directory::Make(const std::string& given) {
  if (!given.empty()) return Directory(given, false);
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "braid-demo-XXXXXX").string();
  if (!error && mkdtemp(path.data()) != nullptr) return Directory(path, true);
  return Status(Code::kBadValue, StrCat("cannot make a temporary directory like ", path,
                                        "; set TMPDIR, or give one to keep with --store DIR"));
}

Directory::~Directory() {
  std::error_code error;
  if (temporary_ && std::filesystem::remove_all(path_, error) == static_cast<std::uintmax_t>(-1)) {
    log::warn("cannot remove {}: {}", path_, error.message());
  }
}

}  // namespace braid::cli::demo
