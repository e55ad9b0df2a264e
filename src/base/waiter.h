// Waiter: a request that can wait for something and be told that it is there.
#pragma once

#include "base/fiber.h"
#include "braid/status.h"

namespace braid {

class Waiter {
 public:
  virtual ~Waiter() = default;
  /// Waits until somebody calls Wake(): OK, or why the waiter gives up. May return OK without need. On a fiber the
  /// thread goes on with other work meanwhile (fiber.h): no lock may be held.
  virtual Status Wait() = 0;
  /// The caller holds a lock that the waiter takes after Wait().
  void Wake() { parking_.Unpark(); }

 protected:
  Parking parking_;
};

/// Waits however long it takes: for what has to be done even if the request that it belongs to is over.
class PatientWaiter final : public Waiter {
 public:
  Status Wait() override {
    parking_.Park();
    return {};
  }
};

}  // namespace braid
