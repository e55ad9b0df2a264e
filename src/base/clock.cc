#include "braid/clock.h"

namespace braid {
namespace {
class SystemClock final : public Clock {
 public:
  int64_t NowMillis() const override {
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }
  std::chrono::steady_clock::time_point Now() const override { return std::chrono::steady_clock::now(); }
};
}  // namespace

const Clock& Clock::System() {
  static const SystemClock clock;
  return clock;
}
}  // namespace braid
