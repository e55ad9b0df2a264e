#include "cli/transfer/exporter.h"

#include <string.h>

#include "base/strings.h"
#include "client/handles.h"

namespace braid::transfer {
namespace {

using client::Bson;

Result<client::BsonPtr> ParseOption(const char* option, const std::string& text) {
  auto parsed = client::ParseJson(text);
  if (parsed.ok()) return parsed;
  return Status(Code::kBadValue, StrCat(option, " is not a document in Extended JSON: ", parsed.error().message(),
                                        "; names and texts need double quotes, as in '{\"age\": {\"$gt\": 30}}'"));
}

// A path that lies inside another, or is the same, collides in a projection: its parent is asked for instead.
bool IsCovered(const std::string& path, const std::vector<std::string>& paths, size_t before) {
  for (size_t i = 0; i < paths.size(); ++i) {
    if (path.starts_with(paths[i] + ".") || (i < before && paths[i] == path)) return true;
  }
  return false;
}

// "a.0.b" as "a": a projection knows no positions.
std::string WithoutPositions(const std::string& path) {
  std::string kept;
  for (const std::string_view part : Split(path, '.')) {
    if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos) break;
    kept += StrCat(kept.empty() ? "" : ".", part);
  }
  return kept.empty() ? path : kept;
}

void AppendProjection(bson_t* to, const ExportOptions& options) {
  if (options.fields.empty()) return;
  std::vector<std::string> paths;
  for (const std::string& field : options.fields) paths.push_back(WithoutPositions(field));
  bson_t projection;
  BSON_APPEND_DOCUMENT_BEGIN(to, "projection", &projection);
  bool with_id = !options.csv;
  for (size_t i = 0; i < paths.size(); ++i) {
    with_id = with_id || paths[i] == "_id" || paths[i].starts_with("_id.");
    if (!IsCovered(paths[i], paths, i)) BSON_APPEND_INT32(&projection, paths[i].c_str(), 1);
  }
  if (!with_id) BSON_APPEND_INT32(&projection, "_id", 0);
  bson_append_document_end(to, &projection);
}

class Writer {
 public:
  Writer(const ExportOptions& options, FILE* out) : options_(options), out_(out) {}

  Status Start() {
    if (options_.csv && options_.header_line) {
      for (size_t i = 0; i < options_.fields.size(); ++i) {
        if (i > 0) text_ += ',';
        AppendCsvValue(text_, options_.fields[i]);
      }
      text_ += '\n';
    }
    if (!options_.csv && options_.json_array) text_ += '[';
    return Flush();
  }

  /// kFailedToParse: this document cannot be written, others can.
  Status Write(const bson_t* document) {
    if (options_.csv) {
      AppendCsvRow(text_, document, options_.fields);
      return Flush();
    }
    size_t size = 0;
    char* json = options_.json_format == JsonFormat::kCanonical ? bson_as_canonical_extended_json(document, &size)
                                                                : bson_as_relaxed_extended_json(document, &size);
    if (json == nullptr) return Status(Code::kFailedToParse, "it has a text that is not UTF-8, which JSON cannot hold");
    if (options_.json_array) text_ += first_ ? "" : ",\n";
    text_ += options_.pretty ? Indent({json, size}) : std::string(json, size);
    bson_free(json);
    if (!options_.json_array) text_ += '\n';
    first_ = false;
    return Flush();
  }

  Status Finish() {
    if (!options_.csv && options_.json_array) text_ += "]\n";
    BRAID_CHECK_OK(Flush());
    return std::fflush(out_) == 0 ? Status() : WriteError();
  }

 private:
  static Status WriteError() {
    return Status(errno == ENOSPC ? Code::kOutOfDiskSpace : Code::kBadValue, StrCat("cannot write: ", strerror(errno)));
  }
  Status Flush() {
    const bool ok = std::fwrite(text_.data(), 1, text_.size(), out_) == text_.size();
    text_.clear();
    return ok ? Status() : WriteError();
  }

  const ExportOptions& options_;
  FILE* const out_;
  std::string text_;
  bool first_ = true;
};

std::string IdOf(const bson_t* document) {
  bson_iter_t id;
  if (!bson_iter_init_find(&id, document, "_id")) return "a document without _id";
  Bson only;
  bson_append_iter(only.get(), nullptr, 0, &id);
  char* json = bson_as_relaxed_extended_json(only.get(), nullptr);
  std::string text = json == nullptr ? "a document" : json;
  bson_free(json);
  return text;
}

}  // namespace

Status Export(Clients& clients, const ExportOptions& options, FILE* out, ExportCounts& counts) {
  BRAID_TRY(const client::BsonPtr filter, ParseOption("--query", options.query.empty() ? "{}" : options.query));
  Bson opts;
  if (!options.sort.empty()) {
    BRAID_TRY(const client::BsonPtr sort, ParseOption("--sort", options.sort));
    BSON_APPEND_DOCUMENT(opts.get(), "sort", sort.get());
  }
  if (options.skip > 0) BSON_APPEND_INT64(opts.get(), "skip", options.skip);
  if (options.limit > 0) BSON_APPEND_INT64(opts.get(), "limit", options.limit);
  AppendProjection(opts.get(), options);

  const Client client = clients.Acquire();
  const client::CollectionPtr collection = client::CollectionOf(client.get(), options.database, options.collection);
  const client::CursorPtr cursor(mongoc_collection_find_with_opts(collection.get(), filter.get(), opts.get(), nullptr));
  Writer writer(options, out);
  BRAID_CHECK_OK(writer.Start());
  const bson_t* document = nullptr;
  while ((options.stop == nullptr || !options.stop->load()) && mongoc_cursor_next(cursor.get(), &document)) {
    const Status status = writer.Write(document);
    if (status.ok()) {
      ++counts.exported;
    } else if (status.code() == Code::kFailedToParse) {
      ++counts.failed;
      if (options.on_failure) options.on_failure(StrCat(IdOf(document), ": ", status.message()));
    } else {
      return status;
    }
  }
  bson_error_t error{};
  if (mongoc_cursor_error(cursor.get(), &error)) return client::FromError(error);
  return writer.Finish();
}

std::string Indent(std::string_view json) {
  std::string out;
  size_t level = 0;
  const auto line = [&] { out.append(1, '\n').append(level * 2, ' '); };
  for (size_t i = 0; i < json.size(); ++i) {
    const char c = json[i];
    if (c == '"') {
      const size_t start = i++;
      for (; json[i] != '"'; ++i) i += json[i] == '\\';
      out += json.substr(start, i - start + 1);
    } else if (c == '{' || c == '[') {
      const size_t next = json.find_first_not_of(" \n\t", i + 1);
      out += c;
      if (json[next] == '}' || json[next] == ']') {
        out += json[next];
        i = next;
        continue;
      }
      ++level;
      line();
    } else if (c == '}' || c == ']') {
      --level;
      line();
      out += c;
    } else if (c == ',') {
      out += c;
      line();
    } else if (c == ':') {
      out += ": ";
    } else if (c != ' ' && c != '\n' && c != '\t') {
      out += c;
    }
  }
  return out;
}

}  // namespace braid::transfer
