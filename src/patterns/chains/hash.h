// The hash of a record, from its canonical bytes (braid/chains.h), and what else is done with hashes.
#pragma once

#include <string>
#include <string_view>

#include "braid/chains.h"

namespace braid::chains {

constexpr ChainHash kGenesis{};

inline std::string_view TextOf(const ChainHash& hash) {
  return {reinterpret_cast<const char*>(hash.data()), hash.size()};
}
/// 64 hexadecimal digits.
std::string HexOf(const ChainHash& hash);

/// XXH3 of compressed records. Other frames give the same records, so that the records' own hashes alone would not show
/// every changed bit; who changes a frame on purpose changes no record by it.
int64_t SealOf(std::string_view frame);

}  // namespace braid::chains
