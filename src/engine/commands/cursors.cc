#include "engine/commands/cursors.h"

#include "base/assert.h"
#include "base/mutex.h"
#include "base/strings.h"

namespace braid::commands {

Status Cursors::CheckRoom() {
  const MutexLock lock(mu_);
  return Charge(slots_.size() + 1);
}

int64_t Cursors::Add(std::unique_ptr<OpenCursor> cursor) {
  BRAID_ASSERT(cursor->id == 0);  // it is registered once
  cursor->last_use_millis = clock_.NowMillis();
  const MutexLock lock(mu_);
  int64_t id;
  do {
    id = static_cast<int64_t>(random_.Next() >> 1);  // positive, and hard to guess
  } while (id == 0 || slots_.contains(id));
  cursor->id = id;
  Slot slot{nullptr, cursor->ns, cursor->lsid, cursor->txn_number, cursor->connection};
  slot.idle = std::move(cursor);
  slots_.emplace(id, std::move(slot));
  return id;
}

Result<std::unique_ptr<OpenCursor>> Cursors::Take(int64_t id) {
  const MutexLock lock(mu_);
  const auto it = slots_.find(id);
  if (it == slots_.end()) return Status(Code::kCursorNotFound, StrCat("cursor id ", id, " not found"));
  if (it->second.idle == nullptr) {
    return Status(Code::kCursorInUse, StrCat("cursor id ", id, " is already in use"));
  }
  BRAID_ASSERT(it->second.idle->id == id);
  return std::move(it->second.idle);
}

void Cursors::Return(std::unique_ptr<OpenCursor> cursor) {
  cursor->last_use_millis = clock_.NowMillis();
  std::unique_ptr<OpenCursor> killed;  // destroyed after the lock is released
  const MutexLock lock(mu_);
  const auto it = slots_.find(cursor->id);
  if (it == slots_.end() || it->second.killed) {
    killed = std::move(cursor);
    if (it != slots_.end()) slots_.erase(it);
    Charge(slots_.size()).Ignore("not more than before");
    return;
  }
  BRAID_ASSERT(it->second.idle == nullptr);  // it was checked out until now
  it->second.idle = std::move(cursor);
}

void Cursors::Forget(int64_t id) {
  const MutexLock lock(mu_);
  slots_.erase(id);
  Charge(slots_.size()).Ignore("not more than before");
}

Cursors::KillOutcome Cursors::Kill(int64_t id, const catalog::Namespace& ns) {
  std::unique_ptr<OpenCursor> killed;
  const MutexLock lock(mu_);
  const auto it = slots_.find(id);
  if (it == slots_.end() || it->second.killed || it->second.ns.database != ns.database) return KillOutcome::kNotFound;
  if (it->second.idle == nullptr) {
    it->second.killed = true;
  } else {
    killed = std::move(it->second.idle);
    slots_.erase(it);
    Charge(slots_.size()).Ignore("not more than before");
  }
  return KillOutcome::kKilled;
}

void Cursors::KillIf(const std::function<bool(const Slot&)>& condition) {
  std::vector<std::unique_ptr<OpenCursor>> killed;
  const MutexLock lock(mu_);
  for (auto it = slots_.begin(); it != slots_.end();) {
    Slot& slot = it->second;
    if (!condition(slot)) {
      ++it;
    } else if (slot.idle == nullptr) {
      slot.killed = true;
      ++it;
    } else {
      killed.push_back(std::move(slot.idle));
      it = slots_.erase(it);
    }
  }
  Charge(slots_.size()).Ignore("not more than before");
}

void Cursors::KillTransaction(std::string_view lsid, int64_t txn_number) {
  KillIf([&](const Slot& slot) { return slot.txn_number == txn_number && slot.lsid == lsid; });
}

void Cursors::KillSession(std::string_view lsid) {
  KillIf([&](const Slot& slot) { return slot.lsid == lsid; });
}

void Cursors::KillConnection(int64_t connection) {
  KillIf([&](const Slot& slot) { return slot.connection == connection; });
}

void Cursors::NoteClosed(int64_t connection) {
  const int64_t now = clock_.NowMillis();
  const MutexLock lock(mu_);
  for (auto& [id, slot] : slots_) {
    if (slot.idle != nullptr && slot.idle->used_by == connection) slot.idle->closed_millis = now;
  }
}

void Cursors::KillNamespace(const catalog::Namespace& ns) {
  KillIf([&](const Slot& slot) {
    return slot.ns.database == ns.database && (ns.collection.empty() || slot.ns.collection == ns.collection);
  });
}

void Cursors::KillAll() {
  KillIf([](const Slot&) { return true; });
}

size_t Cursors::Expire() {
  const int64_t now = clock_.NowMillis();
  const auto is_idle_too_long = [now](const OpenCursor& cursor) {
    const bool is_closed = cursor.closed_millis != 0;
    return cursor.last_use_millis < now - kCursorTimeoutMillis ||
           (is_closed && cursor.closed_millis < now - kClosedCursorTimeoutMillis);
  };
  size_t expired = 0;
  KillIf([&](const Slot& slot) {
    const bool over = slot.idle != nullptr && !slot.idle->no_timeout && is_idle_too_long(*slot.idle);
    expired += over ? 1 : 0;
    return over;
  });
  const MutexLock lock(mu_);
  timed_out_ += expired;
  return expired;
}

Cursors::Figures Cursors::figures() const {
  const MutexLock lock(mu_);
  Figures figures{slots_.size(), 0, timed_out_};
  for (const auto& [id, slot] : slots_) {
    if (slot.idle != nullptr && slot.idle->no_timeout) ++figures.no_timeout;
  }
  return figures;
}

void Cursors::ForEach(const std::function<void(const OpenCursor&)>& visit_idle) const {
  const MutexLock lock(mu_);
  for (const auto& [id, slot] : slots_) {
    if (slot.idle != nullptr) visit_idle(*slot.idle);
  }
}

}  // namespace braid::commands
