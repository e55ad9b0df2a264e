#include "engine/commands/envelope.h"

#include <algorithm>
#include <limits>

#include "base/strings.h"
#include "engine/bson/number.h"

namespace braid::commands {
namespace {

// The commands of MongoDB's Stable API, version 1. Sorted.
constexpr std::string_view kStable[] = {
    "abortTransaction",
    "aggregate",
    "bulkWrite",
    "collMod",
    "commitTransaction",
    "count",
    "create",
    "createIndexes",
    "delete",
    "drop",
    "dropDatabase",
    "dropIndexes",
    "endSessions",
    "explain",
    "find",
    "findAndModify",
    "getMore",
    "hello",
    "insert",
    "killCursors",
    "listCollections",
    "listDatabases",
    "listIndexes",
    "ping",
    "refreshSessions",
    "update",
};

struct ApiFields {
  std::string_view version;
  bool strict = false;
  bool any = false;
};

Status CheckApi(const Command& command, const ApiFields& api) {
  if (api.version.empty()) {
    if (!api.any) return {};
    return Status(Code::kAPIVersionError, "apiStrict and apiDeprecationErrors need an apiVersion");
  }
  if (api.version != "1") return Status(Code::kAPIVersionError, "API version must be \"1\"");
  if (api.strict && !std::binary_search(std::begin(kStable), std::end(kStable), command.name)) {
    return Status(Code::kAPIStrictError,
                  StrCat("Provided apiStrict:true, but the command ", command.name, " is not in API Version 1"));
  }
  return {};
}

Status ParseWriteConcern(const bson::Value& value, WriteConcern* out) {
  if (!value.Is(bson::Type::kObject)) {
    return Status(Code::kTypeMismatch, "\"writeConcern\" had the wrong type. Expected object");
  }
  for (const auto& [name, option] : value.AsView()) {
    if (name == "w" && option.IsNumber()) {
      const int64_t nodes = bson::Number::Of(option).ToInt64Clamped();
      if (nodes < 0 || nodes > 50) {
        return Status(Code::kFailedToParse, "w has to be a non-negative number and not greater than 50");
      }
      out->acknowledged = nodes != 0;
      if (nodes > 1) {
        out->problem = Status(Code::kUnsatisfiableWriteConcern, "Not enough data-bearing nodes");
      }
    } else if (name == "w" && option.Is(bson::Type::kString)) {
      if (option.AsString() != "majority") {
        out->problem = Status(Code::kUnknownReplWriteConcern,
                              StrCat("No write concern mode named '", option.AsString(), "' found"));
      }
    } else if (name == "j" && (option.Is(bson::Type::kBool) || option.IsNumber())) {
      out->journal = bson::IsTruthy(option);
    } else if (name == "wtimeout" || name == "fsync" || name == "provenance" || name == "getLastError") {
      continue;  // ignored: one node that syncs in milliseconds never times out
    } else {
      return Status(Code::kFailedToParse, StrCat("unrecognized or ill-typed write concern field: ", name));
    }
  }
  if (!out->acknowledged && value.AsView().Has("j") && out->journal)
    out->acknowledged = true;  // j: true wins over w: 0
  return {};
}

Status ParseReadConcern(const bson::Value& value, ReadConcern* out) {
  if (!value.Is(bson::Type::kObject)) {
    return Status(Code::kTypeMismatch, "\"readConcern\" had the wrong type. Expected object");
  }
  out->given = true;
  for (const auto& [name, option] : value.AsView()) {
    if (name == "level" && option.Is(bson::Type::kString)) {
      const std::string_view level = option.AsString();
      out->snapshot = level == "snapshot";
      out->durable = out->snapshot || level == "majority" || level == "linearizable";
      if (level != "local" && level != "available" && level != "majority" && level != "linearizable" &&
          level != "snapshot") {
        return Status(Code::kFailedToParse, StrCat("Either the readConcern level is unknown: ", level));
      }
    } else if (name == "atClusterTime" && option.Is(bson::Type::kTimestamp)) {
      out->at_cluster_time = option.AsTimestamp();
    } else if (name == "afterClusterTime" && option.Is(bson::Type::kTimestamp)) {
      out->after_cluster_time = option.AsTimestamp();
    } else if (name != "provenance") {
      return Status(Code::kInvalidOptions, StrCat("Unrecognized or ill-typed option in readConcern: ", name));
    }
  }
  if (out->at_cluster_time != 0 && !out->snapshot) {
    return Status(Code::kInvalidOptions, "readConcern.atClusterTime needs the level \"snapshot\"");
  }
  if (out->at_cluster_time != 0 && out->after_cluster_time != 0) {
    return Status(Code::kInvalidOptions,
                  "Specifying a timestamp for both atClusterTime and afterClusterTime is not allowed");
  }
  return {};
}

Result<int64_t> MaxTime(const bson::Value& value) {
  if (!value.IsNumber()) return Status(Code::kBadValue, "maxTimeMS must be a number");
  const auto millis = bson::Number::Of(value).ToInt64Exact();
  if (!millis) return Status(Code::kBadValue, "maxTimeMS has non-integral value");
  if (*millis < 0 || *millis > std::numeric_limits<int32_t>::max()) {
    return Status(Code::kBadValue, StrCat(*millis, " value for maxTimeMS is out of range [0, 2147483647]"));
  }
  return *millis;
}

Result<std::string_view> SessionId(const bson::Value& lsid) {
  if (!lsid.Is(bson::Type::kObject))
    return Status(Code::kTypeMismatch, "BSON field 'lsid' is the wrong type, expected type 'object'");
  const bson::Value id = lsid.AsView().Find("id");
  if (!id.Is(bson::Type::kBinary) || id.AsBinary().subtype != 4 || id.AsBinary().bytes.size() != 16) {
    return Status(Code::kInvalidOptions, "'lsid.id' must be a UUID");
  }
  return id.AsBinary().bytes;
}

struct TransactionFields {
  bson::Value txn_number, autocommit, start;
  std::string_view level;  // of the read concern; empty: none
  bool has_read_concern = false;
  bool has_write_concern = false;
};

/// Checks that the fields are allowed in a statement of a transaction.
Status CheckStatement(const Command& command, const TransactionFields& fields) {
  const bool starts = !fields.start.missing();
  const bool ends = (command.flags & kEndsTransaction) != 0;
  if (!ends && (command.flags & kInTransaction) == 0) {
    return Status(Code::kOperationNotSupportedInTransaction,
                  StrCat("Cannot run '", command.name, "' in a multi-document transaction."));
  }
  if (starts && (ends || command.name == "killCursors" || command.name == "getMore")) {
    return Status(Code::kOperationNotSupportedInTransaction,
                  StrCat("Cannot run '", command.name, "' as the first statement of a transaction."));
  }
  if (!ends && fields.has_write_concern) {
    return Status(Code::kInvalidOptions, "writeConcern is not allowed within a multi-statement transaction");
  }
  if (!starts && fields.has_read_concern) {
    return Status(Code::kInvalidOptions, "Only the first command in a transaction may specify a readConcern");
  }
  if (!fields.level.empty() && fields.level != "local" && fields.level != "majority" && fields.level != "snapshot") {
    return Status(
        Code::kInvalidOptions,
        "The readConcern level must be either 'local' (default), 'majority' or 'snapshot' in order to run in a "
        "transaction");
  }
  return {};
}

Status CheckTransactionFields(const Command& command, const TransactionFields& fields, bool has_session) {
  const auto invalid = [](std::string text) { return Status(Code::kInvalidOptions, std::move(text)); };
  if (!fields.txn_number.missing() && !has_session)
    return invalid("Transaction number requires a session ID to also be specified");
  if (!fields.autocommit.missing() && fields.txn_number.missing())
    return invalid("'autocommit' field requires a transaction number to also be specified");
  if (!fields.autocommit.missing() && bson::IsTruthy(fields.autocommit))
    return invalid("Specifying autocommit=true is not allowed.");
  if (!fields.start.missing() && fields.autocommit.missing())
    return invalid("'startTransaction' field requires 'autocommit' field to also be specified");
  if (!fields.start.missing() && !bson::IsTruthy(fields.start))
    return invalid("Specifying startTransaction=false is not allowed.");
  if (!fields.autocommit.missing()) return CheckStatement(command, fields);
  const bool of_cursor = (command.flags & (kReadOnly | kInTransaction)) == (kReadOnly | kInTransaction);
  if (fields.level == "snapshot" && (command.flags & kTakesReadConcern) == 0 && !of_cursor) {
    return invalid(StrCat("Command ", command.name, " does not support { readConcern: { level: \"snapshot\" } }"));
  }
  if ((command.flags & kEndsTransaction) != 0) {
    return invalid(StrCat(command.name, " must be run within a transaction: autocommit: false is missing"));
  }
  if (!fields.txn_number.missing() && (command.flags & kRetryable) == 0) {
    return Status(Location(50768),
                  StrCat("txnNumber may only be provided for multi-document transactions and retryable write commands. "
                         "autocommit:false was not provided, and ",
                         command.name, " is not a retryable write command."));
  }
  return {};
}

}  // namespace

Result<Envelope> Envelope::Parse(const Command& command, const Request& request) {
  Envelope envelope;
  TransactionFields transaction;
  ApiFields api;
  for (const auto& [name, value] : request.body) {
    if (name == "lsid") {
      BRAID_TRY(envelope.lsid, SessionId(value));
    } else if (name == "maxTimeMS" && command.name != "getMore") {
      BRAID_TRY(envelope.max_time_ms, MaxTime(value));
    } else if (name == "txnNumber") {
      transaction.txn_number = value;
    } else if (name == "autocommit") {
      transaction.autocommit = value;
    } else if (name == "startTransaction") {
      transaction.start = value;
    } else if (name == "$clusterTime") {
      if (value.Is(bson::Type::kObject)) {
        const bson::Value time = value.AsView().Find("clusterTime");
        if (time.Is(bson::Type::kTimestamp)) envelope.cluster_time = time.AsTimestamp();
      }
    } else if (name == "writeConcern") {
      if ((command.flags & kWrites) != 0) BRAID_CHECK_OK(ParseWriteConcern(value, &envelope.write_concern));
      transaction.has_write_concern = true;
    } else if (name == "readConcern") {
      BRAID_CHECK_OK(ParseReadConcern(value, &envelope.read_concern));
      const bson::Value level = value.AsView().Find("level");
      transaction.has_read_concern = !value.AsView().empty();
      if (level.Is(bson::Type::kString)) transaction.level = level.AsString();
    } else if (name == "apiVersion" && value.Is(bson::Type::kString)) {
      api.version = value.AsString();
    } else if (name == "apiStrict" || name == "apiDeprecationErrors") {
      api.any = true;
      if (name == "apiStrict") api.strict = bson::IsTruthy(value);
    }
  }
  if (!transaction.txn_number.missing()) {
    if (!transaction.txn_number.IsNumber())
      return Status(Code::kTypeMismatch, "BSON field 'txnNumber' is the wrong type, expected type 'long'");
    envelope.txn_number = bson::Number::Of(transaction.txn_number).ToInt64Clamped();
    if (envelope.txn_number < 0) return Status(Code::kInvalidOptions, "Transaction number cannot be negative");
  }
  envelope.in_transaction = !transaction.autocommit.missing();
  envelope.starts_transaction = !transaction.start.missing();
  BRAID_CHECK_OK(CheckApi(command, api));
  BRAID_CHECK_OK(CheckTransactionFields(command, transaction, !envelope.lsid.empty()));
  return envelope;
}

bson::Document AppendTo(bson::Document document, bson::View fields) {
  std::string bytes = std::move(document).TakeBytes();
  bytes.pop_back();
  bytes.append(fields.data() + 4, fields.size() - 4);
  const auto size = static_cast<uint32_t>(bytes.size());
  std::memcpy(bytes.data(), &size, sizeof(size));
  return bson::Document(std::move(bytes));
}

}  // namespace braid::commands
