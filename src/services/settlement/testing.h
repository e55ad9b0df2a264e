// What the tests of the settlement service share.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/testing/testing.h"
#include "client/handles.h"
#include "embedded/testing/stores.h"
#include "services/settlement/generator.h"
#include "services/settlement/service.h"

namespace braid::settlement {

using test::FlakyClients;

/// A store with a log of its own.
class SettlementStoreTest : public test::StoreTest {
 protected:
  Options TestOptions(const std::string& owner = "") const {
    Options options;
    options.database = store_.database();
    options.owner = owner;
    options.writers.writers = 3;
    options.writers.batch_records_max = 50;
    return options;
  }
  static std::unique_ptr<Settlement> Open(Clients& clients, const Options& options) {
    auto opened = Settlement::Open(clients, options);
    EXPECT_OK(opened);
    return *std::move(opened);
  }
  std::unique_ptr<Settlement> Open(const Options& options) { return Open(store_.clients(), options); }
  std::unique_ptr<Settlement> Open() { return Open(TestOptions()); }

  /// Submits the lines to one intake and gives the answers by line, from 1.
  static std::map<uint64_t, Answer> Ingest(Settlement& settlement, const std::vector<std::string>& lines) {
    Mutex mu;
    std::map<uint64_t, Answer> answers;
    Intake intake(settlement, [&](const Answer& answer) {
      const MutexLock lock(mu);
      EXPECT_TRUE(answers.emplace(answer.number, answer).second) << "answered twice: line " << answer.number;
    });
    for (const std::string& line : lines) intake.Submit(line);
    intake.Flush();
    EXPECT_EQ(answers.size(), lines.size());
    EXPECT_EQ(intake.totals().sum(), lines.size());
    return answers;
  }
  static Totals Count(const std::map<uint64_t, Answer>& answers) {
    Totals totals;
    for (const auto& [number, answer] : answers) ++totals.counts[static_cast<size_t>(answer.outcome)];
    return totals;
  }
  /// The payloads of the log in the order of sequences.
  static std::vector<std::string> Stored(Chains& chains) {
    std::vector<std::string> payloads;
    EXPECT_OK(chains.Merge(1, [&](const ChainRecordView& record) {
      payloads.emplace_back(record.payload);
      return Status();
    }));
    return payloads;
  }
  static void ExpectSound(Chains& chains) {
    const auto report = chains.Verify({});
    ASSERT_OK(report);
    for (const ChainDamage& damage : report->damage) {
      ADD_FAILURE() << "symbol " << damage.chain << ", output " << damage.sequence << ": " << damage.what;
    }
  }
};

inline std::vector<std::string> Generated(int outputs, GeneratorOptions options = {}) {
  options.seed = test::Seed();
  Generator generator(options);
  std::vector<std::string> lines;
  for (int i = 0; i < outputs; ++i) lines.push_back(ToJson(generator.Next()));
  return lines;
}

/// An output with one order update and nothing else.
inline Output OutputOf(int64_t symbol, int64_t sequence) {
  Output output;
  output.output_seq = sequence;
  output.order_update = {.order_id = {"o", false}, .user_id = {"7", true}, .symbol_id = symbol, .status = "NEW"};
  return output;
}

}  // namespace braid::settlement
