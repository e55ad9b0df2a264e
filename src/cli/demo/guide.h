// The guide, which the demo prints once it runs.
#pragma once

#include <string>
#include <vector>

namespace braid::cli::demo {

struct GuideInput {
  std::string address;       ///< of the MongoDB protocol, such as "127.0.0.1:27017"
  std::string http_address;  ///< such as "127.0.0.1:8080"
  std::string store;
  bool temporary = true;  ///< the store is removed at the end
  std::vector<std::string> remarks;
};

/// Commands are lines of their own that a shell takes as they are.
std::string Guide(const GuideInput& input);

}  // namespace braid::cli::demo
