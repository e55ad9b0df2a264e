// Verify(): epoch by epoch, a few per transaction, so that it can run as long as it takes. If epochs that were looked
// at are popped meanwhile, it goes back to the newest one that is still there.
#include "patterns/timeline/verify.h"

#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::timeline {
namespace {

using client::Bson;

constexpr int64_t kRecordsPerStepMax = 200;  // epochs of one transaction

bool SameRecord(const EpochState& a, const EpochState& b) { return a.hash == b.hash && a.digest == b.digest; }

std::string IdText(const bson_t& document) {
  Bson only_id;
  bson_iter_t id;
  if (bson_iter_init_find(&id, &document, "_id")) bson_append_iter(only_id.get(), "_id", -1, &id);
  char* json = bson_as_relaxed_extended_json(only_id.get(), nullptr);
  std::string text = json;
  bson_free(json);
  return text;
}

}  // namespace

Result<Timeline::Verification> Verifier::Run(const std::function<void(int64_t)>& progress) {
  const TransactionOptions how{.database = options_.database, .stop = options_.stop};
  while (true) {
    BRAID_CHECK_OK(CheckStop(options_));
    Step step;
    BRAID_CHECK_OK(RunTransaction(clients_, how, [&](Transaction& transaction) {
      step = Step();
      return TakeStep(transaction, step);
    }));
    const bool at_tip = step.at_tip;
    Keep(std::move(step));
    if (progress != nullptr) progress(found_.epochs);
    if (at_tip) break;
  }
  for (const std::string& collection : options_.collections) BRAID_CHECK_OK(FindUnmarked(collection));
  return std::move(found_);
}

Status Verifier::TakeStep(Transaction& transaction, Step& step) const {
  BRAID_TRY(step.head, ReadHead(transaction, options_));
  BRAID_TRY(step.surviving, Surviving(transaction));
  const Passed* before = step.surviving > 0 ? &passed_[step.surviving - 1] : nullptr;
  const int64_t first = before != nullptr ? before->number + 1 : step.head.first;
  const int64_t tip = step.head.tip.number;
  step.at_tip = step.head.tip.empty() || first > tip;
  if (step.at_tip) return FindStrays(transaction, step);
  BRAID_TRY(std::vector<EpochState> records, NextRecords(transaction, first, tip));
  const int64_t last = first + static_cast<int64_t>(records.size()) - 1;
  BRAID_TRY(DocumentsOf documents, LoadDocuments(transaction, first, last));
  step.passed.reserve(records.size());
  for (int64_t number = first; number <= last; ++number) {
    EpochState& record = records[static_cast<size_t>(number - first)];
    BRAID_TRY(Passed passed, Look(transaction, before, std::move(record), number, documents));
    documents.erase(number);
    before = &step.passed.emplace_back(std::move(passed));
  }
  return {};
}

// How many of passed_ are still in the chain. A record of another hash or digest means that they were popped.
Result<size_t> Verifier::Surviving(Transaction& transaction) const {
  if (passed_.empty()) return size_t{0};
  BRAID_TRY(const EpochState newest, ReadRecord(transaction, options_, passed_.back().number));
  if (SameRecord(newest, passed_.back().stored)) return passed_.size();
  std::map<int64_t, EpochState> records;
  BRAID_CHECK_OK(timeline_.ForEachEpochDown(transaction, passed_.back().number, static_cast<int64_t>(passed_.size()),
                                            [&](const EpochState& record) {
                                              records[record.number] = record;
                                              return Status();
                                            }));
  size_t surviving = passed_.size();
  while (surviving > 0 && !SameRecord(records[passed_[surviving - 1].number], passed_[surviving - 1].stored))
    --surviving;
  return surviving;
}

// The records from `first` on, as many as have documents for one transaction; an empty state where one is missing.
Result<std::vector<EpochState>> Verifier::NextRecords(Transaction& transaction, int64_t first, int64_t tip) const {
  const int64_t last = std::min(tip, first + kRecordsPerStepMax - 1);
  std::vector<EpochState> records(static_cast<size_t>(last - first + 1));
  Bson filter;
  AppendRange("_id", first, last, filter);
  BRAID_CHECK_OK(transaction.Find(EpochsOf(options_), filter.get(), [&](const bson_t& document) {
    EpochState record = StateOfRecord(document);
    const auto place = static_cast<size_t>(record.number - first);
    records[place] = std::move(record);
    return Status();
  }));
  int64_t documents = 0;
  size_t count = 0;
  while (count < records.size() && (count == 0 || documents < options_.transaction_documents_max)) {
    documents += records[count++].documents;
  }
  records.resize(count);
  return records;
}

Result<Verifier::DocumentsOf> Verifier::LoadDocuments(Transaction& transaction, int64_t first, int64_t last) const {
  Bson filter;
  AppendRange("epoch", first, last, filter);
  Bson by_epoch;
  by_epoch.Integer("epoch", 1);
  DocumentsOf documents;
  for (const std::string& collection : options_.collections) {
    const auto keep = [&](const bson_t& document) {
      documents[client::IntegerOf(&document, "epoch")][collection].emplace_back(&document);
      return Status();
    };
    BRAID_CHECK_OK(transaction.Find(collection, filter.get(), {.hint = by_epoch.get()}, keep));
  }
  return documents;
}

