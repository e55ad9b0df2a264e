#include "services/explorer/json.h"

#include <charconv>

#include "base/strings.h"
#include "services/explorer/queries.h"

namespace braid::explorer {
namespace {

using client::Bson;

void AppendEpoch(const char* name, int64_t number, const std::string& hash, Bson& json) {
  Bson inside;
  inside.Integer("epoch", number).Text("pivot", hash);
  json.Document(name, inside);
}

}  // namespace

void AppendOptional(const char* name, const std::string& text, Bson& json) {
  if (text.empty()) {
    BSON_APPEND_NULL(json.get(), name);
  } else {
    json.Text(name, text);
  }
}

void AppendAt(const At& at, Bson& json) {
  Bson inside;
  if (at.epoch < 0) {
    BSON_APPEND_NULL(inside.get(), "epoch");
  } else {
    inside.Integer("epoch", at.epoch);
  }
  AppendOptional("pivot", at.pivot, inside);
  json.Document("at", inside);
}

void AppendFound(const char* name, const Found& found, Bson& json) {
  if (found.document == nullptr) {
    BSON_APPEND_NULL(json.get(), name);
  } else {
    BSON_APPEND_DOCUMENT(json.get(), name, found.document.get());
  }
  AppendAt(found.at, json);
}

void AppendPage(const char* name, const Page& page, Bson& json) {
  Bson rows;
  for (size_t i = 0; i < page.rows.size(); ++i) {
    BSON_APPEND_DOCUMENT(rows.get(), StrCat(i).c_str(), page.rows[i].get());
  }
  json.Array(name, rows);
  AppendOptional("next", page.next, json);
  AppendAt(page.at, json);
}

void AppendLatest(const Latest& latest, Bson& json) {
  json.Integer("blocks", latest.blocks)
      .Text("difficulty", latest.difficulty)
      .Integer("transactions", latest.transactions)
      .Integer("seconds", latest.seconds)
      .Double("tps", latest.tps);
  AppendAt(latest.at, json);
}

Result<int64_t> ReadEpochNumber(const std::string& text) {
  const bool hexadecimal = text.starts_with("0x");
  const std::string_view digits = std::string_view(text).substr(hexadecimal ? 2 : 0);
  int64_t number = -1;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, number, hexadecimal ? 16 : 10);
  if (error == std::errc() && stopped == end && number >= 0) return number;
  return Status(Code::kBadValue, StrCat("'", text, "' is not the number of an epoch; write it as 88087 or 0x15817"));
}

Result<ReorganisationsRead> ReadReorganisations(Explorer& explorer, int64_t limit, const std::string& after) {
  BRAID_TRY(const std::optional<int64_t> before, ParseCursor(PagedList::kReorganisations, after));
  ReorganisationsRead read;
  BRAID_TRY(read.page, explorer.Reorganisations(limit, before.value_or(0)));
  if (static_cast<int64_t>(read.page.reorganisations.size()) < limit) return read;
  const int64_t last_ms = read.page.reorganisations.back().time_ms;
  BRAID_TRY(const ReorganisationPage more, explorer.Reorganisations(1, last_ms));
  if (!more.reorganisations.empty()) read.next = ToCursor(PagedList::kReorganisations, last_ms);
  return read;
}

void AppendReorganisations(const ReorganisationsRead& read, Bson& json) {
  Bson rows;
  for (size_t i = 0; i < read.page.reorganisations.size(); ++i) {
    const Reorganisation& one = read.page.reorganisations[i];
    Bson row;
    row.Text("time", UtcText(one.time_ms)).Integer("depth", one.depth).Integer("fork", one.fork);
    AppendEpoch("old", one.old_number, one.old_hash, row);
    AppendEpoch("new", one.new_number, one.new_hash, row);
    rows.Document(StrCat(i).c_str(), row);
  }
  json.Array("reorgs", rows);
  AppendOptional("next", read.next, json);
  AppendAt(read.page.at, json);
}

}  // namespace braid::explorer
