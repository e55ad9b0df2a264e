// Transactions of killed processes. A store keeps a transaction that nobody ends for up to a minute, and with it the
// lock on the head of the single chain: all writers would wait for a dead one. So every process that takes part notes
// its sessions in `<state>_sessions`, {_id: <id in hex>, lsid, at}, with a date that it renews; who waits for long ends
// the sessions (killSessions) whose date is old. That is never wrong: a process that was only slow runs its transaction
// again.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "client/handles.h"

namespace braid::settlement::migration {

/// Any thread; has one of its own. The Clients must outlive it.
class SessionGuard {
 public:
  SessionGuard(Clients& clients, std::string database, std::string collection);
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
  void Renew(const std::map<std::string, client::BsonPtr>& sessions);
  void EndOthers();
  client::CollectionPtr Collection(const Client& client) const {
    return client::CollectionOf(client.get(), database_, collection_);
  }

  Clients& clients_;
  const std::string database_;
  const std::string collection_;
  std::mutex mu_;
  std::condition_variable wake_;
  bool ended_ = false;                                // guarded by mu_, as are the others
  int busy_ = 0;                                      // how many
  std::chrono::steady_clock::time_point busy_since_;  // of the first of them
  std::map<std::string, client::BsonPtr> sessions_;   // ours, by their id in hex
  std::thread thread_;
};

}  // namespace braid::settlement::migration
