#include "engine/commands/operation_record.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "base/strings.h"
#include "engine/bson/json.h"
#include "engine/commands/arg_reader.h"

namespace braid::commands {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr size_t kLoggedCommandBytesMax = 2048;
constexpr size_t kProfiledCommandBytesMax = 50 * 1024;
constexpr size_t kMessageBytesMax = 1024;

// What a client sent: without the documents of an insert, which the collection has.
void AppendCommand(bson::Builder& entry, const OperationRecord& record) {
  entry.OpenObject("command");
  if (record.request.body.size() > kProfiledCommandBytesMax) {
    entry.Append("$truncated", CommandShape(record.request, kProfiledCommandBytesMax));
  } else {
    const bool inserts = record.operation.name == "insert";
    for (const auto& [name, value] : record.request.body) {
      if (!inserts || name != "documents") entry.Append(name, value);
    }
    for (const DocumentSequence& sequence : record.request.sequences) {
      if (inserts) continue;
      size_t bytes = 0;
      entry.OpenArray(sequence.name);
      for (const bson::View& document : sequence.documents) {
        bytes += document.size();
        if (bytes > kProfiledCommandBytesMax) break;
        entry.AppendNext(document);
      }
      entry.Close();
    }
  }
  entry.Close();
}

// The reply's figure under the profiler's name.
void AppendFigure(bson::Builder& entry, const OperationRecord& record, std::string_view name, std::string_view field) {
  if (const bson::Value value = record.reply.Find(field); value.IsNumber()) entry.Append(name, value);
}

void AppendOutcome(bson::Builder& entry, const OperationRecord& record) {
  const std::string_view name = record.operation.name;
  if (name == "insert") AppendFigure(entry, record, "ninserted", "n");
  if (name == "delete") AppendFigure(entry, record, "ndeleted", "n");
  if (name == "update") AppendFigure(entry, record, "nMatched", "n");
  AppendFigure(entry, record, "nModified", "nModified");
  if (record.reply.Has("upserted")) entry.Append("upsert", true);
  if (const int64_t returned = record.returned(); returned >= 0) entry.Append("nreturned", returned);
  if (const bson::Value cursor = record.reply.Find("cursor"); cursor.Is(bson::Type::kObject)) {
    const bson::Value id = cursor.AsView().Find("id");
    const bool is_open = id.Is(bson::Type::kInt64) && id.AsInt64() != 0;
    if (is_open) entry.Append("cursorid", id);
    if (!is_open) entry.Append("cursorExhausted", true);
  }
}

// The address without the port, as MongoDB's profiler has it.
std::string_view HostOf(std::string_view remote) { return remote.substr(0, remote.rfind(':')); }

constexpr size_t kElementsMax = 3;
constexpr size_t kNameBytesMax = 128;

// Fields whose numbers say how a command is run, not what is in documents. Sorted, as the next table.
constexpr std::string_view kOfTheRun[] = {"cursor", "fields", "hint", "projection", "sort"};
// Fields at the top whose text is a name.
constexpr std::string_view kNames[] = {"collection", "hint", "key"};

bool IsNumeric(const bson::Value& value) { return value.IsNumber() || value.Is(bson::Type::kBool); }

class Shape {
 public:
  explicit Shape(size_t bytes_max) : bytes_max_(bytes_max) {}

  bool Full() const { return out_.size() >= bytes_max_; }
  std::string Take() { return std::move(out_); }

  void Name(std::string_view name, bool first) {
    out_ += first ? " " : ", ";
    out_ += name.substr(0, kNameBytesMax);
    out_ += ": ";
  }
  void Text(std::string_view text) { out_ += text; }

  void Show(const bson::Value& value, bool shows_numbers) {
    if (value.Is(bson::Type::kObject)) {
      Object(value.AsView(), shows_numbers);
    } else if (value.Is(bson::Type::kArray)) {
      List(value.AsView(), shows_numbers);
    } else {
      out_ += shows_numbers && IsNumeric(value) ? bson::ToShell(value) : "?";
    }
  }

 private:
  void Object(bson::View object, bool shows_numbers) {
    out_ += "{";
    bool first = true;
    for (const auto& [name, value] : object) {
      if (Full()) break;
      Name(name, first);
      Show(value, shows_numbers);
      first = false;
    }
    out_ += Full() ? " … }" : first ? "}" : " }";
  }

  void List(bson::View list, bool shows_numbers) {
    out_ += "[";
    size_t count = 0;
    for (const auto& [name, value] : list) {
      if (count == kElementsMax || Full()) {
        out_ += ", …";
        break;
      }
      if (count++ > 0) out_ += ", ";
      Show(value, shows_numbers);
    }
    out_ += "]";
  }

  const size_t bytes_max_;
  std::string out_;
};

}  // namespace

std::string_view OperationKind(std::string_view command) {
  if (command == "insert" || command == "update") return command;
  if (command == "getMore") return "getmore";
  if (command == "delete") return "remove";
  if (command == "find") return "query";
  return "command";
}

