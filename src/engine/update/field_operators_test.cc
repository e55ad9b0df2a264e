#include "engine/update/testing.h"

namespace braid::update::test {
namespace {

TEST(UpdateSet, ReplacesInPlaceAndAppendsInPathOrder) {
  Check({
      {"{'_id': 1, 'a': 1, 'b': 2}", "{'$set': {'a': 'x'}}", "{'_id': 1, 'a': 'x', 'b': 2}"},
      {"{'_id': 1}", "{'$set': {'z': 1, 'b': 2, 'a': 3}}", "{'_id': 1, 'a': 3, 'b': 2, 'z': 1}"},
      {"{'_id': 1}", "{'$set': {'10': 1, '9': 2, 'a': 3}}", "{'_id': 1, '9': 2, '10': 1, 'a': 3}"},
      {"{'_id': 1, 'b': 1}", "{'$set': {'c': 1}, '$inc': {'a': 1}}", "{'_id': 1, 'b': 1, 'a': 1, 'c': 1}"},
      {"{'_id': 1}", "{'$set': {'a.b.c': 1, 'a.b.a': 2}}", "{'_id': 1, 'a': {'b': {'a': 2, 'c': 1}}}"},
      {"{'_id': 1, 'a': {'x': 1, 'y': 2}}", "{'$set': {'a.x': {'q': 1}}}", "{'_id': 1, 'a': {'x': {'q': 1}, 'y': 2}}"},
      {"{'_id': 1, 'a': 1, 'a.b': 5}", "{'$set': {'c': 2}}", "{'_id': 1, 'a': 1, 'a.b': 5, 'c': 2}"},
  });
}

TEST(UpdateSet, ChangesNothingIfTheValueIsThere) {
  Check({
      {"{'_id': 1, 'a': 1}", "{'$set': {'a': 1}}", "="},
      {"{'_id': 1, 'a': {'b': [1]}}", "{'$set': {'a.b.0': 1}}", "="},
      {"{'_id': 1, 'a': 1}", "{'$set': {'a': 1.0}}", "{'_id': 1, 'a': 1.0}"},
      {"{'_id': 1}", "{'$set': {'_id': 1}}", "="},
      {"{'_id': 1}", "{'$set': {}}", "="},
      {"{'_id': 1, 'a': 1}", "{'$setOnInsert': {'a': 2, 'b.c': 3, 'a.b': 4}}", "!40"},
      {"{'_id': 1, 'a': 1}", "{'$setOnInsert': {'a.b': 2, 'b.c': 3}}", "="},
  });
}

TEST(UpdateSet, GoesThroughArraysByNumber) {
  Check({
      {"{'_id': 1, 'a': [1, 2]}", "{'$set': {'a.1': 5}}", "{'_id': 1, 'a': [1, 5]}"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.3': 5}}", "{'_id': 1, 'a': [1, null, null, 5]}"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.3.b': 5, 'a.2': 1}}", "{'_id': 1, 'a': [1, null, 1, {'b': 5}]}"},
      {"{'_id': 1, 'a': [{'b': 1}]}", "{'$set': {'a.0.b': 5}}", "{'_id': 1, 'a': [{'b': 5}]}"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.b': 5}}", "!28"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.1500001': 5}}", "!34"},
      {"{'_id': 1, 'a': [1]}", "{'$set': {'a.0': 5, 'a.00': 6}}", "!40"},
      {"{'_id': 1}", "{'$set': {'a.0': 5}}", "{'_id': 1, 'a': {'0': 5}}"},
  });
}

TEST(UpdateSet, RefusesBadPaths) {
  Check({
      {"{'_id': 1, 'a': 5}", "{'$set': {'a.b': 1}}", "!28"},
      {"{'_id': 1, 'a': null}", "{'$set': {'a.b': 1}}", "!28"},
      {"{'_id': 1}", "{'$set': {'': 1}}", "!56"},
      {"{'_id': 1}", "{'$set': {'a..b': 1}}", "!56"},
      {"{'_id': 1}", "{'$set': {'a.': 1}}", "!56"},
      {"{'_id': 1}", "{'$set': {'$a': 1}}", "!52"},
      {"{'_id': 1}", "{'$set': {'a.$b': 1}}", "!52"},
      {"{'_id': 1}", "{'$set': {'a.$id': 1}}", "{'_id': 1, 'a': {'$id': 1}}"},
      {"{'_id': 1}", "{'$set': {'a': {'$b': 1, 'c.d': 2}}}", "{'_id': 1, 'a': {'$b': 1, 'c.d': 2}}"},
      {"{'_id': 1}", "{'$set': {'_id': 2}}", "!66"},
      {"{'_id': {'a': 1}}", "{'$set': {'_id.a': 2}}", "!66"},
      {"{'_id': 1}", "{'$unset': {'_id': 1}}", "!66"},
  });
}

