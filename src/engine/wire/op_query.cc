// OP_QUERY: the first message of most drivers, before they know that the server speaks OP_MSG.
#include <algorithm>

#include "base/strings.h"
#include "engine/bson/validate.h"
#include "engine/wire/message.h"

namespace braid::wire::internal {
namespace {

constexpr std::string_view kAllowed[] = {"_isSelf",  "authenticate", "buildInfo",    "buildinfo", "hello",
                                         "isMaster", "ismaster",     "saslContinue", "saslStart"};  // sorted

constexpr std::string_view kCommandSuffix = ".$cmd";

struct Fields {
  std::string_view collection;
  int32_t to_return = 0;
  bson::View query;
};

Result<Fields> ReadFields(std::string_view body) {
  Fields fields;
  if (body.size() < 4) return Status(Code::kProtocolError, "OP_QUERY without flags");
  body.remove_prefix(4);  // flags: secondaryOk and the like mean nothing to a command
  const size_t end = body.find('\0');
  if (end == std::string_view::npos) return Status(Code::kProtocolError, "OP_QUERY: the collection's name has no end");
  fields.collection = body.substr(0, end);
  body.remove_prefix(end + 1);
  if (body.size() < 8) return Status(Code::kProtocolError, "OP_QUERY ends before its query");
  fields.to_return = bson::Load<int32_t>(body.data() + 4);
  body.remove_prefix(8);
  BRAID_TRY(fields.query, bson::Validate(body));
  body.remove_prefix(fields.query.size());
  if (!body.empty()) {  // a projection, which no command uses
    BRAID_TRY(const bson::View projection, bson::Validate(body));
    if (projection.size() != body.size()) return Status(Code::kProtocolError, "OP_QUERY is longer than its documents");
  }
  return fields;
}

// {$query: {hello: 1}, $readPreference: …} is the command inside.
bson::View UnwrapQuery(bson::View query) {
  for (const std::string_view wrapper : {"$query", "query"}) {
    if (query.empty() || query.begin()->name != wrapper) continue;
    if (const bson::Value inner = query.begin()->value; inner.Is(bson::Type::kObject)) return inner.AsView();
  }
  return query;
}

}  // namespace

Status ParseQuery(std::string_view body, Message& message) {
  commands::Request& request = message.request;
  request.legacy_query = true;
  message.answerable = true;
  BRAID_TRY(const Fields fields, ReadFields(body));
  if (!fields.collection.ends_with(kCommandSuffix)) {
    return Status(Code::kUnsupportedOpQueryCommand, StrCat("OP_QUERY on ", fields.collection,
                                                           " is not supported: the driver must be upgraded to OP_MSG"));
  }
  if (fields.to_return != 1 && fields.to_return != -1) {
    return Status(Location(16979),
                  StrCat("Bad numberToReturn (", fields.to_return, ") for $cmd type ns - can only be 1 or -1"));
  }
  request.body = UnwrapQuery(fields.query);
  if (!request.body.empty()) request.name = request.body.begin()->name;
  request.database = fields.collection.substr(0, fields.collection.size() - kCommandSuffix.size());
  if (!std::binary_search(std::begin(kAllowed), std::end(kAllowed), request.name)) {
    return Status(Code::kUnsupportedOpQueryCommand, StrCat("Unsupported OP_QUERY command: ", request.name,
                                                           ". The client driver may require an upgrade."));
  }
  return {};
}

}  // namespace braid::wire::internal
