#include "cli/transfer/progress.h"

#include <fmt/format.h>

#include <unistd.h>

#include <cstdio>

#include "base/mutex.h"
#include "base/strings.h"

namespace braid::transfer {
namespace {

constexpr auto kTerminalEvery = std::chrono::milliseconds(200);
constexpr auto kPlainEvery = std::chrono::seconds(3);
constexpr const char* kClear = "\r\033[K";

bool IsTerminal() {
  static const bool terminal = isatty(STDERR_FILENO) != 0;
  return terminal;
}

}  // namespace

Progress::Progress(std::function<std::string()> text, bool quiet) : text_(std::move(text)), terminal_(IsTerminal()) {
  if (!quiet) thread_ = std::thread([this] { Run(); });
}

Progress::~Progress() {
  {
    const MutexLock lock(mu_);
    ended_ = true;
  }
  wake_.NotifyAll();
  if (!thread_.joinable()) return;
  thread_.join();
  if (terminal_) std::fputs(kClear, stderr);
}

void Progress::Run() {
  const std::chrono::milliseconds every = terminal_ ? kTerminalEvery : std::chrono::milliseconds(kPlainEvery);
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, every, [this]() BRAID_REQUIRES(mu_) { return ended_; })) {
    if (terminal_)
      std::fprintf(stderr, "%s%s", kClear, text_().c_str());
    else
      std::fprintf(stderr, "%s\n", text_().c_str());
    std::fflush(stderr);
  }
}

void PrintLine(const std::string& line) {
  const std::string whole = StrCat(IsTerminal() ? kClear : "", line, "\n");  // one write: threads do not mix
  std::fputs(whole.c_str(), stderr);
}

std::string Bytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"B", "KB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit < std::size(kUnits) - 1; ++unit) value /= 1024;
  return unit == 0 ? fmt::format("{} B", bytes) : fmt::format("{:.1f} {}", value, kUnits[unit]);
}

}  // namespace braid::transfer
