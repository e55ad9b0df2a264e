// A node in this process, for tests of what talks to one.
#pragma once

#include "base/testing/testing.h"
#include "services/explorer/source/chain_node.h"
#include "services/explorer/source/node_source.h"

namespace braid::explorer::source {

/// Serves while it lives.
class RunningNode {
 public:
  explicit RunningNode(const NodeOptions& options) : node_(options, {}) {
    auto server = NodeServer::Open(node_, {});
    EXPECT_OK(server);
    server_ = std::move(*server);
  }

  ChainNode& node() { return node_; }
  /// With short pauses and little patience.
  RpcOptions Rpc() const {
    RpcOptions options;
    options.address = *ParseHttpAddress(server_->url());
    options.pause = std::chrono::milliseconds(1);
    options.pause_max = std::chrono::milliseconds(10);
    options.timeout = std::chrono::milliseconds(5000);
    options.patience = std::chrono::milliseconds(20'000);
    return options;
  }

 private:
  ChainNode node_;
  std::unique_ptr<NodeServer> server_;
};

}  // namespace braid::explorer::source
