#include "http/api.h"

#include <vector>

#include "base/log.h"
#include "base/mutex.h"
#include "base/strings.h"
#include "client/handles.h"
#include "services/explorer/collections.h"
#include "services/shop/collections.h"

namespace braid::http {
namespace {

// The longest time until a layout change by another process is noticed.
constexpr std::chrono::milliseconds kReopen{1000};
// It reads no layout that another process could change, and its threads should not be restarted repeatedly.
constexpr std::chrono::hours kForever{24 * 365 * 100};
constexpr size_t kIdleIngestorsMax = 4;
// The most events that may be missing in the rankings, which are correct without them but slower to read.
constexpr uint64_t kUnrankedMax = 1000;

}  // namespace

/// An ingestor, and the upload that it works for.
struct Api::Ingest::Slot {
  std::unique_ptr<staking::Ingestor> ingestor;
  std::vector<Kept>* kept = nullptr;  // of the upload
  uint64_t unranked = 0;
};

struct Api::IdleIngestors {
  Mutex mu;
  std::vector<std::unique_ptr<Ingest::Slot>> slots BRAID_GUARDED_BY(mu);
};

Api::Api(Clients& clients, std::function<Server::Figures()> connections, Advise advise)
    : clients_(clients),
      connections_(std::move(connections)),
      advise_(std::move(advise)),
      staking_tables_(kReopen, [this] { return staking::Tables::OpenToRead(clients_, {}); }),
      explorer_(kReopen,
                [this]() -> Result<std::unique_ptr<explorer::Explorer>> {
                  const explorer::ExplorerOptions options{.stop = &stop_};
                  BRAID_CHECK_OK(ExpectCollection(options.database, explorer::kBlocks,
                                                  "take one in with `braid explorer import` or `braid explorer sync`"));
                  return explorer::Explorer::Open(clients_, options);
                }),
      settlement_log_(kReopen,
                      [this]() -> Result<std::unique_ptr<Chains>> {
                        ChainsOptions options = settlement::Options().ToChains();
                        options.create = false;
                        auto opened = Chains::Open(clients_, options);
                        if (opened.ok() || opened.error().code() != Code::kNamespaceNotFound) return opened;
                        return Status(Code::kNamespaceNotFound,
                                      StrCat(opened.error().message(), "; POST /v1/outputs makes it"));
                      }),
      settlement_figures_([this]() -> Result<ChainFigures> {
        BRAID_TRY(const std::shared_ptr<Chains> log, SettlementLog());
        BRAID_TRY(const std::vector<ChainHead> heads, log->Heads());
        ChainFigures figures{.chains = static_cast<int64_t>(heads.size())};
        for (const ChainHead& head : heads) {
          figures.records += head.records;
          figures.halted += head.halted.empty() ? 0 : 1;
        }
        return figures;
      }),
      settlement_(kForever, [this] { return settlement::Settlement::Open(clients_, {}); }),
      shop_(kReopen, [this] { return shop::Shop::Open(clients_, {.stop = &stop_}); }),
      existing_shop_(kReopen,
                     [this]() -> Result<std::unique_ptr<shop::Shop>> {
                       const shop::ShopOptions options{.stop = &stop_};
                       BRAID_CHECK_OK(ExpectCollection(options.database, shop::kOrders,
                                                       "make a product, or import orders with `braid shop import`"));
                       return shop::Shop::Open(clients_, options);
                     }),
      idle_ingestors_(std::make_shared<IdleIngestors>()),
      sampler_(*this),
      live_({}, [this] { return sampler_.Sample(); }) {}
Api::~Api() = default;

Status Api::ExpectCollection(const std::string& database, const char* collection, std::string_view advice) {
  const Client client = clients_.Acquire();
  const client::DatabasePtr handle(mongoc_client_get_database(client.get(), database.c_str()));
  bson_error_t error{};
  if (mongoc_database_has_collection(handle.get(), collection, &error)) return {};
  if (error.code != 0) return client::FromError(error);
  return Status(Code::kNamespaceNotFound,
                StrCat("the store has no collection ", database, ".", collection, ": ", advice));
}

// Opening an ingestor takes a logical shard of the counters, so idle ones are kept for the next upload.
Result<std::unique_ptr<Api::Ingest>> Api::OpenIngest() {
  std::unique_ptr<Ingest::Slot> slot;
  {
    const MutexLock lock(idle_ingestors_->mu);
    if (!idle_ingestors_->slots.empty()) {
      slot = std::move(idle_ingestors_->slots.back());
      idle_ingestors_->slots.pop_back();
    }
  }
  if (slot == nullptr) {
    slot = std::make_unique<Ingest::Slot>();
    staking::IngestOptions options{.workers = 1, .stop = &stop_};
    options.on_kept = [owner = slot.get()](const staking::BadMessage& message) {
      if (owner->kept->size() < Ingest::kKeptMax) {
        owner->kept->push_back({.line = message.line, .reason = message.reason});
      }
    };
    BRAID_TRY(slot->ingestor, staking::Ingestor::Open(clients_, options));
  }
  return std::unique_ptr<Ingest>(new Ingest(idle_ingestors_, std::move(slot)));
}

Api::Ingest::Ingest(std::shared_ptr<IdleIngestors> idle, std::unique_ptr<Slot> slot)
    : idle_(std::move(idle)), slot_(std::move(slot)) {
  slot_->kept = &kept_;
}

Status Api::Ingest::Apply(std::span<const std::string_view> lines, std::span<const uint64_t> numbers) {
  if (lines.empty()) return {};
  BRAID_TRY(const staking::Outcome outcome, slot_->ingestor->Apply(lines, {.file = {}, .numbers = numbers}));
  outcome_ += outcome;
  slot_->unranked += outcome.accepted;
  if (slot_->unranked < kUnrankedMax) return {};
  slot_->unranked = 0;
  return slot_->ingestor->UpdateRankings();
}

Api::Ingest::~Ingest() {
  slot_->kept = nullptr;
  const MutexLock lock(idle_->mu);
  if (idle_->slots.size() < kIdleIngestorsMax) idle_->slots.push_back(std::move(slot_));
}

}  // namespace braid::http
