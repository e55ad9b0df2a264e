// LogWriter: lines of the log on their way to standard error or a file, which may be slow, stuck or gone.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "braid/status.h"

namespace braid::log {

/// A bounded queue and the thread that empties it. Only that thread ever waits for the reader of the log. When the
/// queue is full its oldest lines are dropped and counted; one line in their place says how many were dropped. Any
/// thread.
class LogWriter {
 public:
  static constexpr size_t kLinesMax = 2048;
  static constexpr size_t kBytesMax = 4u << 20;

  /// Writes to a duplicate of the descriptor until Open() is called: the caller may close its own at any time, and a
  /// thread that is left behind never writes to another file that reuses the number. `note` formats the line about
  /// dropped lines.
  LogWriter(int descriptor, std::function<std::string(uint64_t)> note);
  /// Waits for the last lines, but not long: a thread that is stuck in a write is left behind.
  ~LogWriter();
  LogWriter(const LogWriter&) = delete;
  LogWriter& operator=(const LogWriter&) = delete;

  /// A whole line with its end. Never waits.
  void Push(std::string line);
  /// Further lines go to the end of this file, which is created if absent. On an error nothing has changed.
  Status Open(const std::string& path);
  /// Waits until everything is written, or for so long.
  void Flush(std::chrono::milliseconds longest);
  /// Lines that were dropped, or could not be written.
  uint64_t dropped() const;

 private:
  struct State;
  std::shared_ptr<State> state_;  // shared with the thread
};

}  // namespace braid::log
