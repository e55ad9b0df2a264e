#include "cli/store_option.h"

#include <CLI/CLI.hpp>
#include <filesystem>

#include "base/log.h"
#include "braid/embedded.h"

namespace braid::cli {

void AddStoreOption(CLI::App& app, std::string& store) {
  app.add_option("--store", store,
                 "A server, as mongodb://HOST:PORT, or a directory, which is opened for the time of this.")
      ->type_name("DIR|URI")
      ->capture_default_str();
}

Result<std::unique_ptr<Clients>> OpenStore(const std::string& store) {
  if (store.empty()) return Status(Code::kBadValue, "--store needs a directory or a mongodb:// URI");
  log::Init(log::Level::kWarning);
  return braid::OpenStore(store);
}

std::string DirectoryBeside(const std::string& store) {
  if (IsUri(store)) return ".";
  const std::filesystem::path path = std::filesystem::absolute(store).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).parent_path().string();
}

}  // namespace braid::cli
