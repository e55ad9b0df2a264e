// Why a chain is halted, in its head and in the document of its head.
#include "patterns/chains/parts.h"

#include <algorithm>

#include "base/strings.h"
#include "client/fields.h"

namespace braid::chains {
namespace {

void ShowFirstAwaited(ChainHead& head) {
  if (!head.broken) head.halted = head.awaits.empty() ? std::string() : head.awaits.front().why;
}

}  // namespace

bool IsHaltedFor(const ChainHead& head, int64_t sequence) {
  if (head.halted.empty()) return false;
  return head.broken || head.awaits.empty() || sequence > head.awaits.front().sequence;
}

Status WhyHalted(const ChainHead& head) {
  if (head.broken || head.awaits.empty()) {
    return Status(Code::kChainHalted, StrCat("chain ", head.chain, " is halted until repaired; ", head.halted));
  }
  return Status(Code::kChainHalted, StrCat("chain ", head.chain, " waits for sequence ", head.awaits.front().sequence,
                                           "; ", head.awaits.front().why));
}

void Break(ChainHead& head, std::string why) {
  head.broken = true;
  head.halted = std::move(why);
}

void Await(ChainHead& head, AwaitedRecord awaited) {
  if (awaited.sequence <= head.sequence) return;
  const auto place =
      std::lower_bound(head.awaits.begin(), head.awaits.end(), awaited.sequence,
                       [](const AwaitedRecord& known, int64_t sequence) { return known.sequence < sequence; });
  if (place != head.awaits.end() && place->sequence == awaited.sequence) {
    *place = std::move(awaited);  // the latest reason is the one to act on
  } else if (head.awaits.size() < kAwaitedMax) {
    head.awaits.insert(place, std::move(awaited));
  } else if (!head.broken) {
    Break(head, StrCat("chain ", head.chain, ": more than ", kAwaitedMax, " records were held back, from sequence ",
                       head.awaits.front().sequence, " on"));
  }
  ShowFirstAwaited(head);
}

void ForgetPassed(ChainHead& head) {
  if (head.awaits.empty() || head.awaits.front().sequence > head.sequence) return;
  std::erase_if(head.awaits, [&](const AwaitedRecord& awaited) { return awaited.sequence <= head.sequence; });
  ShowFirstAwaited(head);
}

void Mend(ChainHead& head) {
  head.broken = false;
  ShowFirstAwaited(head);
}

void AppendHalt(const ChainHead& head, int64_t at_ms, client::Bson& fields) {
  client::Bson awaits;
  for (size_t i = 0; i < head.awaits.size(); ++i) {
    client::Bson awaited;
    awaited.Integer("seq", head.awaits[i].sequence).Text("why", head.awaits[i].why);
    if (head.awaits[i].held_by) awaited.Integer("held_by", *head.awaits[i].held_by);
    awaits.Document(StrCat(i).c_str(), awaited);
  }
  client::Bson halted;
  halted.Date("at", at_ms).Text("why", head.halted).Bool("broken", head.broken).Integer("changes", head.halt_changes);
  fields.Document("halted", halted.Array("awaits", awaits));
}

void ReadHalt(const bson_t& document, ChainHead& head) {
  head.halted = client::TextOf(&document, "halted.why");
  head.halt_changes = client::IntegerOf(&document, "halted.changes");
  bson_iter_t iterator;
  bson_iter_t array;
  bson_iter_t element;
  if (bson_iter_init(&iterator, &document) && bson_iter_find_descendant(&iterator, "halted.awaits", &array) &&
      BSON_ITER_HOLDS_ARRAY(&array) && bson_iter_recurse(&array, &element)) {
    while (bson_iter_next(&element)) {
      const uint8_t* bytes = nullptr;
      uint32_t size = 0;
      bson_t awaited;
      if (!BSON_ITER_HOLDS_DOCUMENT(&element)) continue;
      bson_iter_document(&element, &size, &bytes);
      if (!bson_init_static(&awaited, bytes, size)) continue;
      AwaitedRecord& record = head.awaits.emplace_back();
      record.sequence = client::IntegerOf(&awaited, "seq");
      record.why = client::TextOf(&awaited, "why");
      if (bson_has_field(&awaited, "held_by")) record.held_by = client::IntegerOf(&awaited, "held_by");
    }
  }
  // A halt without awaited records can only be ended by a repair.
  head.broken = !head.halted.empty() && (head.awaits.empty() || client::BoolOf(&document, "halted.broken"));
}

}  // namespace braid::chains
