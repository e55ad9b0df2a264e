// CommandFigures: how often each command ran, how often it failed, and how long it took.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>

#include "engine/bson/builder.h"
#include "engine/commands/command.h"

namespace braid::commands {

/// Any thread. Times are those of the handler: a reply may wait for the log after it.
class CommandFigures {
 public:
  /// Upper bounds of the histograms, in microseconds; there is one more bucket for what takes longer.
  static constexpr std::array<int64_t, 12> kBoundsMicros = {100,    250,    500,     1'000,   2'500,     5'000,
                                                            10'000, 50'000, 100'000, 500'000, 1'000'000, 10'000'000};

  CommandFigures();

  void Note(const Command& command, bool failed, std::chrono::nanoseconds duration);

  /// metrics.commands of serverStatus: {find: {failed: 0, total: 7}, …}, those that ever ran.
  void AppendCommands(bson::Builder& reply) const;
  /// opLatencies: {reads: {latency, ops, histogram: [{micros, count}, …]}, writes: {…}, commands: {…}}, micros being
  /// the lower bound of a bucket, as in MongoDB.
  void AppendLatencies(bson::Builder& reply) const;

 private:
  struct Count {
    std::atomic<int64_t> total = 0;
    std::atomic<int64_t> failed = 0;
  };
  struct Latency {
    std::atomic<int64_t> nanos = 0;
    std::array<std::atomic<int64_t>, kBoundsMicros.size() + 1> counts{};
  };
  static void AppendLatency(bson::Builder& reply, const char* name, const Latency& latency);

  const std::unique_ptr<Count[]> counts_;  // in the order of AllCommands()
  Latency reads_;
  Latency writes_;
  Latency others_;
};

}  // namespace braid::commands