Result<Verifier::Passed> Verifier::Look(Transaction& transaction, const Passed* before, EpochState record,
                                        int64_t number, DocumentsOf& documents) const {
  static const EpochState kNothing{};
  Passed passed{.number = number, .stored = std::move(record)};
  const Timeline::OnDamage damage = [&](TimelineDamage one) {
    if (++passed.damage_count <= kDamageMax) passed.damage.push_back(std::move(one));
  };
  EpochDocuments loaded{.before = before != nullptr ? before->stored : kNothing, .state = passed.stored};
  for (const std::string& collection : options_.collections) {
    std::vector<Document>& own = loaded.documents[collection];
    own = std::move(documents[number][collection]);
    passed.documents += static_cast<int64_t>(own.size());
  }
  if (passed.stored.empty()) {
    damage({.epoch = number, .what = StrCat(EpochsOf(options_), " ", number, ": the record is missing")});
    return passed;
  }
  const bool has_before = before == nullptr || !before->stored.empty();
  const std::string_view computed_before = before != nullptr ? std::string_view(before->digest) : std::string_view();
  passed.digest = CheckDocuments(
      options_, {.has_before = has_before, .documents = loaded, .computed_before = computed_before}, damage);
  if (check_ != nullptr && has_before) BRAID_CHECK_OK(check_(transaction, loaded, damage));
  return passed;
}

// Drops what was popped, adds what was found, and forgets all but the newest of what can never be popped.
void Verifier::Keep(Step step) {
  while (passed_.size() > step.surviving) {
    Count(passed_.back(), -1);
    passed_.pop_back();
  }
  for (Passed& passed : step.passed) {
    Count(passed, 1);
    passed_.push_back(std::move(passed));
  }
  while (passed_.size() > 1 && passed_[1].number <= step.head.final_epoch) passed_.pop_front();
  for (TimelineDamage& damage : step.damage) Note(std::move(damage));
  found_.tip = std::move(step.head.tip);
  found_.digest = passed_.empty() ? "" : passed_.back().digest;
}

void Verifier::Count(const Passed& passed, int64_t sign) {
  found_.epochs += sign;
  found_.documents += sign * passed.documents;
  found_.damage_count += sign * passed.damage_count;
  if (sign < 0) {
    std::erase_if(found_.damage, [&](const TimelineDamage& damage) { return damage.epoch == passed.number; });
    return;
  }
  for (const TimelineDamage& damage : passed.damage) {
    if (static_cast<int64_t>(found_.damage.size()) < kDamageMax) found_.damage.push_back(damage);
  }
}

void Verifier::Note(TimelineDamage damage) {
  ++found_.damage_count;
  if (static_cast<int64_t>(found_.damage.size()) < kDamageMax) found_.damage.push_back(std::move(damage));
}

// At the tip: the head must equal the last record, and the only documents outside the chain are those that the head
// explains.
Status Verifier::FindStrays(Transaction& transaction, Step& step) const {
  const Head& head = step.head;
  BRAID_TRY(const EpochState record, ReadRecord(transaction, options_, head.tip.number));
  if (!SameStates(record, head.tip)) {
    step.damage.push_back(
        {.what = StrCat(HeadsOf(options_), ": it differs from the record of epoch ", head.tip.number)});
  }
  const int64_t first = head.tip.empty() ? 0 : head.first;
  const int64_t open = head.growing ? head.growing->epoch : head.removing.value_or(-1);
  const auto find = [&](const std::string& collection, const char* field, int64_t least, int64_t most) {
    Bson filter;
    AppendRange(field, least, most, filter);
    Bson by_field;
    by_field.Integer(field, 1);
    const Transaction::FindOptions options{.limit = kDamageMax, .hint = by_field.get()};
    return transaction.Find(collection, filter.get(), options, [&](const bson_t& document) {
      const int64_t number = client::IntegerOf(&document, field);
      if (number == open && collection != EpochsOf(options_)) return Status();
      step.damage.push_back(
          {.epoch = number,
           .what = StrCat(collection, " ", IdText(document), ": it belongs to no epoch of the chain")});
      return Status();
    });
  };
  const auto find_both = [&](const std::string& collection, const char* field) -> Status {
    BRAID_CHECK_OK(find(collection, field, INT64_MIN, first - 1));
    return find(collection, field, head.tip.number + 1, INT64_MAX);
  };
  BRAID_CHECK_OK(find_both(EpochsOf(options_), "_id"));
  for (const std::string& collection : options_.collections) BRAID_CHECK_OK(find_both(collection, "epoch"));
  return {};
}

// Runs outside a transaction, because it reads the whole collection; such documents do not come and go with epochs.
Status Verifier::FindUnmarked(const std::string& collection) {
  Bson integer;
  integer.Text("$type", "long");
  Bson no_integer;
  no_integer.Document("$not", integer);
  Bson filter;
  filter.Document("epoch", no_integer);
  Bson only_id;
  only_id.Integer("_id", 1);
  Bson options;
  options.Document("projection", only_id).Integer("limit", kDamageMax);
  const Client client = clients_.Acquire();
  const client::CollectionPtr handle = client::CollectionOf(client.get(), options_.database, collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), filter.get(), options.get(), nullptr));
  const bson_t* document = nullptr;
  while (mongoc_cursor_next(cursor.get(), &document)) {
    Note({.what = StrCat(collection, " ", IdText(*document), ": it has no epoch")});
  }
  bson_error_t error{};
  return mongoc_cursor_error(cursor.get(), &error) ? client::FromError(error) : Status();
}

}  // namespace braid::timeline

namespace braid {

Result<Timeline::Verification> Timeline::Verify(const CheckEpoch& check, const std::function<void(int64_t)>& progress) {
  return timeline::Verifier(clients_, *this, check).Run(progress);
}

}  // namespace braid
