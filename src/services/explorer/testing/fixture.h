// What the tests of the explorer's writing side share: an index on a store, and everything in it as text.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "client/fields.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/explorer/collections.h"
#include "services/explorer/explorer.h"
#include "services/explorer/testing/index_model.h"

namespace braid::explorer::testkit {

class IndexTest : public braid::test::StoreTest {
 protected:
  void SetUp() override { Reopen({}); }

  /// The options' database is the test's.
  void Reopen(ExplorerOptions options) {
    options.database = store_.database();
    auto opened = Explorer::Open(store_.clients(), options);
    ASSERT_OK(opened);
    explorer_ = *std::move(opened);
  }

  /// Takes all of them, in as many calls as it takes; the first error, if any.
  Status TakeAll(const std::vector<EpochDraft>& drafts) {
    const std::vector<Epoch> epochs = Parsed(drafts);
    std::span<const Epoch> rest(epochs);
    while (!rest.empty()) {
      BRAID_TRY(const Explorer::Taken taken, explorer_->Take(rest));
      EXPECT_GT(taken.taken, 0);
      EXPECT_EQ(taken.taken, taken.grown + taken.skipped);
      rest = rest.subspan(static_cast<size_t>(taken.taken));
    }
    return {};
  }

  /// Every document that an epoch has added.
  Contents Everything() {
    Contents contents;
    for (const std::string& name : EpochCollections()) {
      const Client client = store_.clients().Acquire();
      const auto handle = client::CollectionOf(client.get(), store_.database(), name);
      const client::Bson all;
      const client::CursorPtr cursor(mongoc_collection_find_with_opts(handle.get(), all.get(), nullptr, nullptr));
      auto& documents = contents[name];
      const bson_t* document = nullptr;
      while (mongoc_cursor_next(cursor.get(), &document)) {
        const std::string_view text = client::TextOf(document, "_id");
        const auto owned = OwnedIdOf(*document);
        const std::string id = owned          ? owned->ToText()
                               : text.empty() ? StrCat(client::IntegerOf(document, "_id"))
                                              : std::string(text);
        documents.emplace(id, CanonicalJson(document));
      }
      bson_error_t error{};
      EXPECT_FALSE(mongoc_cursor_error(cursor.get(), &error)) << error.message;
    }
    return contents;
  }

  /// The index holds what the epochs alone would have made.
  void ExpectIndexOf(const std::vector<EpochDraft>& epochs) {
    const IndexModel model(epochs);
    const Contents found = Everything();
    for (const auto& [collection, expected] : model.contents()) EXPECT_EQ(found.at(collection), expected) << collection;
    const auto tip = explorer_->Tip();
    ASSERT_OK(tip);
    EXPECT_EQ(tip->epoch, epochs.empty() ? -1 : epochs.back().number);
    EXPECT_EQ(tip->pivot, epochs.empty() ? "" : epochs.back().hash());
  }

  /// The digest, of an index without damage.
  std::string VerifiedDigest(const std::vector<EpochDraft>& epochs) {
    const IndexModel model(epochs);
    const auto verification = explorer_->Verify(nullptr);
    EXPECT_OK(verification);
    if (!verification.ok()) return {};
    for (const TimelineDamage& damage : verification->timeline.damage)
      ADD_FAILURE() << damage.epoch << " " << damage.what;
    EXPECT_EQ(verification->timeline.epochs, static_cast<int64_t>(epochs.size()));
    EXPECT_EQ(verification->blocks, model.blocks());
    EXPECT_EQ(verification->transactions, model.transactions());
    return verification->timeline.digest;
  }

  /// The epochs are refused with this code and this text, and nothing has changed.
  void ExpectRefused(const std::vector<EpochDraft>& drafts, Code code, std::string_view text) {
    const Contents before = Everything();
    const auto tip = explorer_->Tip();
    const Status status = TakeAll(drafts);
    EXPECT_EQ(status.code(), code) << status.ToString();
    EXPECT_NE(status.message().find(text), std::string_view::npos) << status.ToString();
    EXPECT_EQ(Everything(), before);
    EXPECT_EQ(explorer_->Tip()->pivot, tip->pivot);
  }

  std::unique_ptr<Explorer> explorer_;
};

}  // namespace braid::explorer::testkit
