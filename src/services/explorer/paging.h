// The arguments of a query: hashes, addresses, limits, and the cursors of lists. A malformed one is kBadValue.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "services/explorer/explorer.h"

namespace braid::explorer {

/// 0x and 64 hexadecimal digits, made lower case. `name` is what the error calls it.
Result<std::string> HashArgument(std::string_view name, const std::string& text);
/// As HashArgument(), or empty.
Result<std::string> OptionalHashArgument(std::string_view name, const std::string& text);
/// 0x and 40 hexadecimal digits, made lower case.
Result<std::string> AddressArgument(std::string_view name, const std::string& text);

/// The lists that are given in pages; a cursor begins with the letter of its list, so that a cursor of another list is
/// refused.
enum class PagedList : char {
  kAccountTransactions = 'a',
  kBlocks = 'b',
  kBlockTransactions = 't',
  kEpochBlocks = 'e',
  kMinerBlocks = 'm',
  kMiners = 'w',
  kPivots = 'p',
  kReorganisations = 'r',
  kTransactions = 'x',
};

/// Where a page ended: the position of its last row, which no growth of the chain changes.
std::string ToCursor(PagedList list, int64_t position);
/// Nothing for an empty text.
Result<std::optional<int64_t>> ParseCursor(PagedList list, const std::string& cursor);

/// The same for a list in the order of addresses.
std::string ToAddressCursor(PagedList list, const std::string& address);
/// Empty for an empty text.
Result<std::string> ParseAddressCursor(PagedList list, const std::string& cursor);

/// 1 to kRowsMax.
Status CheckPageLimit(int64_t limit);

}  // namespace braid::explorer
