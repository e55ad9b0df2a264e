// The advice for a collection, and its texts.
#include "cli/advise/advice.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/strings.h"
#include "cli/advise/rating.h"
#include "cli/advise/source.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

constexpr size_t kShapesShown = 8;
constexpr size_t kOthersShown = 5;

std::string ShardLimit(const Advice& advice) { return Percent(1 / static_cast<double>(advice.shards)); }

std::string FieldsOf(const ShardKey& key) {
  std::string text;
  for (size_t i = 0; i < key.fields().size(); ++i) {
    text += StrCat(i == 0 ? "" : i + 1 == key.fields().size() ? " and " : ", ", key.fields()[i].path);
  }
  return text;
}

void NoteArrays(const Rating& rating, std::vector<std::string>& notes) {
  if (rating.with_array == 0) return;
  notes.push_back(StrCat(rating.with_array, " of the documents have an array at ", FieldsOf(rating.key),
                         ": a server refuses to store them in a collection with this key."));
}

void NoteTopValue(const Advice& advice, const Rating& rating, std::vector<std::string>& notes) {
  const Distinct& distinct = rating.distinct;
  const double even = 1 / static_cast<double>(advice.shards);
  if (distinct.top_count < 2 || distinct.top_share < even / 4) return;
  const std::string share = Percent(distinct.top_share);
  std::string note;
  if (distinct.top_is_null) {
    note = StrCat(share, " of the documents have ", bson::ToShell(distinct.top_value),
                  " (null or missing); all of them will share one shard.");
  } else {
    note = StrCat(share, " of the documents have ", bson::ToShell(distinct.top_value),
                  "; one value is never divided, so they stay together on one shard.");
  }
  if (distinct.top_share > even) note += StrCat(" That is more than the ", ShardLimit(advice), " a shard should have.");
  if (distinct.top_is_null) note += " Shard by a field that every document has, or fill this one.";
  notes.push_back(std::move(note));
}

void NoteFewValues(const Advice& advice, const Rating& rating, std::vector<std::string>& notes) {
  const double wanted = kValuesPerShard * static_cast<double>(advice.shards);
  if (rating.distinct.values >= wanted || rating.distinct.values >= static_cast<double>(advice.total)) return;
  const bool hopeless = rating.distinct.values < 4 * static_cast<double>(advice.shards);
  notes.push_back(StrCat("only ", Quantity(std::round(rating.distinct.values)), " distinct value",
                         std::round(rating.distinct.values) == 1 ? "" : "s", " for ", advice.shards, " shards: ",
                         hopeless ? "they cannot be spread evenly, and more shards than values are of no use."
                                  : "enough for now, but little room to add shards."));
}

void NoteGrowth(const Advice& advice, const Rating& rating, std::vector<std::string>& notes) {
  const auto& growth = rating.evenness.growth;
  if (!growth) return;
  if (growth->monotonic) {
    notes.push_back(StrCat("the key ", growth->correlation > 0 ? "grows" : "falls", " with time (rank correlation ",
                           fmt::format("{:.2f}", growth->correlation), " with ",
                           advice.insertion_order == "file" ? "the order of the file" : advice.insertion_order,
                           "): every insert goes to the ", growth->correlation > 0 ? "last" : "first",
                           " chunk, so one shard takes all of them."));
  } else if (growth->newest_share * static_cast<double>(advice.shards) >= 1.5) {
    notes.push_back(StrCat(Percent(growth->newest_share),
                           " of the newest documents fall on one shard: the range of keys in use moves with time."));
  }
}

void NoteSkew(const Rating& rating, std::vector<std::string>& notes) {
  if (!notes.empty() || rating.evenness.max_over_mean < 1.5) return;
  notes.push_back(fmt::format("the fullest shard has {:.2f} times the mean.", rating.evenness.max_over_mean));
}

void NoteMoves(const Rating& rating, std::vector<std::string>& notes) {
  if (!rating.targeting) return;
  double weight = 0;
  for (const ShapeReach& shape : rating.targeting->shapes) weight += shape.changes_key ? shape.reach.sum() : 0;
  if (weight == 0) return;
  notes.push_back(StrCat(Quantity(weight), " of the updates change ", FieldsOf(rating.key),
                         ": each of them may move its document to another shard, in a transaction."));
}

