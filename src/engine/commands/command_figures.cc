#include "engine/commands/command_figures.h"

#include "base/assert.h"

#include <algorithm>
#include <string_view>

namespace braid::commands {
namespace {

// Which of the table it is.
size_t IndexOf(const Command& command) {
  const auto all = AllCommands();
  const auto at = std::ranges::lower_bound(all, command.name, {}, &Command::name);
  BRAID_ASSERT(at != all.end() && (*at)->name == command.name);
  return static_cast<size_t>(at - all.begin());
}

bool IsRead(std::string_view name) {
  constexpr std::string_view kReads[] = {"aggregate", "count", "distinct", "find", "getMore"};
  return std::ranges::find(kReads, name) != std::end(kReads);
}

}  // namespace

CommandFigures::CommandFigures() : counts_(std::make_unique<Count[]>(AllCommands().size())) {}

void CommandFigures::Note(const Command& command, bool failed, std::chrono::nanoseconds duration) {
  Count& count = counts_[IndexOf(command)];
  count.total.fetch_add(1, std::memory_order_relaxed);
  if (failed) count.failed.fetch_add(1, std::memory_order_relaxed);
  Latency& latency = IsRead(command.name) ? reads_ : (command.flags & kWrites) != 0 ? writes_ : others_;
  latency.nanos.fetch_add(duration.count(), std::memory_order_relaxed);
  const int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  const auto bound = std::ranges::lower_bound(kBoundsMicros, micros);
  latency.counts[static_cast<size_t>(bound - kBoundsMicros.begin())].fetch_add(1, std::memory_order_relaxed);
}

void CommandFigures::AppendCommands(bson::Builder& reply) const {
  reply.OpenObject("commands");
  const auto all = AllCommands();
  for (size_t i = 0; i < all.size(); ++i) {
    const int64_t total = counts_[i].total.load(std::memory_order_relaxed);
    if (total == 0) continue;
    reply.OpenObject(all[i]->name)
        .Append("failed", counts_[i].failed.load(std::memory_order_relaxed))
        .Append("total", total)
        .Close();
  }
  reply.Close();
}

void CommandFigures::AppendLatency(bson::Builder& reply, const char* name, const Latency& latency) {
  int64_t operations = 0;
  for (const auto& count : latency.counts) operations += count.load(std::memory_order_relaxed);
  reply.OpenObject(name)
      .Append("latency", latency.nanos.load(std::memory_order_relaxed) / 1000)
      .Append("ops", operations)
      .OpenArray("histogram");
  for (size_t i = 0; i < latency.counts.size(); ++i) {
    const int64_t lower = i == 0 ? 0 : kBoundsMicros[i - 1];
    reply.OpenNextObject()
        .Append("micros", lower)
        .Append("count", latency.counts[i].load(std::memory_order_relaxed))
        .Close();
  }
  reply.Close().Close();
}

void CommandFigures::AppendLatencies(bson::Builder& reply) const {
  reply.OpenObject("opLatencies");
  AppendLatency(reply, "reads", reads_);
  AppendLatency(reply, "writes", writes_);
  AppendLatency(reply, "commands", others_);
  reply.Close();
}

}  // namespace braid::commands
