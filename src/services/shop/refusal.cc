#include "services/shop/refusal.h"

#include <algorithm>
#include <iterator>

#include "base/strings.h"
#include "client/fields.h"
#include "client/handles.h"
#include "services/shop/documents.h"

namespace braid::shop {
namespace {

using client::Bson;

// In the order of the enumeration.
constexpr std::string_view kRefusedNames[] = {
    "bad_request",     "bad_quantity", "bad_price",     "inexact_amount", "currency_mismatch",
    "unknown_product", "unknown_cart", "unknown_order", "not_in_cart",    "foreign_cart",
    "empty_cart",      "cart_full",    "out_of_stock",  "not_reserved",   "forbidden_transition",
    "conflict",
};
static_assert(std::size(kRefusedNames) == static_cast<size_t>(Refused::kConflict) + 1);

constexpr const char* kCodeField = "refused";
constexpr const char* kLinesField = "lines";

std::vector<ShortLine> LinesOf(const bson_t& details) {
  std::vector<ShortLine> lines;
  ForEachElement(details, kLinesField, [&](const bson_t& line) {
    lines.push_back({.product_id = std::string(client::TextOf(&line, "product_id")),
                     .wanted = client::IntegerOf(&line, "wanted"),
                     .available = client::IntegerOf(&line, "available")});
    return Status();
  }).Ignore("no line is refused");
  return lines;
}

}  // namespace

std::string_view NameOf(Refused code) { return kRefusedNames[static_cast<size_t>(code)]; }

Status Refuse(Refused code, std::string message) { return Refuse({.code = code, .message = std::move(message)}); }

Status Refuse(const Refusal& refusal) {
  Bson lines;
  for (size_t i = 0; i < refusal.lines.size(); ++i) {
    Bson line;
    line.Text("product_id", refusal.lines[i].product_id)
        .Integer("wanted", refusal.lines[i].wanted)
        .Integer("available", refusal.lines[i].available);
    lines.Document(StrCat(i).c_str(), line);
  }
  Bson details;
  details.Text(kCodeField, NameOf(refusal.code)).Array(kLinesField, lines);
  return Status(Code::kOperationFailed, refusal.message)
      .WithDetails(std::string(reinterpret_cast<const char*>(bson_get_data(details.get())), details.get()->len));
}

std::optional<Refusal> RefusalOf(const Status& status) {
  bson_t details;
  const std::string_view bytes = status.details();
  if (bytes.empty() || !bson_init_static(&details, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()))
    return std::nullopt;
  const std::string_view name = client::TextOf(&details, kCodeField);
  const auto* found = std::find(std::begin(kRefusedNames), std::end(kRefusedNames), name);
  if (found == std::end(kRefusedNames)) return std::nullopt;
  return Refusal{.code = static_cast<Refused>(found - std::begin(kRefusedNames)),
                 .message = std::string(status.message()),
                 .lines = LinesOf(details)};
}

}  // namespace braid::shop
