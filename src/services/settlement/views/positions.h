// How far each chain has been read or applied.
#pragma once

#include <cstdint>
#include <map>

#include "braid/chains.h"

namespace braid::settlement::views {

/// A record of a chain: the newest one that was read or applied. Before the first: sequence 0 and the genesis hash.
struct Position {
  int64_t sequence = 0;
  ChainHash hash{};
  int64_t records = 0;  ///< how many the chain has up to here
};

/// By chain; a chain that is missing is at its beginning.
using Positions = std::map<int64_t, Position>;

inline int64_t SequenceOf(const Positions& positions, int64_t chain) {
  const auto place = positions.find(chain);
  return place == positions.end() ? 0 : place->second.sequence;
}

}  // namespace braid::settlement::views
