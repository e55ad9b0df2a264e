#include "patterns/timeline/state.h"

#include <deque>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid {
namespace timeline {
namespace {

using client::Bson;
using client::IntegerOf;
using client::TextOf;

// Calls `each` with the iterator of every field of the sub-document at `path`.
template <typename Each>
void ForEachField(const bson_t& document, const char* path, const Each& each) {
  bson_iter_t field;
  if (!bson_iter_init_find(&field, &document, path) || !BSON_ITER_HOLDS_DOCUMENT(&field)) return;
  bson_iter_t inner;
  if (!bson_iter_recurse(&field, &inner)) return;
  while (bson_iter_next(&inner)) each(inner);
}

void ReadFields(const bson_t& document, EpochState& state) {
  state.hash = TextOf(&document, "hash");
  state.parent = TextOf(&document, "parent");
  state.documents = IntegerOf(&document, "documents");
  state.digest = TextOf(&document, "digest");
  ForEachField(document, "lengths",
               [&](const bson_iter_t& list) { state.lengths[bson_iter_key(&list)] = bson_iter_as_int64(&list); });
  ForEachField(document, "sums", [&](const bson_iter_t& list) {
    bson_iter_t sum;
    if (!BSON_ITER_HOLDS_DOCUMENT(&list) || !bson_iter_recurse(&list, &sum)) return;
    while (bson_iter_next(&sum)) {
      if (!BSON_ITER_HOLDS_UTF8(&sum)) continue;
      state.sums[StrCat(bson_iter_key(&list), ".", bson_iter_key(&sum))] = bson_iter_utf8(&sum, nullptr);
    }
  });
}

void AppendFields(const EpochState& state, Bson& document) {
  document.Text("hash", state.hash).Text("parent", state.parent).Integer("documents", state.documents);
  Bson lengths;
  for (const auto& [list, length] : state.lengths) lengths.Integer(list.c_str(), length);
  document.Document("lengths", lengths);
  Bson sums;
  for (auto sum = state.sums.begin(); sum != state.sums.end();) {
    const std::string list = sum->first.substr(0, sum->first.find('.'));
    Bson of_list;
    for (; sum != state.sums.end() && sum->first.compare(0, sum->first.find('.'), list) == 0; ++sum) {
      of_list.Text(sum->first.c_str() + list.size() + 1, sum->second);
    }
    sums.Document(list.c_str(), of_list);
  }
  document.Document("sums", sums).Text("digest", state.digest);
}

Head HeadFrom(const bson_t& document) {
  Head head;
  head.tip.number = IntegerOf(&document, "epoch");
  ReadFields(document, head.tip);
  head.first = IntegerOf(&document, "first");
  head.final_epoch = IntegerOf(&document, "final");
  head.reorganised = IntegerOf(&document, "reorganised");
  if (bson_has_field(&document, "growing")) {
    head.growing = Growing{.epoch = IntegerOf(&document, "growing.epoch"),
                           .token = std::string(TextOf(&document, "growing.token")),
                           .parts = IntegerOf(&document, "growing.parts")};
  }
  if (bson_has_field(&document, "removing")) head.removing = IntegerOf(&document, "removing.epoch");
  if (bson_has_field(&document, "reorg")) {
    head.popped = Popped{.depth = IntegerOf(&document, "reorg.depth"),
                         .number = IntegerOf(&document, "reorg.number"),
                         .hash = std::string(TextOf(&document, "reorg.hash")),
                         .old_number = IntegerOf(&document, "reorg.old_number"),
                         .old_hash = std::string(TextOf(&document, "reorg.old_hash"))};
  }
  return head;
}

// Fields that the head has go to `set`, fields that it no longer has to `unset`.
void AppendHead(const Head& head, Bson& set, Bson& unset) {
  set.Integer("epoch", head.tip.number);
  AppendFields(head.tip, set);
  set.Integer("first", head.first).Integer("final", head.final_epoch).Integer("reorganised", head.reorganised);
  if (head.growing) {
    Bson growing;
    growing.Integer("epoch", head.growing->epoch).Text("token", head.growing->token);
    set.Document("growing", growing.Integer("parts", head.growing->parts));
  } else {
    unset.Bool("growing", true);
  }
  if (head.removing) {
    Bson removing;
    set.Document("removing", removing.Integer("epoch", *head.removing));
  } else {
    unset.Bool("removing", true);
  }
  if (head.popped) {
    Bson reorg;
    reorg.Integer("depth", head.popped->depth).Integer("number", head.popped->number).Text("hash", head.popped->hash);
    reorg.Integer("old_number", head.popped->old_number).Text("old_hash", head.popped->old_hash);
    set.Document("reorg", reorg);
  } else {
    unset.Bool("reorg", true);
  }
}

Status NoHead(const TimelineOptions& options) {
  return Status(Code::kRecordDamaged,
                StrCat(options.database, ".", HeadsOf(options), ": the document 'head' is missing"));
}

}  // namespace

Result<Head> ReadHead(Transaction& transaction, const TimelineOptions& options) {
  Bson filter;
  filter.Text("_id", "head");
  std::optional<Head> head;
  BRAID_CHECK_OK(transaction.Find(HeadsOf(options), filter.get(), [&](const bson_t& document) {
    head = HeadFrom(document);
    return Status();
  }));
  if (!head) return NoHead(options);
  return *std::move(head);
}

Status WriteHead(Transaction& transaction, const TimelineOptions& options, const Head& head) {
  Bson filter;
  filter.Text("_id", "head");
  Bson set;
  Bson unset;
  AppendHead(head, set, unset);
  Bson change;
  change.Document("$set", set);
  if (!bson_empty(unset.get())) change.Document("$unset", unset);
  const Transaction::Update update{.filter = filter.get(), .change = change.get()};
  BRAID_TRY(const Transaction::Matched matched, transaction.UpdateOnes(HeadsOf(options), {&update, 1}));
  return matched.matched == 1 ? Status() : NoHead(options);
}

EpochState StateOfRecord(const bson_t& record) {
  EpochState state;
  state.number = IntegerOf(&record, "_id");
  ReadFields(record, state);
  return state;
}

Status InsertRecords(Transaction& transaction, const TimelineOptions& options,
                     std::span<const EpochState* const> states) {
  std::deque<Bson> records;
  std::vector<const bson_t*> documents;
  for (const EpochState* state : states) {
    Bson& record = records.emplace_back();
    record.Integer("_id", state->number);
    AppendFields(*state, record);
    documents.push_back(record.get());
  }
  return transaction.Insert(EpochsOf(options), documents);
}

Result<EpochState> ReadRecord(Transaction& transaction, const TimelineOptions& options, int64_t number) {
  Bson filter;
  filter.Integer("_id", number);
  EpochState state;
  BRAID_CHECK_OK(transaction.Find(EpochsOf(options), filter.get(), [&](const bson_t& record) {
    state = StateOfRecord(record);
    return Status();
  }));
  return state;
}

bool SameStates(const EpochState& a, const EpochState& b) {
  return a.number == b.number && a.hash == b.hash && a.parent == b.parent && a.documents == b.documents &&
         a.lengths == b.lengths && a.sums == b.sums && a.digest == b.digest;
}

Status CheckStop(const TimelineOptions& options) {
  if (options.stop == nullptr || !options.stop->load()) return {};
  return Status(Code::kInterrupted, "asked to stop");
}

}  // namespace timeline

int64_t EpochState::LengthOf(const std::string& list) const {
  const auto found = lengths.find(list);
  return found == lengths.end() ? 0 : found->second;
}

}  // namespace braid
