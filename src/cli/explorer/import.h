// What `braid explorer import` is made of: epochs of files, one JSON object per line, parsed ahead by a thread of its
// own; and where a stopped import continues, which is how many of its epochs have led to the present chain.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "braid/status.h"
#include "cli/transfer/lines.h"
#include "services/explorer/epoch.h"
#include "services/explorer/explorer.h"

namespace braid::cli::explorer {

/// Where an epoch was read.
struct EpochPlace {
  int64_t files_before = 0;
  std::string file;
  uint64_t line = 0;

  std::string ToString() const;  ///< "file:17"
};

/// Reads the files in their order, packed with gzip or not; "-" is standard input. Holds a bounded number of epochs and
/// bytes. One thread at a time; Position() and files_done() any.
class EpochReader {
 public:
  /// The first `skip_epochs` are neither parsed nor given.
  explicit EpochReader(std::vector<std::string> files, int64_t skip_epochs = 0);
  ~EpochReader();
  EpochReader(const EpochReader&) = delete;
  EpochReader& operator=(const EpochReader&) = delete;

  struct Batch {
    std::vector<braid::explorer::Epoch> epochs;
    std::vector<EpochPlace> places;  // of each
  };
  /// Waits for at least one epoch and gives all that are ready; none: the end, or `stop` became true. An unreadable
  /// file or a line that is not an epoch is an error that names it, returned after all earlier epochs; nothing follows.
  Result<Batch> Next(const std::atomic<bool>& stop);

  /// The file that is being read and its line, for people.
  std::string Position() const;
  /// Files read to their end.
  int64_t files_done() const { return files_done_.load(std::memory_order_relaxed); }

 private:
  void ReadFiles();
  Status ReadFile(size_t index);
  Status ReadLine(EpochPlace place, std::string_view line);

  const std::vector<std::string> files_;
  int64_t to_skip_;  // of the thread alone
  std::atomic<int64_t> files_done_ = 0;
  mutable Mutex mu_;
  CondVar changed_;
  Batch ready_ BRAID_GUARDED_BY(mu_);
  size_t ready_bytes_ BRAID_GUARDED_BY(mu_) = 0;            // of their lines
  transfer::Lines* lines_ BRAID_GUARDED_BY(mu_) = nullptr;  // of the file that is being read
  EpochPlace position_ BRAID_GUARDED_BY(mu_);
  Status failure_ BRAID_GUARDED_BY(mu_);
  bool ended_ BRAID_GUARDED_BY(mu_) = false;
  bool closing_ BRAID_GUARDED_BY(mu_) = false;
  std::thread thread_;
};

/// The first epochs of some files.
struct EpochsBefore {
  int64_t epochs = 0;
  int64_t blocks = 0;
  int64_t transactions = 0;
};

/// Epochs that lead from the first one of the files to the tip, by every switch of the pivot on the way. Importing them
/// again would pop the chain and grow it again, or fail where a switch is older than the history, only to end at the
/// same tip. None if the tip is not in the files, if an epoch on the way does not fit to those before it, or for
/// standard input and pipes, which can be read once only. The last time that the files lead to the tip counts.
Result<EpochsBefore> EpochsThatLedTo(braid::explorer::Explorer& explorer, const braid::explorer::At& tip,
                                     const std::vector<std::string>& files, const std::atomic<bool>& stop);

}  // namespace braid::cli::explorer
