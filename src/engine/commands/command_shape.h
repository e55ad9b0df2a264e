// CommandShape: a command as the log may show it, with its structure but without its values.
#pragma once

#include <string>

#include "engine/commands/request.h"

namespace braid::commands {

/// { find: "orders", filter: { user: ?, total: { $gt: ? } }, sort: { total: -1 }, limit: 5 }: names, operators, sort
/// patterns and limits are shown, values of documents and filters are not. Lists are cut after a few elements, the
/// whole after `bytes_max` bytes or little more. Fields that any command may carry (lsid, comment, …) are left out.
std::string CommandShape(const Request& request, size_t bytes_max);

}  // namespace braid::commands
