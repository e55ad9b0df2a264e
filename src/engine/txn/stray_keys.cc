// Stray keys: finds keys of the store that belong to nothing.
#include "engine/txn/validate.h"

#include <map>

#include "base/assert.h"
#include "base/strings.h"
#include "base/work.h"
#include "engine/bson/validate.h"
#include "engine/catalog/catalog.h"
#include "engine/storage/keys.h"

namespace braid::txn {
namespace {

constexpr size_t kNumberedPrefix = 1 + 4;  // letter and number
constexpr size_t kCounterBytes = 8;

uint32_t NumberOf(std::string_view key) {
  BRAID_ASSERT(key.size() >= kNumberedPrefix);
  uint32_t number = 0;
  for (const char byte : key.substr(1, 4)) number = number << 8 | static_cast<uint8_t>(byte);
  return number;
}

class StrayKeys {
 public:
  StrayKeys(Context& context, const std::set<uint32_t>& numbers) : context_(context), numbers_(numbers) {}

  Result<StrayKeysReport> Run() {
    BRAID_CHECK_OK(ReadPendingDrops());
    const auto cursor = context_.NewCursor({});
    cursor->SeekToFirst();
    while (cursor->Valid()) {
      BRAID_CHECK_OK(Work::Current().Tick(StepsFor(cursor->value().size())));
      ++report_.keys;
      const std::string_view key = cursor->key();
      if (std::string_view("dius").find(key[0]) == std::string_view::npos || key.size() < kNumberedPrefix) {
        CheckValue(key, cursor->value());
        cursor->Next();
        continue;
      }
      // The documents and entries of one number: they were read with their collection, or belong to none.
      const uint32_t number = NumberOf(key);
      if (!numbers_.contains(number) && !pending_drops_.contains(number)) {
        Report(StrCat("keys ", Hex(key.substr(0, kNumberedPrefix)), "… have the number ", number,
                      ", which no collection and no index has"));
      }
      cursor->Seek(storage::PrefixEnd(key.substr(0, kNumberedPrefix)));
    }
    BRAID_CHECK_OK(cursor->status());
    return std::move(report_);
  }

 private:
  void Report(std::string error) {
    if (report_.errors.size() < StrayKeysReport::kErrorsMax) report_.errors.push_back(std::move(error));
  }

  Status ReadPendingDrops() {
    const auto cursor = context_.NewCursor(storage::PendingDropRange());
    for (cursor->SeekToFirst(); cursor->Valid(); cursor->Next()) {
      if (cursor->key().size() >= kNumberedPrefix) pending_drops_.insert(NumberOf(cursor->key()));
    }
    return cursor->status();
  }

  void CheckValue(std::string_view key, std::string_view value) {
    static const std::map<char, std::string_view> kNames = {
        {'b', "the record of a database"},     {'c', "the description of a collection"},
        {'h', "the record of the cluster"},    {'m', "the multikey bits of an index"},
        {'n', "the last number given out"},    {'t', "the record of a session"},
        {'x', "the record of an unended drop"}};
    const auto name = kNames.find(key[0]);
    if (name == kNames.end()) return Report(StrCat("the key ", Hex(key), " is of no known kind"));
    if (key[0] == 'm' || key[0] == 'n') {
      if (value.size() != kCounterBytes) Report(StrCat(name->second, ", key ", Hex(key), ", is not one"));
    } else if (key[0] != 'x') {
      const auto valid = bson::Validate(value);
      if (!valid.ok()) Report(StrCat(name->second, ", key ", Hex(key), ", is damaged: ", valid.error().message()));
    }
  }

  Context& context_;
  const std::set<uint32_t>& numbers_;
  std::set<uint32_t> pending_drops_;
  StrayKeysReport report_;
};

}  // namespace

std::set<uint32_t> NumbersInUse(const catalog::Catalog& catalog) {
  std::set<uint32_t> numbers;
  for (const catalog::CollectionPtr& collection : catalog.All()) {
    numbers.insert(collection->number);
    for (const auto& index : collection->indexes) numbers.insert(index->number);
  }
  return numbers;
}

Result<StrayKeysReport> CheckStrayKeys(Context& context, const std::set<uint32_t>& numbers) {
  context.FixSnapshot();
  return StrayKeys(context, numbers).Run();
}

}  // namespace braid::txn
