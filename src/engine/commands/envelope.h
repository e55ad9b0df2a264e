// The envelope of every command: fields that any request may carry, fields that every reply has.
#pragma once

#include "engine/commands/command.h"

namespace braid::commands {

struct ReadConcern {
  bool given = false;
  bool snapshot = false;  // level: "snapshot"
  bool durable = false;   // level: "majority", "linearizable" or "snapshot": what is read must survive a crash
  uint64_t after_cluster_time = 0;
  uint64_t at_cluster_time = 0;  // 0: none
};

/// The fields of a request besides its own arguments.
struct Envelope {
  std::string_view lsid;  // bytes of lsid.id; empty: none
  int64_t txn_number = -1;
  bool in_transaction = false;  // autocommit: false
  bool starts_transaction = false;
  ReadConcern read_concern;
  int64_t max_time_ms = 0;
  uint64_t cluster_time = 0;
  WriteConcern write_concern;

  /// Checks the combinations as MongoDB does, read and write concerns, and the API version.
  static Result<Envelope> Parse(const Command& command, const Request& request);
};

/// Appends fields before the end of a finished document, in place.
bson::Document AppendTo(bson::Document document, bson::View fields);

}  // namespace braid::commands
