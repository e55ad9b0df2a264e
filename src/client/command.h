// Commands that several tools and services run.
#pragma once

#include <string>

#include "braid/clients.h"
#include "client/handles.h"

namespace braid::client {

/// Runs a command on a database and gives its reply.
Result<BsonPtr> RunCommand(mongoc_client_t* client, const char* database, const bson_t* command);

/// Drops a collection; OK if there is none.
Status DropCollection(mongoc_client_t* client, const std::string& database, const std::string& collection);

}  // namespace braid::client