std::string OperationNamespace(std::string_view database, bson::View command) {
  bson::Value target = command.empty() ? bson::Value() : command.begin()->value;
  if (!command.empty() && command.begin()->name == "getMore") target = command.Find("collection");
  return StrCat(database, ".", target.Is(bson::Type::kString) ? target.AsString() : std::string_view("$cmd"));
}

std::string OperationRecord::ns() const { return OperationNamespace(operation.database, request.body); }

int64_t OperationRecord::returned() const {
  const bson::Value cursor = reply.Find("cursor");
  if (!cursor.Is(bson::Type::kObject)) return -1;
  for (const char* const batch : {"firstBatch", "nextBatch"}) {
    const bson::Value documents = cursor.AsView().Find(batch);
    if (documents.Is(bson::Type::kArray)) return static_cast<int64_t>(documents.AsView().Count());
  }
  return -1;
}

bson::Document ProfileEntry(const OperationRecord& record) {
  const txn::OperationCost& cost = record.operation.cost;
  bson::Builder entry;
  entry.Append("_id", bson::ObjectId::Generate());
  entry.Append("op", OperationKind(record.operation.name)).Append("ns", record.ns());
  AppendCommand(entry, record);
  entry.Append("keysExamined", cost.keys_examined).Append("docsExamined", cost.documents_examined);
  AppendOutcome(entry, record);
  entry.Append("writeConflicts", cost.conflicts);
  entry.Append("waitedMicros", int64_t{duration_cast<microseconds>(cost.waited).count()});
  if (cost.cpu.count() > 0) entry.Append("cpuNanos", int64_t{cost.cpu.count()});
  if (!record.outcome.ok()) {
    entry.Append("ok", 0).Append("errCode", static_cast<int32_t>(record.outcome.code()));
    entry.Append("errName", CodeName(record.outcome.code()));
    entry.Append("errMsg", record.outcome.message().substr(0, kMessageBytesMax));
  }
  entry.Append("responseLength", static_cast<int64_t>(record.reply.size())).Append("protocol", "op_msg");
  entry.Append("millis", int64_t{duration_cast<milliseconds>(record.duration).count()});
  if (!cost.plan.empty()) entry.Append("planSummary", cost.plan);
  entry.Append("ts", bson::Date{record.ended_millis}).Append("client", HostOf(record.operation.client));
  if (!record.operation.application.empty()) entry.Append("appName", record.operation.application);
  entry.OpenArray("allUsers").Close().Append("user", "");
  return entry.Finish();
}

void LogSlowOperation(const OperationRecord& record) {
  const txn::OperationCost& cost = record.operation.cost;
  const auto number = [](uint64_t value) { return static_cast<int64_t>(value); };
  std::vector<log::Attribute> attributes = {
      {"ns", record.ns()},
      {"command", CommandShape(record.request, kLoggedCommandBytesMax)},
      {"durationMillis", int64_t{duration_cast<milliseconds>(record.duration).count()}},
      {"cpuMicros", int64_t{duration_cast<microseconds>(cost.cpu).count()}},
      {"waitedMicros", int64_t{duration_cast<microseconds>(cost.waited).count()}},
      {"writeConflicts", number(cost.conflicts)},
      {"keysExamined", number(cost.keys_examined)},
      {"docsExamined", number(cost.documents_examined)},
  };
  if (const int64_t returned = record.returned(); returned >= 0) attributes.push_back({"nreturned", returned});
  if (!cost.plan.empty()) attributes.push_back({"planSummary", cost.plan});
  if (!record.outcome.ok()) attributes.push_back({"errName", std::string(CodeName(record.outcome.code()))});
  attributes.push_back({"client", std::string(record.operation.client)});
  if (!record.operation.application.empty()) {
    attributes.push_back({"appName", std::string(record.operation.application)});
  }
  log::Event(log::Level::kInfo, "command", "slow operation", attributes);
}

std::string CommandShape(const Request& request, size_t bytes_max) {
  Shape shape(bytes_max);
  shape.Text("{");
  bool first = true;
  for (const auto& [name, value] : request.body) {
    if (shape.Full()) break;
    if (IsCommonField(name)) continue;
    shape.Name(name, first);
    const bool is_name = first || std::ranges::binary_search(kNames, name);
    if (is_name && value.Is(bson::Type::kString)) {
      shape.Text(bson::ToShell(value));
    } else {
      shape.Show(value, IsNumeric(value) || std::ranges::binary_search(kOfTheRun, name));
    }
    first = false;
  }
  for (const DocumentSequence& sequence : request.sequences) {
    shape.Name(sequence.name, first);
    shape.Text(StrCat("[", sequence.documents.size(), " documents]"));
    first = false;
  }
  shape.Text(shape.Full() ? " … }" : " }");
  return shape.Take();
}

}  // namespace braid::commands
