// A store that fails.
#pragma once

#include <atomic>
#include <vector>

#include "base/mutex.h"
#include "braid/clients.h"

namespace braid::test {

/// Clients of a store that can be taken away and given back: meanwhile they connect to a port without a listener.
class FlakyClients final : public Clients {
 public:
  explicit FlakyClients(Clients& inner) : inner_(inner) {}
  void Fail(bool failing) { failing_ = failing; }
  void FailForGood() {
    failing_ = true;
    for_good_ = true;
  }
  bool MayRecover(const Status& /*error*/) const override { return !for_good_; }

 private:
  mongoc_client_t* Pop() override {
    if (failing_) return mongoc_client_new("mongodb://127.0.0.1:1/?serverSelectionTimeoutMS=20");
    const MutexLock lock(mu_);
    lent_.push_back(inner_.Acquire());
    return lent_.back().get();
  }
  void Push(mongoc_client_t* client) override {
    const MutexLock lock(mu_);
    if (std::erase_if(lent_, [&](const Client& lent) { return lent.get() == client; }) == 0) {
      mongoc_client_destroy(client);
    }
  }

  Clients& inner_;
  std::atomic<bool> failing_ = false;
  std::atomic<bool> for_good_ = false;
  Mutex mu_;
  std::vector<Client> lent_ BRAID_GUARDED_BY(mu_);
};

}  // namespace braid::test