TEST(UpdateConflicts, SamePathOrPrefix) {
  Check({
      {"{'_id': 1}", "{'$set': {'a': 1}, '$inc': {'a': 1}}", "!40"},
      {"{'_id': 1}", "{'$set': {'a': 1, 'a.b': 1}}", "!40"},
      {"{'_id': 1}", "{'$set': {'a.b': 1}, '$unset': {'a': 1}}", "!40"},
      {"{'_id': 1}", "{'$rename': {'a': 'b'}, '$set': {'a': 1}}", "!40"},
      {"{'_id': 1}", "{'$rename': {'a': 'b'}, '$set': {'b.c': 1}}", "!40"},
      {"{'_id': 1}", "{'$set': {'a.$[].b': 1, 'a.0.c': 1}}", "!40"},
      {"{'_id': 1}", "{'$set': {'ab': 1, 'a': 1}}", "{'_id': 1, 'a': 1, 'ab': 1}"},
  });
}

TEST(UpdateParse, RefusesUnknownAndMalformedOperators) {
  Check({
      {"{'_id': 1}", "{'$foo': {'a': 1}}", "!9"},
      {"{'_id': 1}", "{'$set': {'a': 1}, 'b': 1}", "!9"},
      {"{'_id': 1}", "{'$set': 5}", "!9"},
      {"{'_id': 1}", "5", "!9"},
  });
  const auto update = ParseCase({"{}", "{'$foo': {'a': 1}}", ""});
  EXPECT_TRUE(update.error().message().starts_with("Unknown modifier: $foo"));
}

/// Whatever the order of the fields in the document, the operation that comes first in the tree complains first.
TEST(UpdateParse, ReportsTheFirstErrorInPathOrder) {
  Check({
      {"{'_id': 1, 'b': 'x', 'a': 'x'}", "{'$inc': {'b': 1}, '$push': {'a': 1}}", "!2"},
      {"{'_id': 1, 'a': 'x', 'b': 'x'}", "{'$inc': {'b': 1}, '$push': {'a': 1}}", "!2"},
      {"{'_id': 1, 'b': 'x', 'a': 'x'}", "{'$inc': {'a': 1}, '$push': {'b': 1}}", "!14"},
      {"{'_id': 1, 'c': {'b': 'x', 'a': 'x'}}", "{'$inc': {'c.a': 1}, '$push': {'c.b': 1}}", "!14"},
  });
}

TEST(UpdateUnset, RemovesFieldsAndEmptiesSlots) {
  Check({
      {"{'_id': 1, 'a': 1, 'b': 2}", "{'$unset': {'a': ''}}", "{'_id': 1, 'b': 2}"},
      {"{'_id': 1, 'a': {'b': 1}}", "{'$unset': {'a.b': ''}}", "{'_id': 1, 'a': {}}"},
      {"{'_id': 1, 'a': [1, 2]}", "{'$unset': {'a.0': ''}}", "{'_id': 1, 'a': [null, 2]}"},
      {"{'_id': 1, 'a': [1]}", "{'$unset': {'a.5': '', 'a.x': '', 'b.c': '', '_id.x': ''}}", "="},
      {"{'_id': 1, 'a': 5}", "{'$unset': {'a.b': ''}}", "="},
  });
}

