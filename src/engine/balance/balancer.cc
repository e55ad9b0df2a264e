#include "engine/balance/balancer.h"

#include <chrono>
#include <ctime>
#include <set>

#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "engine/balance/changelog.h"
#include "engine/balance/policy.h"
#include "engine/bson/json.h"
#include "engine/txn/records.h"

namespace braid::balance {
namespace {

using catalog::CollectionPtr;
using storage::ShardNumber;

constexpr auto kEvery = std::chrono::seconds(1);
constexpr int kTransfersMax = 10'000;

/// The settings document of config; empty if there is none.
Result<bson::Document> ReadSettings(txn::Shared& shared, std::string_view id) {
  const CollectionPtr settings = shared.catalog.Find("config", "settings");
  if (settings == nullptr) return bson::Document();
  const bson::Document wanted = bson::Make("_id", id);
  storage::Buffer buffer;
  for (const ShardNumber shard : settings->placement->Shards()) {
    const std::string key = txn::DocumentKey(*settings, shard, wanted.Find("_id"));
    BRAID_TRY(const bool found, shared.store.Get(key, {}, &buffer));
    if (found) return bson::Document(bson::View(buffer.view()));
  }
  return bson::Document();
}

/// "6:30" as minutes of the day; -1 if it is none.
int MinutesOf(const bson::Value& text) {
  int hours = 0;
  int minutes = 0;
  if (!text.Is(bson::Type::kString)) return -1;
  if (std::sscanf(std::string(text.AsString()).c_str(), "%d:%d", &hours, &minutes) != 2) return -1;
  return hours * 60 + minutes;
}

bool InWindow(bson::View window, int64_t now_millis) {
  const int start = MinutesOf(window.Find("start"));
  const int stop = MinutesOf(window.Find("stop"));
  if (start < 0 || stop < 0 || start == stop) return true;
  const int now = static_cast<int>(now_millis / 60'000 % (24 * 60));
  return start < stop ? now >= start && now < stop : now >= start || now < stop;
}

/// How a collection is spread over the shards, and when that is uneven.
struct Spread {
  std::vector<Load> loads;
  Tolerance tolerance;
  bool by_width = false;
};

Result<Spread> SpreadOf(txn::Shared& shared, const catalog::Collection& collection) {
  Spread spread;
  const catalog::Cluster cluster = shared.catalog.cluster();
  const int64_t documents = collection.state->documents.load();
  spread.by_width = documents < kDocumentsToTell && collection.placement->key.starts_hashed();
  double total = 0;
  size_t usable = 0;
  for (const catalog::Shard& shard : cluster.shards) {
    Load load{.shard = shard.number, .draining = shard.draining};
    if (spread.by_width) {
      load.amount = WidthOf(*collection.placement, shard.number);
    } else {
      BRAID_TRY(const int64_t count, shared.store.ReadCounter(storage::CountKey(collection.number, shard.number), {}));
      load.amount = static_cast<double>(count);
    }
    total += load.amount;
    usable += shard.draining ? 0 : 1;
    spread.loads.push_back(load);
  }
  const double mean = usable == 0 ? 0 : total / static_cast<double>(usable);
  spread.tolerance = spread.by_width ? Tolerance{0.1 * mean, 0.01 * mean}
                                     : Tolerance{std::max(0.1 * mean, 64.0), std::max(0.01 * mean, 16.0)};
  return spread;
}

/// What is to be moved for a transfer; nothing if the shard has nothing that can be cut off.
Result<std::optional<KeyBoundsOfMove>> PickFor(txn::Context& context, const catalog::Collection& collection,
                                               const Spread& spread, const Transfer& transfer) {
  if (spread.by_width) return PickByWidth(*collection.placement, transfer.from, transfer.amount);
  BRAID_TRY(auto picked, PickByDocuments(context, collection, transfer.from, static_cast<uint64_t>(transfer.amount)));
  if (!picked) return std::optional<KeyBoundsOfMove>();
  return std::optional<KeyBoundsOfMove>(std::move(picked->range));
}

/// The two rows that a MongoDB cluster writes: sh.status() counts the second.
void NoteMove(txn::Context& context, const catalog::Collection& before, const KeyBoundsOfMove& range,
              const std::string& to, uint64_t documents) {
  const auto begin = before.placement->key.Encode(range.min);
  const ShardNumber from = before.placement->ChunkOf(begin.ok() ? *begin : std::string()).shard;
  bson::Builder details;
  details.Append("min", range.min).Append("max", range.max);
  details.Append("from", context.shared().catalog.cluster().NameOf(from)).Append("to", to);
  details.OpenObject("counts").Append("cloned", documents).Close();
  NoteChange(context, "moveChunk.commit", before.ns.ToString(), bson::Builder(details).Finish());
  NoteChange(context, "moveChunk.from", before.ns.ToString(), details.Append("note", "success").Finish());
}

/// A whole chunk of a shard that is being drained, and the shard with the fewest documents to take it.
std::optional<std::pair<KeyBoundsOfMove, ShardNumber>> DrainStep(const catalog::Cluster& cluster,
                                                                 const sharding::Placement& placement,
                                                                 const Spread& spread) {
  const Load* least = nullptr;
  for (const Load& load : spread.loads) {
    if (!load.draining && (least == nullptr || load.amount < least->amount)) least = &load;
  }
  if (least == nullptr) return std::nullopt;
  for (size_t i = 0; i < placement.chunks.size(); ++i) {
    const sharding::Chunk& chunk = placement.chunks[i];
    const catalog::Shard* shard = cluster.Find(chunk.shard);
    if (chunk.from || (shard != nullptr && !shard->draining)) continue;
    return std::pair(KeyBoundsOfMove{chunk.min, placement.MaxOf(i)}, least->shard);
  }
  return std::nullopt;
}

}  // namespace

Balancer::Balancer(txn::Shared& shared) : shared_(shared), watch_(shared), thread_([this] { Loop(); }) {}

Balancer::~Balancer() {
  {
    const MutexLock lock(mu_);
    stop_ = true;
    if (running_ != nullptr) {
      running_->killed = static_cast<int>(Code::kInterruptedAtShutdown);
      running_->Wake();
    }
  }
  wake_.NotifyAll();
  thread_.join();
}

void Balancer::Wake() {
  const MutexLock lock(mu_);
  woken_ = true;
  wake_.NotifyAll();
}

void Balancer::Loop() {
  MutexLock lock(mu_);
  while (!stop_) {
    wake_.WaitFor(lock, kEvery, [this]() BRAID_REQUIRES(mu_) { return stop_ || woken_; });
    woken_ = false;
    if (stop_) return;
    lock.Unlock();
    const auto moved = Round();
    if (!moved.ok() && moved.error().code() != Code::kInterruptedAtShutdown) {
      log::warn("balancer: {}", moved.error().ToString());
    }
    watch_.Look();
    lock.Lock();
  }
}

Result<bool> Balancer::enabled() {
  BRAID_TRY(const bson::Document settings, ReadSettings(shared_, "balancer"));
  const bson::Value stopped = settings.Find("stopped");
  if (stopped.Is(bson::Type::kBool) && stopped.AsBool()) return false;
  const bson::Value mode = settings.Find("mode");
  if (mode.Is(bson::Type::kString) && mode.AsString() == "off") return false;
  const bson::Value window = settings.Find("activeWindow");
  return !window.Is(bson::Type::kObject) || InWindow(window.AsView(), shared_.clock.NowMillis());
}

Result<uint64_t> Balancer::Round() {
  txn::Operations::Handle operation =
      shared_.operations.Start([](txn::Operation& started) { started.name = "balancer"; });
  const auto run = [this](txn::Operation* running) {
    const MutexLock lock(mu_);
    running_ = running;
  };
  run(&*operation);
  Result<uint64_t> moved = RoundWith(*operation);
  run(nullptr);
  return moved;
}

Result<uint64_t> Balancer::RoundWith(txn::Operation& operation) {
  BRAID_TRY(const bool on, enabled());
  in_round_ = true;
  uint64_t moved = 0;
  Status problem;
  for (const CollectionPtr& collection : shared_.catalog.All()) {
    txn::Context context(shared_, operation);
    const Status status = RoundOf(context, collection, on, &moved);
    if (status.code() == Code::kInterruptedAtShutdown) problem = status;
    if (!problem.ok()) break;
    if (!status.ok()) log::warn("balancer: {}: {}", collection->ns.ToString(), status.ToString());
  }
  in_round_ = false;
  ++rounds_;
  if (!problem.ok()) return problem;
  if (moved > 0) {
    txn::Context context(shared_, operation);
    NoteRound(context, bson::Make("errorOccured", false, "documentsMoved", moved));
  }
  return moved;
}

Status Balancer::RoundOf(txn::Context& context, const CollectionPtr& collection, bool enabled, uint64_t* moved) {
  if (collection->placement->is_moving()) {
    const std::optional<Gate::Pass> one = moving_.TryClose();
    if (!one) return {};  // another move is under way
    BRAID_TRY(const uint64_t more, ContinueMoves(context, collection->ns, collection->number));
    documents_moved_ += more;
    *moved += more;
  }
  if (!enabled || !collection->sharded() || collection->placement->no_balance) return {};
  return Balance(context, collection->ns, collection->number, moved);
}

Status Balancer::Balance(txn::Context& context, const catalog::Namespace& ns, uint32_t number, uint64_t* moved) {
  bool under_way = false;
  std::set<ShardNumber> stuck;
  for (int step = 0; step < kTransfersMax; ++step) {
    BRAID_CHECK_OK(context.Check());
    const CollectionPtr collection = shared_.catalog.Find(ns);
    if (collection == nullptr || collection->number != number || collection->placement->no_balance) return {};
    BRAID_TRY(Spread spread, SpreadOf(shared_, *collection));
    std::optional<KeyBoundsOfMove> range;
    ShardNumber to = 0;
    if (auto drain = DrainStep(shared_.catalog.cluster(), *collection->placement, spread)) {
      range = std::move(drain->first);
      to = drain->second;
    } else {
      for (Load& load : spread.loads) load.stuck = stuck.contains(load.shard);
      const auto transfer = NextTransfer(spread.loads, spread.tolerance, &under_way);
      if (!transfer) return {};
      BRAID_TRY(range, PickFor(context, *collection, spread, *transfer));
      if (!range) stuck.insert(transfer->from);
      to = transfer->to;
    }
    if (!range) continue;
    BRAID_TRY(const uint64_t documents, Move(context, ns, number, *range, to));
    *moved += documents;
  }
  return {};
}

Result<uint64_t> Balancer::Move(txn::Context& context, const catalog::Namespace& ns, uint32_t number,
                                const KeyBoundsOfMove& range, ShardNumber to) {
  BRAID_TRY(const Gate::Pass one, moving_.Close(context.operation()));
  const CollectionPtr before = shared_.catalog.Find(ns);
  BRAID_TRY(const uint64_t documents, MoveRange(context, ns, number, range, to));
  documents_moved_ += documents;
  const std::string to_name = shared_.catalog.cluster().NameOf(to);
  log::info("{}: {} documents from {} on moved to {}", ns.ToString(), documents, bson::ToShell(range.min), to_name);
  if (before != nullptr && before->sharded()) NoteMove(context, *before, range, to_name, documents);
  return documents;
}

}  // namespace braid::balance
