// Outputs over TCP: a stream for engines that want an answer to each output without waiting for the one before (C3).
//
// All integers are big-endian. The client sends messages, one after another:
//      0  4  n: bytes that follow, 1 to 8388608
//      4  n  an output as JSON in UTF-8 (F2)
// and is sent one reply for each, in the order of its messages:
//      0  8  output_seq; 0 if the message could not be read
//      8  1  outcome: 0 accepted, 1 duplicate, 2 refused, 3 halted, 4 elsewhere, 5 failed (service.h)
// then for 0 and 1
//      9 32  hash of the stored record
// and for the others
//      9  2  m: bytes that follow
//     11  m  the reason in UTF-8
// A reply with 0 or 1 means that the output is durable. The client may send on without waiting for replies: while too
// many are due, or the log cannot take more, the connection is not read from. A client that ends its side gets the
// replies that are due, then the connection is closed. A message that is cut off by the end of the connection is not an
// output. A length out of range is answered with outcome 2, and nothing further is read from the connection. After a
// lost connection the client connects again and sends everything that was not acknowledged: what is stored already is
// answered with 1.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "services/settlement/service.h"

namespace braid::settlement {

struct ListenerOptions {
  std::string address = "127.0.0.1";
  uint16_t port = 0;  ///< 0: a free one
  /// Connections at a time; one more is closed at once. Default 64. Each has two threads.
  uint32_t connections_max = 64;
  /// Replies due on one connection before it is not read from. Default 10000.
  uint32_t due_max = 10'000;
  /// How long the end waits for clients to take their replies, and then for a store that fails. Default 5 s.
  std::chrono::milliseconds patience{5000};
  /// Called with each answer to an output that is not stored, and with the connection it came from, such as "connection
  /// 127.0.0.1:40112". On any thread; may be empty.
  std::function<void(const std::string& source, const Answer& answer)> on_problem;
};

inline constexpr uint32_t kMessageBytesMax = 8u << 20;

/// Accepts connections until it ends; each is an Intake. The Settlement must outlive it.
class Listener {
 public:
  static Result<std::unique_ptr<Listener>> Open(Settlement& settlement, const ListenerOptions& options);
  /// Calls Stop().
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// Reads nothing more, sends the replies that are due and closes. A client that has not taken its replies after
  /// options.patience loses them. If the store fails for as long after that, the settlement's writers are stopped: what
  /// is left is answered kFailed.
  void Stop();
  uint16_t port() const;
  uint32_t connections() const;
  /// Of all connections, those that have ended too.
  Totals totals() const;

 private:
  class Impl;
  explicit Listener(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace braid::settlement
