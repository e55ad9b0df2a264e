// The mapping that describes the layout of an old table.
#include "services/settlement/migration/old_table.h"

#include <array>
#include <set>
#include <utility>

#include "base/strings.h"
#include "client/handles.h"

namespace braid::settlement::migration {
namespace {

struct LayoutName {
  const char* key;
  std::string OldLayout::*member;
};

constexpr LayoutName kLayoutNames[] = {{"sequence", &OldLayout::sequence},
                                       {"prev_hash", &OldLayout::prev_hash},
                                       {"hash", &OldLayout::hash},
                                       {"input", &OldLayout::input},
                                       {"output", &OldLayout::output},
                                       {"order_update", &OldLayout::order_update},
                                       {"trades", &OldLayout::trades},
                                       {"balance_events", &OldLayout::balance_events},
                                       {"created_at", &OldLayout::created_at}};
constexpr const char* kForms[] = {"binary", "text", "document"};

Status BadMapping(const std::string& what) { return Status(Code::kBadValue, StrCat("mapping: ", what)); }

Status ReadLayoutName(const bson_iter_t& field, std::string& to) {
  const char* const key = bson_iter_key(&field);
  if (BSON_ITER_HOLDS_NULL(&field)) {
    to.clear();
    return {};
  }
  if (!BSON_ITER_HOLDS_UTF8(&field)) return BadMapping(StrCat(key, " is not the name of a field, nor null"));
  uint32_t size = 0;
  const char* const text = bson_iter_utf8(&field, &size);
  to.assign(text, size);
  if (to.empty() || to.front() == '$' || to.find('.') != std::string::npos || to.find('\0') != std::string::npos) {
    return BadMapping(StrCat(key, ": \"", to, "\" is not the name of a field: not empty, without dots, no $ in front"));
  }
  return {};
}

Status ReadLayoutChoice(const bson_iter_t& field, OldLayout& layout) {
  const std::string_view key = bson_iter_key(&field);
  const std::string_view value = BSON_ITER_HOLDS_UTF8(&field) ? bson_iter_utf8(&field, nullptr) : "";
  if (key == "hash_function") {
    if (value != "sha256" && value != "unknown") return BadMapping("hash_function is neither sha256 nor unknown");
    layout.hash_known = value == "sha256";
    return {};
  }
  if (key != "form") return BadMapping(StrCat("there is no ", key));
  for (size_t i = 0; i < std::size(kForms); ++i) {
    if (value != kForms[i]) continue;
    layout.form = static_cast<OldLayout::Form>(i);
    return {};
  }
  return BadMapping("form is neither binary nor text nor document");
}

}  // namespace

Status OldLayout::Validate() const {
  std::set<std::string> names;
  for (const LayoutName& name : kLayoutNames) {
    const std::string& field = this->*name.member;
    if (!field.empty() && !names.insert(field).second) return BadMapping(StrCat("two values have the field ", field));
  }
  if (sequence.empty() || input.empty()) return BadMapping("sequence and input must have a field");
  if (hash.empty() != prev_hash.empty()) return BadMapping("prev_hash and hash must both have a field, or both none");
  const bool parts = !order_update.empty() || !trades.empty() || !balance_events.empty();
  if (output.empty() != parts) return BadMapping("give output, or order_update, trades and balance_events instead");
  if (parts && (order_update.empty() || trades.empty() || balance_events.empty())) {
    return BadMapping("order_update, trades and balance_events must have a field each");
  }
  if (parts && form != Form::kDocument) return BadMapping("order_update, trades and balance_events: form is document");
  if (form == Form::kDocument && has_hashes() && hash_known) {
    return BadMapping("documents have no bytes to hash: give hash_function unknown, or null for prev_hash and hash");
  }
  return {};
}

std::string OldLayout::ToJson() const {
  std::string json;
  for (const LayoutName& name : kLayoutNames) {
    const std::string& field = this->*name.member;
    json += StrCat(json.empty() ? "{" : ",", "\"", name.key, "\":", field.empty() ? "null" : StrCat("\"", field, "\""));
  }
  return StrCat(json, ",\"form\":\"", kForms[static_cast<size_t>(form)], "\",\"hash_function\":\"",
                hash_known ? "sha256" : "unknown", "\"}");
}

Result<OldMapping> ParseMapping(std::string_view json) {
  bson_error_t error{};
  const client::BsonPtr document(
      bson_new_from_json(reinterpret_cast<const uint8_t*>(json.data()), static_cast<ssize_t>(json.size()), &error));
  if (document == nullptr) return BadMapping(StrCat("not a JSON object: ", error.message));
  OldMapping mapping;
  OldLayout& layout = mapping.layout;
  std::set<std::string> seen;
  bson_iter_t field;
  if (!bson_iter_init(&field, document.get())) return BadMapping("not a JSON object");
  while (bson_iter_next(&field)) {
    const std::string_view key = bson_iter_key(&field);
    if (!seen.emplace(key).second) return BadMapping(StrCat(key, " is there twice"));
    if (key == "collection") {
      if (!BSON_ITER_HOLDS_UTF8(&field)) return BadMapping("collection is not a name");
      mapping.collection = bson_iter_utf8(&field, nullptr);
      continue;
    }
    const LayoutName* known = nullptr;
    for (const LayoutName& name : kLayoutNames) {
      if (key == name.key) known = &name;
    }
    BRAID_CHECK_OK(known != nullptr ? ReadLayoutName(field, layout.*known->member) : ReadLayoutChoice(field, layout));
  }
  const bool parts = seen.contains("order_update") || seen.contains("trades") || seen.contains("balance_events");
  if (parts && !seen.contains("output")) layout.output.clear();
  if (parts && !seen.contains("form")) layout.form = OldLayout::Form::kDocument;
  BRAID_CHECK_OK(layout.Validate());
  return mapping;
}

}  // namespace braid::settlement::migration
