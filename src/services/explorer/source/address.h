// Addresses of Conflux in either form: 0x and 40 hexadecimal digits, or base32 with the network's name (CIP-37).
#pragma once

#include <string>
#include <string_view>

#include "braid/status.h"

namespace braid::explorer::source {

/// 0x and 40 lower-case digits of an address in base32, such as "cfx:aak2rra2njvd77ezwjvx04kkds9fzagfe6ku8scz91" or
/// "CFXTEST:TYPE.USER:…". kBadValue if its checksum is wrong. A text that does not look like base32 is returned
/// unchanged.
Result<std::string> AddressInHex(std::string_view address);

}  // namespace braid::explorer::source
