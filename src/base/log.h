// The server's log: one line per event, to standard error or a file. Logging never waits for the reader of the log
// (log_writer.h). spdlog makes the lines; its headers are costly to compile and stay in log.cc.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "braid/status.h"

namespace braid::log {

enum class Level { kTrace, kDebug, kInfo, kWarning, kError, kOff };

/// "warning" is kWarning, and so on; anything else is kOff.
Level LevelOf(std::string_view name);

/// A line is `2026-01-31T12:00:00.000+00:00 info message` or a JSON object:
///   {"t": "2026-01-31T12:00:00.000+00:00", "level": "info", "component": "server", "message": "…", "attributes": {…}}
enum class Format { kText, kJson };
/// Sets the format of all further lines.
void SetFormat(Format format);

/// Sets the level, sends the log to standard error, and keeps the last lines in memory for getLog.
void Init(Level level);
void SetLevel(Level level);

/// Appends all further lines to this file, which is created if absent. Call it again with the same name after the file
/// was moved away. On an error nothing has changed.
Status OpenFile(const std::string& path);

/// Waits until what was logged is written, at most a second.
void Flush();

/// Lines that could not be written, or not quickly enough.
uint64_t Dropped();

/// The newest lines, oldest first, for `getLog: "global"`.
std::vector<std::string> Recent();

/// An attribute of an event. In text it follows the message, as name=value.
struct Attribute {
  std::string_view name;
  std::variant<int64_t, std::string> value;
};
/// An event with its attributes; `component` is the part of the server that it is about, shown in JSON.
void Event(Level level, std::string_view component, std::string_view message,
           std::span<const Attribute> attributes = {});

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
