// Request, Reply and Client: the interface between the wire and the commands; and the check of the description that a
// client gives of itself in the first hello of its connection.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory_budget.h"
#include "braid/status.h"
#include "engine/bson/value.h"

namespace braid::commands {

/// A kind-1 section of OP_MSG: documents that belong to the field `name` of the body.
struct DocumentSequence {
  std::string_view name;
  std::vector<bson::View> documents;
};

/// One command. Everything in it points into the message's buffer, which outlives the call.
struct Request {
  bson::View body;
  std::vector<DocumentSequence> sequences;
  std::string_view name;      // of the first field of the body
  std::string_view database;  // $db
  bool legacy_query = false;  // came as OP_QUERY
  bool reply_wanted = true;   // false: moreToCome was set
};

/// The answer. `durable_at` tells the wire how long to hold the reply back (E4): until the log is synced past that
/// position; 0: not at all.
struct Reply {
  bson::Document body;
  uint64_t durable_at = 0;
  bool close_connection = false;         // configureFailPoint's closeConnection
  std::unique_ptr<MemoryCharge> charge;  // of a large body, until it is sent
};

/// The server's state of one connection; owned by the wire, changed only by the connection's own requests.
struct Client {
  int64_t id = 0;
  std::string remote;                    // "127.0.0.1:51234", "embedded"
  bson::Document metadata;               // `client` of the first hello
  std::string application;               // client.application.name
  std::vector<std::string> compressors;  // agreed in hello, in the client's order
  bool said_hello = false;               // a hello was answered; from then on messages may be large
  bool bound_cursors = false;            // some of its cursors end with it
  bool used_cursors = false;             // it has got batches of cursors that stayed open
  std::string transaction;               // the session whose transaction it worked on last; empty: none
};

constexpr size_t kClientMetadataBytesMax = 512;

/// MongoDB's rules for `client` of a hello: at most 512 bytes, driver and os described, and an application's name of at
/// most 128 bytes. kTypeMismatch, kClientMetadataMissingField, kClientMetadataAppNameTooLarge or
/// kClientMetadataDocumentTooLarge.
Status CheckClientMetadata(const bson::Value& metadata);

}  // namespace braid::commands
