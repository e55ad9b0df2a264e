// --store of the client subcommands: a server's URI, or a directory that is opened for the time of the subcommand.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"

namespace CLI {
class App;
}

namespace braid::cli {

/// Adds --store DIR|mongodb://…
void AddStoreOption(CLI::App& app, std::string& store);

/// Whether --store names a server that runs already.
bool IsUri(const std::string& store);

/// A server to talk to. While the object lives, uri() is answered.
class Store {
 public:
  /// A URI is used as it is. A directory, created if absent, is opened in this process and served on a free loopback
  /// port.
  static Result<std::unique_ptr<Store>> Open(const std::string& store);
  virtual ~Store() = default;
  const std::string& uri() const { return uri_; }

 protected:
  explicit Store(std::string uri) : uri_(std::move(uri)) {}

 private:
  const std::string uri_;
};

}  // namespace braid::cli
