// Transactions of killed processes. A store keeps an abandoned transaction for up to a minute, and with it the lock on
// the head of the single chain: all writers would wait for a dead process. So every process that takes part notes its
// sessions in `<state>_sessions`, {_id: <id in hex>, lsid, renewals}, and counts `renewals` up every 300 ms; a process
// that waits ends the sessions (killSessions) that it sees without a renewal for a while. That is never wrong: a
// process that was only slow runs its transaction again.
//   Appends to the chains use transactions, too, which this class does not see. They take their sessions from the same
//   pool of this process, and the sessions that the migration and this class put there are on the list. Only sessions
//   that another thread of the process puts into the pool may be missing; their locks last until the store ends the
//   transaction.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/clock.h"
#include "client/handles.h"

namespace braid::settlement::migration {

/// Finds the sessions on a list that are no longer renewed. Uses only the watcher's clock, because the clocks of two
/// machines need not agree. One thread at a time.
class SessionWatch {
 public:
  /// How long a session must have been seen without a renewal. Its process renews it every 300 ms.
  static constexpr std::chrono::milliseconds kPatience{1200};

  /// `renewals`: how often each session was renewed, as the list says now. Returns those that have not been renewed
  /// during kPatience of watching.
  std::vector<std::string> Abandoned(const std::map<std::string, int64_t>& renewals,
                                     std::chrono::steady_clock::time_point now);

 private:
  struct Seen {
    int64_t renewals = 0;
    std::chrono::steady_clock::time_point since;
  };
  std::map<std::string, Seen> seen_;
};

/// Any thread; has one of its own. The Clients must outlive it.
class SessionGuard {
 public:
  /// `clock`: the watcher's clock; null for the machine's.
  SessionGuard(Clients& clients, std::string database, std::string collection, const Clock* clock);
  /// Takes the sessions off the list.
  ~SessionGuard();
  SessionGuard(const SessionGuard&) = delete;
  SessionGuard& operator=(const SessionGuard&) = delete;

  /// A session that is about to write.
  void Note(const bson_t* lsid);

  /// While it exists, its process may be waiting for another's transaction.
  class Busy {
   public:
    explicit Busy(SessionGuard& guard) : guard_(guard) { guard_.Begin(); }
    ~Busy() { guard_.End(); }
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;

   private:
    SessionGuard& guard_;
  };

 private:
  void Begin();
  void End();
  void Run();
  bool Add(const bson_t* lsid);
  void Renew();
  void EndOthers();
  void EndOne(const std::string& id, const bson_t* lsids, int64_t renewals);
  client::CollectionPtr Collection(const Client& client) const {
    return client::CollectionOf(client.get(), database_, collection_);
  }

  Clients& clients_;
  const std::string database_;
  const std::string collection_;
  const Clock& clock_;
  SessionWatch watch_;  // of the thread
  Mutex mu_;
  CondVar wake_;
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  int busy_ BRAID_GUARDED_BY(mu_) = 0;                                      // how many
  std::chrono::steady_clock::time_point busy_since_ BRAID_GUARDED_BY(mu_);  // of the first of them
  std::map<std::string, client::BsonPtr> sessions_ BRAID_GUARDED_BY(mu_);   // ours, by their id in hex
  std::thread thread_;
};

}  // namespace braid::settlement::migration
