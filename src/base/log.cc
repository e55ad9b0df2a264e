#include "base/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>

namespace braid::log {
namespace {
constexpr size_t kRecentLinesMax = 1024;

std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt>& Ring() {
  static auto ring = std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kRecentLinesMax);
  return ring;
}
}  // namespace

void Init(spdlog::level::level_enum level) {
  auto terminal = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  auto logger = std::make_shared<spdlog::logger>("braid", spdlog::sinks_init_list{terminal, Ring()});
  logger->set_level(level);
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %^%l%$ %v");
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

std::vector<std::string> Recent() { return Ring()->last_formatted(); }

}  // namespace braid::log
