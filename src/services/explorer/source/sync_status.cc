#include "services/explorer/source/sync_status.h"

#include <fmt/format.h>

#include <cmath>

#include "client/fields.h"
#include "services/explorer/json.h"

namespace braid::explorer::source {
namespace {

constexpr char kSyncId[] = "sync";
constexpr std::chrono::seconds kRateWindow{10};
constexpr std::chrono::milliseconds kSampleSpacing{200};

}  // namespace

std::optional<int64_t> SyncFigures::seconds_left() const {
  if (lag() == 0 || epochs_per_second <= 0) return std::nullopt;
  return static_cast<int64_t>(std::ceil(static_cast<double>(lag()) / epochs_per_second));
}

void SyncMeter::Measure(std::chrono::steady_clock::time_point now) {
  if (samples_.empty() || now - samples_.back().time >= kSampleSpacing) {
    samples_.push_back({.time = now, .epochs = figures.grown, .transactions = figures.transactions});
  }
  while (samples_.size() > 2 && now - samples_[1].time >= kRateWindow) samples_.pop_front();
  const Sample& first = samples_.front();
  const double seconds = std::chrono::duration<double>(now - first.time).count();
  if (seconds <= 0) return;
  figures.epochs_per_second = static_cast<double>(figures.grown - first.epochs) / seconds;
  figures.transactions_per_second = static_cast<double>(figures.transactions - first.transactions) / seconds;
}

std::string DescribeSync(const SyncFigures& figures) {
  std::string text = fmt::format("epoch {} of {}", figures.tip.epoch, figures.node_epoch);
  if (figures.state == "following") {
    text += fmt::format(", following, lag {}", figures.lag());
  } else {
    text += fmt::format(", {:.1f} epochs/s, {:.0f} transactions/s", figures.epochs_per_second,
                        figures.transactions_per_second);
    if (const auto left = figures.seconds_left()) text += fmt::format(", {} s left", *left);
  }
  if (figures.switches > 0) text += fmt::format(", {} pivot switches", figures.switches);
  if (!figures.error.empty()) text += fmt::format("; {}", figures.error);
  return text;
}

void AppendSyncFigures(const SyncFigures& figures, client::Bson& document) {
  document.Text("node", figures.node).Text("state", figures.state).Integer("nodeEpoch", figures.node_epoch);
  document.Integer("lag", figures.lag())
      .Double("epochsPerSecond", figures.epochs_per_second)
      .Double("transactionsPerSecond", figures.transactions_per_second);
  if (const auto left = figures.seconds_left()) {
    document.Integer("secondsLeft", *left);
  } else {
    BSON_APPEND_NULL(document.get(), "secondsLeft");
  }
  document.Integer("grown", figures.grown)
      .Integer("popped", figures.popped)
      .Integer("switches", figures.switches)
      .Integer("deepest", figures.deepest)
      .Integer("transactions", figures.transactions)
      .Integer("retries", figures.retries)
      .Integer("inconsistent", figures.inconsistent);
}

void AppendStatus(const At& tip, const std::optional<SyncFigures>& sync, double age, client::Bson& document) {
  if (sync) {
    client::Bson figures;
    AppendSyncFigures(*sync, figures);
    AppendOptional("error", sync->error, figures);
    figures.Integer("updated", sync->updated_ms).Double("age", age);
    document.Integer("lag", sync->lag())
        .Double("epochsPerSecond", sync->epochs_per_second)
        .Double("transactionsPerSecond", sync->transactions_per_second)
        .Document("sync", figures);
  } else {
    for (const char* name : {"lag", "epochsPerSecond", "transactionsPerSecond", "sync"}) {
      BSON_APPEND_NULL(document.get(), name);
    }
  }
  AppendAt(tip, document);
}

Status StoreSyncFigures(Clients& clients, const std::string& database, const SyncFigures& figures) {
  const Client client = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(client.get(), database, kSyncStatus);
  client::Bson filter, document, options;
  filter.Text("_id", kSyncId);
  document.Text("_id", kSyncId).Integer("epoch", figures.tip.epoch).Text("pivot", figures.tip.pivot);
  AppendSyncFigures(figures, document);
  document.Text("error", figures.error).Date("updated", figures.updated_ms);
  options.Bool("upsert", true);
  bson_error_t error;
  const bool stored =
      mongoc_collection_replace_one(collection.get(), filter.get(), document.get(), options.get(), nullptr, &error);
  return stored ? Status() : client::FromError(error);
}

Result<std::optional<SyncFigures>> LoadSyncFigures(Clients& clients, const std::string& database) {
  const Client client = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(client.get(), database, kSyncStatus);
  client::Bson filter;
  filter.Text("_id", kSyncId);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), filter.get(), nullptr, nullptr));
  const bson_t* document = nullptr;
  if (!mongoc_cursor_next(cursor.get(), &document)) {
    bson_error_t error;
    if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
    return std::optional<SyncFigures>();
  }
  const auto number = [&](const char* name) { return client::IntegerOf(document, name); };
  const auto text = [&](const char* name) { return std::string(client::TextOf(document, name)); };
  const auto real = [&](const char* name) {
    bson_iter_t field;
    return bson_iter_init_find(&field, document, name) ? bson_iter_as_double(&field) : 0.0;
  };
  return std::optional(SyncFigures{.node = text("node"),
                                   .state = text("state"),
                                   .error = text("error"),
                                   .tip = {.epoch = number("epoch"), .pivot = text("pivot")},
                                   .node_epoch = number("nodeEpoch"),
                                   .grown = number("grown"),
                                   .popped = number("popped"),
                                   .switches = number("switches"),
                                   .deepest = number("deepest"),
                                   .transactions = number("transactions"),
                                   .retries = number("retries"),
                                   .inconsistent = number("inconsistent"),
                                   .epochs_per_second = real("epochsPerSecond"),
                                   .transactions_per_second = real("transactionsPerSecond"),
                                   .updated_ms = client::DateOf(document, "updated").value_or(0)});
}

}  // namespace braid::explorer::source
