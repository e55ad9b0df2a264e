// The answers of the index as JSON (F4), the same on the command line and over HTTP.
#pragma once

#include <string>
#include <vector>

#include "client/handles.h"
#include "services/explorer/explorer.h"

namespace braid::explorer {

/// A text, or null if it is empty.
void AppendOptional(const char* name, const std::string& text, client::Bson& json);
/// "at": {"epoch": 7, "pivot": "0x…"}, both null if nothing has been imported yet.
void AppendAt(const At& at, client::Bson& json);
/// `name` is the kind of object, block or transaction; its value is null if it was not found.
void AppendFound(const char* name, const Found& found, client::Bson& json);
/// `name` is the kind of the rows; next and at follow.
void AppendPage(const char* name, const Page& page, client::Bson& json);
void AppendLatest(const Latest& latest, client::Bson& json);

/// The number of an epoch in decimal, or in hexadecimal with 0x as nodes write it.
Result<int64_t> ReadEpochNumber(const std::string& text);

/// A page of reorganisations with the cursor of the next page; empty for the last page.
struct ReorganisationsRead {
  ReorganisationPage page;
  std::string next;
};
Result<ReorganisationsRead> ReadReorganisations(Explorer& explorer, int64_t limit, const std::string& after);
void AppendReorganisations(const ReorganisationsRead& read, client::Bson& json);

}  // namespace braid::explorer
