#include "services/settlement/migration/session_guard.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::settlement::migration {
namespace {

using client::Bson;
using std::chrono::milliseconds;

constexpr milliseconds kRenewEvery{300};

}  // namespace

std::vector<std::string> SessionWatch::Abandoned(const std::map<std::string, int64_t>& renewals,
                                                 std::chrono::steady_clock::time_point now) {
  std::erase_if(seen_, [&](const auto& seen) { return !renewals.contains(seen.first); });
  std::vector<std::string> abandoned;
  for (const auto& [id, count] : renewals) {
    const auto [seen, first] = seen_.try_emplace(id, Seen{count, now});
    if (seen->second.renewals != count) seen->second = {count, now};
    if (now - seen->second.since >= kPatience) abandoned.push_back(id);
  }
  return abandoned;
}

SessionGuard::SessionGuard(Clients& clients, std::string database, std::string collection, const Clock* clock)
    : clients_(clients),
      database_(std::move(database)),
      collection_(std::move(collection)),
      clock_(clock != nullptr ? *clock : Clock::System()) {
  thread_ = std::thread([this] { Run(); });
}

SessionGuard::~SessionGuard() {
  {
    const MutexLock lock(mu_);
    ended_ = true;
  }
  wake_.NotifyAll();
  thread_.join();
  const Client client = clients_.Acquire();
  for (const auto& [id, lsid] : sessions_) {
    Bson filter;
    filter.Text("_id", id);
    mongoc_collection_delete_one(Collection(client).get(), filter.get(), nullptr, nullptr, nullptr);
  }
}

void SessionGuard::Note(const bson_t* lsid) {
  if (Add(lsid)) Renew();
}

bool SessionGuard::Add(const bson_t* lsid) {
  const MutexLock lock(mu_);
  const auto [known, fresh] = sessions_.try_emplace(Hex(client::BinaryOf(lsid, "id")));
  if (fresh) known->second.reset(bson_copy(lsid));
  return fresh;
}

void SessionGuard::Begin() {
  const MutexLock lock(mu_);
  if (busy_++ == 0) busy_since_ = std::chrono::steady_clock::now();
}

void SessionGuard::End() {
  const MutexLock lock(mu_);
  BRAID_ASSERT(busy_ > 0);
  --busy_;
}

// A session that has been busy since the previous look may be waiting.
void SessionGuard::Run() {
  MutexLock lock(mu_);
  while (!wake_.WaitFor(lock, kRenewEvery, [this]() BRAID_REQUIRES(mu_) { return ended_; })) {
    const bool waits = busy_ > 0 && std::chrono::steady_clock::now() - busy_since_ > kRenewEvery;
    lock.Unlock();
    Renew();
    if (waits) EndOthers();
    lock.Lock();
  }
}

// The session that this takes from the pool is one that an append to the chains may get next, so it is on the list too.
// A failure means that the store is unavailable: then no process waits for a transaction.
void SessionGuard::Renew() {
  const Client client = clients_.Acquire();
  const client::SessionPtr session(mongoc_client_start_session(client.get(), nullptr, nullptr));
  if (session == nullptr) return;
  Add(mongoc_client_session_get_lsid(session.get()));
  std::map<std::string, client::BsonPtr> sessions;
  {
    const MutexLock lock(mu_);
    for (const auto& [id, lsid] : sessions_) sessions[id].reset(bson_copy(lsid.get()));
  }
  Bson options;
  options.Bool("upsert", true);
  if (!mongoc_client_session_append(session.get(), options.get(), nullptr)) return;
  Bson one;
  one.Integer("renewals", 1);
  for (const auto& [id, lsid] : sessions) {
    Bson filter;
    filter.Text("_id", id);
    Bson fields;
    bson_append_document(fields.get(), "lsid", -1, lsid.get());
    Bson change;
    change.Document("$set", fields).Document("$inc", one);
    mongoc_collection_update_one(Collection(client).get(), filter.get(), change.get(), options.get(), nullptr, nullptr);
  }
}

void SessionGuard::EndOthers() {
  std::map<std::string, int64_t> renewals;
  std::map<std::string, client::BsonPtr> lsids;
  {
    const Client client = clients_.Acquire();
    const Bson all;
    const client::CursorPtr cursor(
        mongoc_collection_find_with_opts(Collection(client).get(), all.get(), nullptr, nullptr));
    const bson_t* document = nullptr;
    while (mongoc_cursor_next(cursor.get(), &document)) {
      bson_iter_t lsid;
      if (!bson_iter_init_find(&lsid, document, "lsid")) continue;
      const std::string id(client::TextOf(document, "_id"));
      renewals.emplace(id, client::IntegerOf(document, "renewals"));
      Bson list;
      bson_append_iter(list.get(), "0", -1, &lsid);
      lsids[id].reset(bson_copy(list.get()));
    }
  }
  for (const std::string& id : watch_.Abandoned(renewals, clock_.Now())) EndOne(id, lsids[id].get(), renewals[id]);
}

// `lsids`: an array of one.
void SessionGuard::EndOne(const std::string& id, const bson_t* lsids, int64_t renewals) {
  Bson command;
  bson_append_array(command.get(), "killSessions", -1, lsids);
  const Client client = clients_.Acquire();
  const auto reply = client::RunCommand(client.get(), "admin", command.get());
  if (!reply.ok()) {
    log::warn("session {} of a process that is gone cannot be ended: {}", id, reply.error().ToString());
    return;
  }
  Bson filter;  // one that was renewed just now stays
  filter.Text("_id", id).Integer("renewals", renewals);
  mongoc_collection_delete_one(Collection(client).get(), filter.get(), nullptr, nullptr, nullptr);
}

}  // namespace braid::settlement::migration
