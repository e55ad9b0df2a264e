// NodeServer: a ChainNode behind HTTP.
#pragma once

#include <memory>

#include "services/explorer/source/chain_node.h"

namespace braid::explorer::source {

struct NodeServerOptions {
  std::string address = "127.0.0.1";  // loopback: there is no authentication
  uint16_t port = 0;                  // 0: a free one
  /// The interval, in milliseconds, at which the chain takes a step; 0: never by itself.
  int64_t interval_ms = 0;
};

/// Serves until it ends, one thread per connection. The node must outlive it.
class NodeServer {
 public:
  static Result<std::unique_ptr<NodeServer>> Open(ChainNode& node, const NodeServerOptions& options);
  ~NodeServer();
  NodeServer(const NodeServer&) = delete;
  NodeServer& operator=(const NodeServer&) = delete;

  const std::string& url() const;  ///< "http://127.0.0.1:12345"

 private:
  class Parts;
  explicit NodeServer(std::unique_ptr<Parts> parts);
  const std::unique_ptr<Parts> parts_;
};

}  // namespace braid::explorer::source
