// RetryNotes: which statements of a retryable write are done and what they answered, in memory and in the store.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/bson/builder.h"
#include "engine/bson/value.h"
#include "engine/storage/store.h"

namespace braid::commands {

/// The notes of one transaction number of one session. A run of consecutive statements with the same result is one
/// note, so that a statement costs the same whether it is the first or the fifty-thousandth. The first run is kept in
/// the session's own record unless its result is large, every further one under a key of its own: most requests have
/// one statement, and cost one key. Used by one request at a time.
class RetryNotes {
 public:
  bool empty() const { return runs_.empty(); }
  /// The result of the statement; null if it was not run.
  const bson::Document* Find(int32_t statement) const;
  void Add(int32_t statement, bson::Document result);

  /// Adds the first run to the session's record, and what else is new since the last call to a commit, and removes from
  /// the store what was forgotten.
  void Store(storage::WriteSet& writes, std::string_view lsid, int64_t number, bson::Builder& record);
  /// Replaces the notes in memory by those of the store. `record` is the session's if that is of this number, else
  /// empty.
  Status Load(const storage::Store& store, std::string_view lsid, int64_t number, bson::View record);
  /// Called when the number is superseded: its notes are removed by the next Store().
  void Forget(std::string_view lsid, int64_t number);

 private:
  struct Run {
    int32_t count = 1;
    bson::Document result;  // as the command wants it back; empty for inserts
  };
  static Result<Run> Parse(bson::View note, std::string_view lsid);
  static void Append(const Run& run, bson::Builder& note);

  std::map<int32_t, Run> runs_;        // by their first statement
  std::optional<int32_t> in_record_;   // the run that is kept in the session's record
  std::vector<int32_t> changed_;       // first statements of runs that the store does not have like this
  std::vector<std::string> obsolete_;  // keys in the store that are to be removed
};

}  // namespace braid::commands