void NoteUnique(const Advice& advice, const Rating& rating, std::vector<std::string>& notes) {
  for (const UniqueIndex& index : advice.unique_indexes) {
    const auto& fields = rating.key.fields();
    const bool has_key = !rating.key.HasHashed() && index.fields.size() >= fields.size() &&
                         std::equal(fields.begin(), fields.end(), index.fields.begin(),
                                    [](const ShardKey::Field& a, const std::string& b) { return a.path == b; });
    if (has_key) continue;
    notes.push_back(StrCat("the unique index ", index.name,
                           " does not start with this key: a MongoDB cluster refuses it, because no shard alone can "
                           "tell whether a value is unique."));
  }
}

std::string Why(const Advice& advice, const Rating& best) {
  const Distinct& distinct = best.distinct;
  std::string text = StrCat(
      "It has ", distinct.exact ? "" : "about ", Quantity(std::round(distinct.values)), " distinct values",
      distinct.top_count > 1 ? StrCat(", the most frequent in ", Percent(distinct.top_share), " of the documents")
                             : ", no two documents alike",
      "; on ", advice.shards, " shards the fullest has ", fmt::format("{:.2f}", best.evenness.max_over_mean),
      " times the mean");
  if (!best.targeting) return text + ". Which operations it targets is not known.";
  const Reach& reach = best.targeting->reach;
  text += StrCat("; ", Percent(reach.one / reach.sum()), " of the operations ask one shard");
  if (reach.few > 0) text += StrCat(", ", Percent(reach.few / reach.sum()), " some");
  if (reach.all > 0) text += StrCat(", ", Percent(reach.all / reach.sum()), " all");
  return text + ".";
}

std::string Cost(const Rating& best) {
  if (!best.targeting) return "";
  std::string text;
  size_t shown = 0;
  size_t more = 0;
  for (const ShapeReach& shape : best.targeting->shapes) {
    const double spread = shape.reach.all + shape.reach.few;
    if (spread == 0) continue;
    if (shown++ >= kShapesShown) {
      ++more;
      continue;
    }
    const std::string where =
        shape.reach.few == 0 ? "all shards" : fmt::format("{:.1f} shards on average", shape.shards);
    text += StrCat("\n  ", Quantity(spread), " × ", shape.shape, ": ", where);
  }
  if (text.empty()) return "What it costs: nothing in the observed operations; each of them asks one shard.";
  if (more > 0) text += StrCat("\n  and ", more, " more shapes");
  return StrCat("What it costs: these operations still ask several shards, and wait for the slowest of them:", text);
}

// Of the keys that start with the field: the best one of a single field, or the best of all.
const Rating& ForField(const Advice& advice, const std::string& path) {
  const Rating* best = nullptr;
  for (const Rating& rating : advice.ratings) {
    if (rating.key.fields()[0].path != path) continue;
    if (rating.key.fields().size() == 1) return rating;
    if (best == nullptr) best = &rating;
  }
  return *best;
}

std::string ReasonAgainst(const Advice& advice, const Rating& other) {
  const Rating& best = advice.ratings.front();
  const std::vector<std::string> notes = Notes(advice, other);
  const bool targets_less = other.targeting && other.targeting->score < best.targeting->score;
  if (!notes.empty() && (!targets_less || other.distinct.score * other.evenness.score <= 0.6)) return notes.front();
  if (!targets_less) return fmt::format("its score is {:.2f}.", other.score);
  return StrCat("only ", Percent(other.targeting->reach.one / other.targeting->reach.sum()),
                " of the operations would ask one shard.");
}

// One key for each other field, and why it is not the one.
std::string WhyNot(const Advice& advice) {
  std::string text;
  std::vector<std::string> seen = {advice.ratings.front().key.fields()[0].path};
  for (const Rating& rating : advice.ratings) {
    const std::string& path = rating.key.fields()[0].path;
    if (seen.size() > kOthersShown || std::find(seen.begin(), seen.end(), path) != seen.end()) continue;
    seen.push_back(path);
    const Rating& other = ForField(advice, path);
    text += StrCat("\n  ", other.key.ToText(), ": ", ReasonAgainst(advice, other));
  }
  return text.empty() ? "" : StrCat("Why not the others:", text);
}

}  // namespace