TEST(UpdateMinMax, KeepsTheBound) {
  Check({
      {"{'_id': 1, 'a': 5}", "{'$min': {'a': 3}}", "{'_id': 1, 'a': 3}"},
      {"{'_id': 1, 'a': 5}", "{'$min': {'a': 5.0}}", "="},
      {"{'_id': 1, 'a': 5}", "{'$max': {'a': 3}}", "="},
      {"{'_id': 1, 'a': 5}", "{'$max': {'a': 'x'}}", "{'_id': 1, 'a': 'x'}"},
      {"{'_id': 1, 'a': 5}", "{'$min': {'a': null}}", "{'_id': 1, 'a': null}"},
      {"{'_id': 1}", "{'$max': {'a.b': 3}}", "{'_id': 1, 'a': {'b': 3}}"},
  });
}

TEST(UpdateCurrentDate, TakesTheEnvironmentsClock) {
  Check({
      {"{'_id': 1}", "{'$currentDate': {'a': true}}", "{'_id': 1, 'a': {'$date': {'$numberLong': '1700000000000'}}}"},
      {"{'_id': 1, 'a': 1}", "{'$currentDate': {'a': {'$type': 'date'}}}",
       "{'_id': 1, 'a': {'$date': {'$numberLong': '1700000000000'}}}"},
      {"{'_id': 1}", "{'$currentDate': {'a': {'$type': 'timestamp'}}}",
       "{'_id': 1, 'a': {'$timestamp': {'t': 1700000000, 'i': 5}}}"},
      {"{'_id': 1}", "{'$currentDate': {'a': 1}}", "!2"},
      {"{'_id': 1}", "{'$currentDate': {'a': {}}}", "!2"},
      {"{'_id': 1}", "{'$currentDate': {'a': {'$type': 'x'}}}", "!2"},
      {"{'_id': 1}", "{'$currentDate': {'a': {'$type': 1}}}", "!2"},
      {"{'_id': 1}", "{'$currentDate': {'a': {'type': 'date'}}}", "!2"},
  });
}

TEST(UpdateRename, MovesTheValue) {
  Check({
      {"{'_id': 1, 'a': 1, 'b': 2}", "{'$rename': {'a': 'c'}}", "{'_id': 1, 'b': 2, 'c': 1}"},
      {"{'_id': 1, 'a': 1, 'b': 2}", "{'$rename': {'b': 'a'}}", "{'_id': 1, 'a': 2}"},
      {"{'_id': 1, 'a': {'x': 1}}", "{'$rename': {'a.x': 'b.c.d'}}", "{'_id': 1, 'a': {}, 'b': {'c': {'d': 1}}}"},
      {"{'_id': 1, 'a': {'x': 1}}", "{'$rename': {'a.x': 'a.y'}}", "{'_id': 1, 'a': {'y': 1}}"},
      {"{'_id': 1, 'b': 1}", "{'$rename': {'a': 'c', 'x.y': 'z.z'}}", "="},
      {"{'_id': 1, 'a': [1]}", "{'$rename': {'a': 'b'}}", "{'_id': 1, 'b': [1]}"},
      {"{'_id': 1, 'a': [{'b': 1}]}", "{'$rename': {'a.0.b': 'c'}}", "!2"},
      {"{'_id': 1, 'a': [{'b': 1}], 'c': 1}", "{'$rename': {'c': 'a.0.x'}}", "!2"},
      {"{'_id': 1, 'a': [1], 'c': 1}", "{'$rename': {'c': 'a.x'}}", "!2"},
      {"{'_id': 1, 'a': 5}", "{'$rename': {'a.b': 'c'}}", "!28"},
      {"{'_id': 1, 'a': 5, 'c': 1}", "{'$rename': {'c': 'a.b'}}", "!28"},
      {"{'_id': 1, 'a': 5}", "{'$rename': {'_id': 'b'}}", "!66"},
      {"{'_id': 1, 'a': 5}", "{'$rename': {'a': '_id'}}", "!66"},
  });
}

TEST(UpdateRename, RefusesBadOperands) {
  Check({
      {"{'_id': 1}", "{'$rename': {'a': 5}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a': 'a'}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a': 'a.b'}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a.b': 'a'}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a': ''}}", "!56"},
      {"{'_id': 1}", "{'$rename': {'a': '$b'}}", "!52"},
      {"{'_id': 1}", "{'$rename': {'a.$': 'b'}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a': 'b.$[]'}}", "!2"},
      {"{'_id': 1}", "{'$rename': {'a': 'b', 'b': 'c'}}", "!40"},
  });
}

}  // namespace
}  // namespace braid::update::test
