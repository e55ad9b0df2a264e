#include "base/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

namespace braid::log {
namespace {
constexpr size_t kRecentLinesMax = 1024;

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt>& Ring() {
  static auto ring = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRecentLinesMax);
  return ring;
}

spdlog::level::level_enum ToSpdlog(Level level) {
  switch (level) {
    case Level::kTrace: return spdlog::level::trace;
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kOff: break;
  }
  return spdlog::level::off;
}

}  // namespace

Level LevelOf(std::string_view name) {
  if (name == "trace") return Level::kTrace;
  if (name == "debug") return Level::kDebug;
  if (name == "info") return Level::kInfo;
  if (name == "warning") return Level::kWarning;
  return name == "error" ? Level::kError : Level::kOff;
}

void Init(Level level) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("braid", spdlog::sinks_init_list{terminal, Ring()});
  logger->set_level(ToSpdlog(level));
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

std::vector<std::string> Recent() { return Ring()->last_formatted(); }

namespace internal {

bool IsLogged(Level level) { return spdlog::should_log(ToSpdlog(level)); }

void Write(Level level, fmt::string_view format, fmt::format_args args) {
  spdlog::log(ToSpdlog(level), fmt::vformat(format, args));
}

}  // namespace internal

}  // namespace braid::log
