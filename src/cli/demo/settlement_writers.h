// SettlementWriters: two services that share the symbols of one log by leases, and hand the hot one over to each other.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>

#include "services/settlement/service.h"

namespace braid::cli::demo {

/// One thread. The Clients must outlive it.
class SettlementWriters {
 public:
  /// The symbol that changes hands. The others belong to the writers by turns.
  static constexpr int64_t kHotSymbol = 1;

  /// After a kill each writer has the leases that it had. A chain that is halted goes on.
  static Result<std::unique_ptr<SettlementWriters>> Open(Clients& clients);

  /// OK: all are durable. An error: give the same again.
  Status Append(std::span<const settlement::Output> outputs);

  struct HandOver {
    std::string from;
    std::string to;
    int64_t epoch = 0;  ///< the fencing token of the new lease
  };
  /// The hot symbol goes from the writer that has it to the other one.
  Result<HandOver> HandHotOver();
  const char* hot_writer() const { return kNames[hot_]; }

  /// Halts the chain of an output that is to be appended next: it is submitted with a prev_hash that is not the
  /// chain's. OK if that was refused, as it must be.
  Status Halt(const settlement::Output& next);
  /// Makes the chain of a symbol go on.
  Status Repair(int64_t symbol, const std::string& reason);

  Chains& chains() { return writers_.front()->chains(); }

 private:
  static constexpr std::array<const char*, 2> kNames = {"writer-a", "writer-b"};
  using Writers = std::array<std::unique_ptr<settlement::Settlement>, kNames.size()>;

  SettlementWriters(Writers writers, size_t hot) : writers_(std::move(writers)), hot_(hot) {}
  size_t WriterOf(int64_t symbol) const {
    return symbol == kHotSymbol ? hot_ : static_cast<size_t>(symbol) % kNames.size();
  }

  const Writers writers_;
  size_t hot_;  // which of them has the hot symbol
};

}  // namespace braid::cli::demo
