// What the tests of the pipeline share: documents from a list, a host that writes down what it is asked, runs as text.
#pragma once

#include <string>
#include <vector>

#include "base/strings.h"
#include "engine/exec/pipeline/stage.h"
#include "engine/exec/plan/plan_fixture.h"

namespace braid::query::pipeline {

/// Hands out copies of its documents, each of which goes away at the next call.
class ListStream final : public Stream {
 public:
  explicit ListStream(std::vector<bson::Document> documents) : documents_(std::move(documents)) {}
  Result<bool> Next(txn::Context&, bson::View* document) override {
    if (next_ == documents_.size()) return false;
    current_ = std::make_unique<bson::Document>(documents_[next_++]);
    *document = *current_;
    return true;
  }

 private:
  std::vector<bson::Document> documents_;
  std::unique_ptr<bson::Document> current_;
  size_t next_ = 0;
};

/// Writes down every call: "begin t.o", "add { a: 1 }", "finish", ….
class RecordingHost final : public PipelineHost {
 public:
  Result<std::vector<bson::Document>> Report(txn::Context&, std::string_view stage, bson::View spec) override {
    log += StrCat("report ", stage, " ", bson::ToShell(spec), "\n");
    return std::vector<bson::Document>{bson::J("{'_id': 2}"), bson::J("{'_id': 1}")};
  }
  Status BeginOut(txn::Context&, const catalog::Namespace& target) override {
    log += StrCat("begin ", target.ToString(), "\n");
    return {};
  }
  Status AddOut(txn::Context&, bson::View document) override {
    log += StrCat("add ", bson::ToShell(document), "\n");
    return {};
  }
  Status FinishOut(txn::Context&) override {
    log += "finish\n";
    return {};
  }
  Status Merge(txn::Context& context, bson::View document, bson::View specification) override {
    if (!context.snapshot().empty()) log += "reads the pipeline's snapshot: ";
    log += StrCat("merge ", bson::ToShell(document), " ", bson::ToShell(specification), "\n");
    return {};
  }

  std::string log;
};

/// The array that a text in JSON stands for.
class Array {
 public:
  explicit Array(std::string_view json) : holder_(bson::J(StrCat("{'a': ", json, "}"))) {}
  bson::View view() const { return holder_.Find("a").AsView(); }
  std::vector<bson::Document> documents() const {
    std::vector<bson::Document> all;
    for (const bson::Element& element : view()) all.emplace_back(element.value.AsView());
    return all;
  }

 private:
  bson::Document holder_;
};

/// All documents of a stream.
inline Result<std::vector<bson::Document>> ReadAll(txn::Context& context, Stream& stream) {
  std::vector<bson::Document> all;
  bson::View document;
  for (;;) {
    BRAID_TRY(const bool more, stream.Next(context, &document));
    if (!more) return all;
    all.emplace_back(document);
  }
}

/// The stages over the documents, none of them joined to a query.
inline Result<std::vector<bson::Document>> RunStages(plan::PlanFixture& fixture, bson::View written,
                                                     std::vector<bson::Document> documents,
                                                     PipelineOptions options = {}) {
  if (options.environment == nullptr) options.environment = std::make_shared<Environment>();
  std::vector<StagePtr> stages;
  StageParser parser{options, stages};
  ListStream list(std::move(documents));
  for (const bson::Element& element : written) {
    BRAID_TRY(const bson::Element stage, SplitStage(element.value));
    BRAID_TRY(const StageDefinition* definition, FindStage(stage.name));
    BRAID_CHECK_OK(definition->parse(parser, stage.name, stage.value));
  }
  Stream* last = &list;
  for (const StagePtr& stage : stages) {
    stage->set_input(last);
    last = stage.get();
  }
  plan::PlanFixture::Session session(fixture);
  return ReadAll(session.context(), *last);
}

inline std::string Show(const Result<std::vector<bson::Document>>& documents) {
  if (!documents.ok()) return StrCat("error ", static_cast<int>(documents.error().code()));
  std::string text;
  for (const bson::Document& document : *documents) text += (text.empty() ? "" : " ") + bson::ToShell(document.view());
  return text;
}

}  // namespace braid::query::pipeline
