// Watch: warns in the log about collections with uneven shards or with queries that need many shards.
#pragma once

#include <chrono>
#include <map>

#include "engine/txn/context.h"

namespace braid::balance {

/// Two warnings, each at most once per hour and collection: most operations go to several shards; most documents are on
/// one shard, and which key they share (often null). One thread.
class Watch {
 public:
  explicit Watch(txn::Shared& shared) : shared_(shared) {}
  void Look();

 private:
  struct Seen {
    uint64_t targeted = 0;  // at the last warning or reset
    uint64_t scattered = 0;
    std::chrono::steady_clock::time_point scatter_warned;
    std::chrono::steady_clock::time_point skew_warned;
  };
  void CheckScatter(const catalog::Collection& collection, Seen& seen);
  void CheckSkew(const catalog::Collection& collection, Seen& seen);

  txn::Shared& shared_;
  std::map<uint32_t, Seen> seen_;  // by the collection's number
};

}  // namespace braid::balance
