// A batch of outputs as the changes of one view, by partition.
#pragma once

#include <memory>

#include "braid/transaction.h"
#include "services/settlement/views/log_reader.h"
#include "services/settlement/views/marks.h"
#include "services/settlement/views/views.h"

namespace braid::settlement::views {

/// Any thread. The batch must outlive it.
class Plan {
 public:
  static std::unique_ptr<Plan> Make(View view, const Batch& batch);
  virtual ~Plan() = default;

  /// The documents of some partitions, and their marks, as they are after the batch. What the marks say is applied is
  /// left out.
  virtual Status Apply(Transaction& transaction, const std::string& collection,
                       const Marks::Partitions& partitions) const = 0;
};

/// What a view should be, from the log alone.
class Recount {
 public:
  using OnDocument = std::function<void(const std::string& id, const client::Bson& document)>;

  static std::unique_ptr<Recount> Make(View view);
  virtual ~Recount() = default;
  /// Only what the marks say is applied.
  virtual Status Add(const Batch& batch, const Marks& marks) = 0;
  virtual void ForEach(const OnDocument& each) const = 0;
};

}  // namespace braid::settlement::views
