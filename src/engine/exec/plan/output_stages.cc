// Stages that make the documents to be shown, and SKIP and LIMIT.
#include "engine/exec/plan/output_stages.h"

#include <algorithm>

#include "engine/storage/keys.h"

namespace braid::query::plan {
namespace {

// Plain top-level fields, as against paths and computed values.
bool IsSimple(const Query& query) {
  if (query.projection_spec.empty()) {
    const auto* paths = query.projection->needed_paths();
    return paths != nullptr &&
           std::ranges::none_of(*paths, [](const std::string& path) { return path.find('.') != path.npos; });
  }
  for (const bson::Element& field : query.projection_spec.view()) {
    const bool flag = field.value.IsNumber() || field.value.Is(bson::Type::kBool);
    if (!flag || field.name.find_first_of(".$") != field.name.npos) return false;
  }
  return true;
}

// The n-th value of an entry; missing ones are left out of it.
bson::Value ValueOf(const Row& row, size_t field) { return row.values.Find(std::to_string(field)); }

}  // namespace

std::string_view ProjectionName(const Query& query, bool covered) {
  if (covered) return "PROJECTION_COVERED";
  return IsSimple(query) ? "PROJECTION_SIMPLE" : "PROJECTION_DEFAULT";
}

bool Covers(const IndexPath& path, const Projection& projection) {
  const auto* paths = projection.needed_paths();
  if (paths == nullptr || projection.positional() || path.multikey != 0) return false;
  return std::ranges::all_of(*paths, [&](const std::string& needed) {
    // An entry does not tell a missing "a.b" from a missing "a".
    if (needed.find('.') != needed.npos) return false;
    return std::ranges::any_of(path.index->spec.fields,
                               [&](const catalog::IndexField& field) { return field.path == needed && !field.hashed; });
  });
}

Project::Project(ShardRun& run, const Query& query, bool covered, std::unique_ptr<Stage> input)
    : Stage(run, ProjectionName(query, covered), std::move(input)), query_(query) {}

Result<bool> Project::Pull(txn::Context& context, Row* row) {
  BRAID_TRY(const bool more, input().Next(context, row));
  if (!more) return false;
  if (!row->has_document) {
    bson::Builder out;
    const auto& fields = row->index->index->spec.fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      if (query_.projection->needed_paths()->contains(fields[i].path)) out.Append(fields[i].path, ValueOf(*row, i));
    }
    covered_ = out.Finish();
    row->document = covered_;
  }
  arena_.Clear();
  BRAID_TRY(output_, query_.projection->Apply(row->document, arena_));
  row->document = output_;
  row->has_document = true;
  return true;
}

void Project::Describe(bson::Builder& out, bool) const {
  if (!query_.projection_spec.empty()) out.Append("transformBy", query_.projection_spec);
}

Result<bool> ReturnKey::Pull(txn::Context& context, Row* row) {
  BRAID_TRY(const bool more, input().Next(context, row));
  if (!more) return false;
  bson::Builder out;
  if (row->index != nullptr) {
    const auto& fields = row->index->index->spec.fields;
    for (size_t i = 0; i < fields.size(); ++i) {
      const bson::Value value = row->index->clustered ? row->document.Find("_id") : ValueOf(*row, i);
      if (value.missing()) {
        out.Append(fields[i].path, bson::Null());
      } else {
        out.Append(fields[i].path, value);
      }
    }
  }
  output_ = out.Finish();
  row->document = output_;
  return true;
}

Result<bool> RecordId::Pull(txn::Context& context, Row* row) {
  BRAID_TRY(const bool more, input().Next(context, row));
  if (!more) return false;
  static const size_t kPrefixSize = storage::DocumentPrefix(0, 0).size();
  bson::Builder out;
  out.AppendAll(row->document);
  out.Append("$recordId", bson::Binary{0, row->document_key.substr(kPrefixSize)});
  output_ = out.Finish();
  row->document = output_;
  return true;
}

Result<bool> Skip::Pull(txn::Context& context, Row* row) {
  for (; left_ > 0; --left_, ++figures_.works) {
    BRAID_TRY(const bool more, input().Next(context, row));
    if (!more) return false;
  }
  return input().Next(context, row);
}

Result<bool> Limit::Pull(txn::Context& context, Row* row) {
  if (left_ == 0) return false;
  --left_;
  return input().Next(context, row);
}

}  // namespace braid::query::plan
