// The server's log: spdlog, one line an event, to standard error. Include only in .cc files.
#pragma once

#include <spdlog/spdlog.h>

#include <string>
#include <vector>

namespace braid::log {

using spdlog::debug;
using spdlog::error;
using spdlog::info;
using spdlog::warn;

/// Sets level and pattern, and keeps the last lines in memory for getLog.
void Init(spdlog::level::level_enum level);

/// The newest lines, oldest first, for `getLog: "global"`.
std::vector<std::string> Recent();

}  // namespace braid::log
