// Documents and operations out of files.
#include <algorithm>

#include "base/random.h"
#include "base/strings.h"
#include "cli/advise/source.h"
#include "cli/transfer/reader.h"

namespace braid::advise {
namespace {

constexpr uint64_t kSeed = 1;  // the same file gives the same advice

Status At(const std::string& file, uint64_t line, const Status& status) {
  return Status(status.code(), StrCat(file == "-" ? "standard input" : file, ":", line, ": ", status.message()));
}

// Calls visit(line, document) for each document of the file, until it returns an error.
Status ForEach(const std::string& file, const std::function<Status(uint64_t, bson::View)>& visit) {
  BRAID_TRY(auto input, transfer::Input::Open(file));
  const auto reader = transfer::NewJsonReader(std::move(input));
  while (true) {
    auto next = reader->Next();
    if (!next.ok()) return Status(next.error().code(), StrCat(file, ": ", next.error().message()));
    if (!next->has_value()) return {};
    const transfer::Item& item = **next;
    const Status status = item.error.ok() ? visit(item.line, ViewOf(item.document.get())) : item.error;
    if (!status.ok()) return At(file, item.line, status);
  }
}

}  // namespace

Result<Sample> ReadSample(const std::string& file, size_t most, const std::atomic<bool>& stop) {
  Sample sample;
  sample.in_order = true;
  Random random(kSeed);
  std::vector<uint64_t> positions;  // of the documents in the file
  BRAID_CHECK_OK(ForEach(file, [&](uint64_t, bson::View document) {
    if (stop.load()) return Status(Code::kInterrupted, "interrupted");
    const uint64_t position = sample.total++;
    if (sample.documents.size() < most) {
      sample.documents.emplace_back(document);
      positions.push_back(position);
    } else if (const uint64_t place = random.Below(position + 1); place < most) {
      sample.documents[place] = bson::Document(document);
      positions[place] = position;
    }
    return Status();
  }));
  std::vector<size_t> order(positions.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return positions[a] < positions[b]; });
  std::vector<bson::Document> documents;
  documents.reserve(order.size());
  for (const size_t i : order) documents.push_back(std::move(sample.documents[i]));
  sample.documents = std::move(documents);
  return sample;
}

Result<ListedOperations> ReadOperations(const std::string& file, const std::string& collection) {
  ListedOperations listed;
  listed.collection = collection;
  BRAID_CHECK_OK(ForEach(file, [&](uint64_t, bson::View line) -> Status {
    BRAID_TRY(std::vector<Operation> operations, OperationsOf(line));
    for (Operation& operation : operations) {
      if (listed.collection.empty()) listed.collection = operation.collection;
      if (operation.collection == listed.collection) {
        listed.operations.push_back(std::move(operation));
      } else if (collection.empty()) {
        return Status(Code::kBadValue, StrCat("the operations are on several collections, ", listed.collection, " and ",
                                              operation.collection, ": say which one with --collection"));
      } else {
        ++listed.skipped;
      }
    }
    return {};
  }));
  return listed;
}

}  // namespace braid::advise
