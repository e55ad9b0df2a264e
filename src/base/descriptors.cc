#include "base/descriptors.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

#include "base/strings.h"

namespace braid {
namespace {

constexpr uint64_t kEnough = 1u << 20;    // used if the process has no limit
constexpr uint64_t kUnknownLimit = 1024;  // the limit of most systems
constexpr uint64_t kStoreMax = 8192;      // further table files are opened when they are needed
constexpr uint64_t kSpilledMax = 256;
constexpr uint64_t kRest = 64;  // logs, files being compacted, listening sockets, standard streams
constexpr uint64_t kDescriptorsOfLoop = 4;

}  // namespace

DescriptorShares ShareDescriptors(uint64_t limit) {
  DescriptorShares shares;
  shares.limit = std::min(limit, kEnough);
  shares.store = std::min(shares.limit / 2, kStoreMax);
  shares.spilled = std::min(shares.limit / 32, kSpilledMax);
  const uint64_t taken =
      shares.store + shares.spilled + kRest + kDescriptorsOfLoop * std::max(1u, std::thread::hardware_concurrency());
  shares.connections = shares.limit > taken ? shares.limit - taken : 0;
  return shares;
}

DescriptorShares ShareDescriptors() {
  rlimit limit{};
  return ShareDescriptors(getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : kUnknownLimit);
}

Status RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return {};
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) == 0) return {};
  return {Code::kBadValue, StrCat("the limit of open files (ulimit -n) stays as it is: ", std::strerror(errno))};
}

}  // namespace braid
