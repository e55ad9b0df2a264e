#include "cli/backup/holdings.h"

#include "base/strings.h"
#include "client/command.h"
#include "client/fields.h"
#include "client/handles.h"

namespace braid::backup {
namespace {

struct FreeNames {
  void operator()(char** names) const { bson_strfreev(names); }
};
using Names = std::unique_ptr<char*, FreeNames>;

Status CountDatabase(mongoc_client_t* client, const char* name, Holdings& holdings) {
  const client::DatabasePtr database(mongoc_client_get_database(client, name));
  bson_error_t error{};
  const Names collections(mongoc_database_get_collection_names_with_opts(database.get(), nullptr, &error));
  if (collections == nullptr) return client::FromError(error);
  for (char** each = collections.get(); *each != nullptr; ++each) {
    client::Bson command;
    command.Text("count", *each);
    BRAID_TRY(const client::BsonPtr reply, client::RunCommand(client, name, command.get()));
    holdings.collections.push_back({StrCat(name, ".", *each), client::IntegerOf(reply.get(), "n")});
  }
  return {};
}

}  // namespace

Result<Holdings> CountHoldings(Clients& clients) {
  const Client client = clients.Acquire();
  bson_error_t error{};
  const Names databases(mongoc_client_get_database_names_with_opts(client.get(), nullptr, &error));
  if (databases == nullptr) return client::FromError(error);
  Holdings holdings;
  for (char** each = databases.get(); *each != nullptr; ++each) {
    const std::string_view name = *each;
    if (name == "config" || name == "admin") continue;  // views of the server itself
    BRAID_CHECK_OK(CountDatabase(client.get(), *each, holdings));
  }
  return holdings;
}

}  // namespace braid::backup
