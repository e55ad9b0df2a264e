// The server's log: one line per event, to standard error. spdlog writes it; its headers are costly to compile and stay
// in log.cc.
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>
#include <vector>

namespace braid::log {

enum class Level { kTrace, kDebug, kInfo, kWarning, kError, kOff };

/// "warning" is kWarning, and so on; anything else is kOff.
Level LevelOf(std::string_view name);

/// Sets the level, and keeps the last lines in memory for getLog.
void Init(Level level);

/// The newest lines, oldest first, for `getLog: "global"`.
std::vector<std::string> Recent();

namespace internal {
bool IsLogged(Level level);
void Write(Level level, fmt::string_view format, fmt::format_args args);
}  // namespace internal

template <typename... Args>
void Write(Level level, fmt::format_string<Args...> format, Args&&... args) {
  if (internal::IsLogged(level)) internal::Write(level, format, fmt::make_format_args(args...));
}

template <typename... Args>
void debug(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kDebug, format, std::forward<Args>(args)...);
}
template <typename... Args>
void info(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kInfo, format, std::forward<Args>(args)...);
}
template <typename... Args>
void warn(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kWarning, format, std::forward<Args>(args)...);
}
template <typename... Args>
void error(fmt::format_string<Args...> format, Args&&... args) {
  Write(Level::kError, format, std::forward<Args>(args)...);
}

}  // namespace braid::log
