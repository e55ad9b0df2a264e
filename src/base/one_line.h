// OneLine: makes untrusted text safe for a log or a message.
#pragma once

#include <string>

namespace braid {

/// The text without control characters, with which one line could pass for two, and without bytes that are not UTF-8:
/// both are escaped, as \n or \xNN.
std::string OneLine(std::string text);

}  // namespace braid