std::string Percent(double share) {
  const double percent = share * 100;
  return percent != 0 && std::abs(percent) < 1 ? fmt::format("{:.1f} %", percent) : fmt::format("{:.0f} %", percent);
}

std::string Quantity(double value) {
  const double rounded = std::round(value);
  if (std::abs(value - rounded) > 0.05 && value < 100) return fmt::format("{:.1f}", value);
  return fmt::format("{:.0f}", rounded);
}

std::vector<std::string> Notes(const Advice& advice, const Rating& rating) {
  std::vector<std::string> notes;
  NoteArrays(rating, notes);
  NoteGrowth(advice, rating, notes);
  NoteTopValue(advice, rating, notes);
  NoteFewValues(advice, rating, notes);
  NoteSkew(rating, notes);
  NoteMoves(rating, notes);
  NoteUnique(advice, rating, notes);
  return notes;
}

std::vector<std::string> Recommend(const Advice& advice) {
  const Rating& best = advice.ratings.front();
  std::vector<std::string> paragraphs;
  const auto add = [&](std::string text) {
    if (!text.empty()) paragraphs.push_back(std::move(text));
  };
  const std::string key = best.key.ToText();
  const std::string score = fmt::format("{:.2f}", best.score);
  if (best.score < 0.4) {
    add(StrCat("None of these keys is good. The least bad is ", key, " (score ", score,
               "). It is better to give the documents a field that the frequent operations know, that every document "
               "has and that has many values (such as an owner made of the user's or the session's id), and rate again "
               "with --candidate."));
  } else {
    add(StrCat("Shard ", advice.database, ".", advice.collection, " by ", key, " (score ", score, ", ",
               Verdict(best.score), ")."));
  }
  add(Why(advice, best));
  add(Cost(best));
  std::string traps;
  for (const std::string& note : Notes(advice, best)) traps += StrCat("\n  ", note);
  if (!best.key.fields()[0].hashed) {
    traps += "\n  a ranged key starts as one chunk on one shard and spreads only as it is divided and balanced.";
  }
  add(traps.empty() ? "" : StrCat("What to watch:", traps));
  add(WhyNot(advice));
  if (!best.targeting) {
    add("No operations were given, so the share of targeted operations, often what decides, is not in the scores: list "
        "them with --queries FILE, or record them on the running server with --record SECONDS.");
  }
  return paragraphs;
}

std::vector<std::string> Commands(const Advice& advice) {
  const std::string key = advice.ratings.front().key.ToText();
  const auto quoted = [](const std::string& text) { return bson::ToJson(bson::Make("", text).Find("")); };
  return {StrCat("db.getSiblingDB(", quoted(advice.database), ").getCollection(", quoted(advice.collection),
                 ").createIndex(", key, ")"),
          StrCat("sh.shardCollection(", quoted(StrCat(advice.database, ".", advice.collection)), ", ", key, ")")};
}

Result<Advice> AdviseCollection(Clients& clients, const Place& place, size_t sample, size_t shards,
                                const std::atomic<bool>& stop) {
  BRAID_TRY(const Sample documents, FetchSample(clients, place, sample, stop));
  if (documents.documents.empty()) {
    return Status(Code::kNamespaceNotFound,
                  StrCat("there are no documents in ", place.database, ".", place.collection, " to rate keys by"));
  }
  Advice advice{.database = place.database, .collection = place.collection, .shards = shards};
  advice.documents_from = "collection";
  advice.operations_from = "none";
  advice.sampled = documents.documents.size();
  advice.total = documents.total;
  BRAID_TRY(advice.unique_indexes, FetchUniqueIndexes(clients, place));
  std::vector<Operation> operations;
  // A server that does not record operations is not an error.
  if (auto recorded = FetchOperations(clients, place); recorded.ok()) operations = *std::move(recorded);
  if (!operations.empty()) advice.operations_from = "server";
  advice.operations = operations.size();
  const auto workload = Workload::Of(std::move(operations));
  advice.weight = workload.weight();
  const auto order = FindInsertionOrder(documents);
  if (order) advice.insertion_order = order->by;
  const std::vector<ShardKey> keys = FindCandidates(documents, workload, shards);
  advice.ratings = RateAll(documents, order ? &*order : nullptr, workload, keys, shards);
  return advice;
}

}  // namespace braid::advise
