// What the tests of plans share.
#include "engine/exec/plan/plan_fixture.h"
#include "base/strings.h"

namespace braid::query::plan {
namespace {

const catalog::Namespace kNamespace{"t", "c"};

std::unique_ptr<storage::Store> OpenStore(const std::filesystem::path& path) {
  storage::StoreOptions options;
  options.directory = path;
  options.cache_bytes = 8u << 20;
  auto store = storage::Store::Open(options);
  BRAID_ASSERT(store.ok());
  return *std::move(store);
}

std::unique_ptr<catalog::Catalog> LoadCatalog(storage::Store& store) {
  auto catalog = catalog::Catalog::Load(store);
  BRAID_ASSERT(catalog.ok());
  return *std::move(catalog);
}

void AppendStages(bson::View stage, std::string* out) {
  if (!out->empty()) *out += ' ';
  *out += stage.Find("stage").AsString();
  if (stage.Has("indexName")) *out += StrCat("(", stage.Find("indexName").AsString(), ")");
  if (stage.Has("inputStage")) AppendStages(stage.Find("inputStage").AsView(), out);
  if (!stage.Has("inputStages")) return;
  for (const bson::Element& input : stage.Find("inputStages").AsView()) AppendStages(input.value.AsView(), out);
}

}  // namespace

PlanFixture::PlanFixture()
    : store_(OpenStore(directory_.path())),
      catalog_(LoadCatalog(*store_)),
      shared_{*store_, *catalog_, locks_, operations_, clock_} {
  EXPECT_OK(catalog_->Create(kNamespace, bson::Document()));
  collection_ = catalog_->Find(kNamespace);
}

Status PlanFixture::TryIndex(bson::View specification) {
  BRAID_TRY(auto spec, catalog::IndexSpec::Parse(specification, nullptr));
  BRAID_TRY(const auto started, catalog_->StartIndexes(kNamespace, {std::move(spec)}));
  BRAID_CHECK_OK(catalog_->FinishIndexes(kNamespace, {started.collection->indexes.back()->number}));
  collection_ = catalog_->Find(kNamespace);
  return {};
}

void PlanFixture::Insert(bson::View document) {
  Session session(*this);
  ASSERT_OK(txn::Insert(session.context(), collection_, document));
  ASSERT_OK(session.context().Commit());
}

Query PlanFixture::Find(std::string_view filter, std::string_view sort, std::string_view projection) {
  return Find(bson::J(filter), bson::J(sort), bson::J(projection));
}

Query PlanFixture::Find(bson::View filter, bson::View sort, bson::View projection,
                        std::shared_ptr<const bson::Collation> collation) {
  Query query;
  auto environment = std::make_shared<Environment>();
  environment->collation = collation;
  query.environment = environment;
  query.collection = collection_;
  auto parsed = Filter::Parse(filter, environment);
  EXPECT_OK(parsed);
  query.filter = *parsed;
  auto order = SortPattern::Parse(sort, collation);
  EXPECT_OK(order);
  query.sort = *order;
  if (projection.empty()) return query;
  auto shown = Projection::Parse(projection, Projection::Use::kFind, &query.filter, environment);
  EXPECT_OK(shown);
  query.projection = *std::move(shown);
  query.projection_spec = bson::Document(projection);
  return query;
}

Result<std::vector<bson::Document>> PlanFixture::Read(Query query) {
  Session session(*this);
  BRAID_TRY(auto plan, Plan::Make(std::move(query)));
  std::vector<bson::Document> documents;
  for (;;) {
    bson::View document;
    BRAID_TRY(const bool more, plan->Next(session.context(), &document));
    if (!more) return documents;
    documents.emplace_back(document);
  }
}

std::string PlanFixture::Show(Query query) {
  auto documents = Read(std::move(query));
  if (!documents.ok()) return documents.error().ToString();
  std::string text;
  for (const bson::Document& document : *documents) text += (text.empty() ? "" : " ") + bson::ToShell(document.view());
  return text;
}

bson::Document PlanFixture::Explain(Query query) {
  Session session(*this);
  auto plan = Plan::Make(std::move(query));
  EXPECT_OK(plan);
  bson::View document;
  while ((*plan)->Next(session.context(), &document).value_or(false)) {
  }
  return (*plan)->Report(true).front().stages;
}

std::string PlanFixture::Stages(Query query) {
  std::string text;
  AppendStages(Explain(std::move(query)), &text);
  return text;
}

Result<int64_t> PlanFixture::Count(const Query& query) {
  Session session(*this);
  return query::Count(session.context(), query);
}

}  // namespace braid::query::plan
