#include "cli/advise/operation.h"

#include <gmock/gmock.h>

#include "base/strings.h"
#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::advise {
namespace {

using bson::J;
using testing::ElementsAre;
using testing::HasSubstr;

// "weight × shape", one each.
std::vector<std::string> Show(const Result<std::vector<Operation>>& operations) {
  if (!operations.ok()) return {StrCat("! ", operations.error().message())};
  std::vector<std::string> shown;
  for (const Operation& operation : *operations) {
    std::string text = StrCat(operation.weight, " ", operation.Shape());
    for (const std::string& field : operation.changed) text += StrCat(" changes ", field);
    shown.push_back(std::move(text));
  }
  return shown;
}
std::vector<std::string> Listed(std::string_view text) { return Show(OperationsOf(J(text))); }
std::vector<std::string> Sampled(std::string_view text) { return Show(OperationsOfSample(J(text))); }

TEST(OperationTest, EveryCommand) {
  EXPECT_THAT(Listed("{'find': 'c', 'filter': {'a': 1}, 'sort': {'b': -1}, 'count': 120}"),
              ElementsAre("120 find { a: ? } sort { b: -1 }"));
  EXPECT_THAT(Listed("{'find': 'c'}"), ElementsAre("1 find {}"));
  EXPECT_THAT(Listed("{'update': 'c', 'q': {'a': 1}, 'u': {'$set': {'b': 2}, '$inc': {'n.x': 1}}, 'weight': 2.5}"),
              ElementsAre("2.5 update { a: ? } changes b changes n.x"));
  EXPECT_THAT(Listed("{'update': 'c', 'updates': [{'q': {'a': 1}, 'u': {'b': 1}}, {'q': {}, 'u': []}], 'weight': 3}"),
              ElementsAre("3 update { a: ? }", "3 update {}"));
  EXPECT_THAT(Listed("{'insert': 'c', 'count': 50}"), ElementsAre("50 insert"));
  EXPECT_THAT(Listed("{'insert': 'c', 'documents': [{'a': 1}, {'a': 2}]}"), ElementsAre("1 insert", "1 insert"));
  EXPECT_THAT(Listed("{'delete': 'c', 'q': {'a': 1}}"), ElementsAre("1 delete { a: ? }"));
  EXPECT_THAT(Listed("{'delete': 'c', 'deletes': [{'q': {'a': 1}, 'limit': 1}]}"), ElementsAre("1 delete { a: ? }"));
  EXPECT_THAT(Listed("{'findAndModify': 'c', 'query': {'a': 1}, 'update': {'$set': {'s': 1}}}"),
              ElementsAre("1 findAndModify { a: ? } changes s"));
  EXPECT_THAT(Listed("{'distinct': 'c', 'key': 'x', 'query': {'a': 1}}"), ElementsAre("1 distinct { a: ? }"));
  EXPECT_THAT(Listed("{'count': 'c', 'query': {'a': 1}, 'weight': 7}"), ElementsAre("7 count { a: ? }"));
  EXPECT_THAT(Listed("{'aggregate': 'c', 'pipeline': [{'$match': {'a': 1}}, {'$group': {'_id': 1}}]}"),
              ElementsAre("1 aggregate { a: ? }"));
  EXPECT_THAT(
      Listed("{'aggregate': 'c', 'pipeline': [{'$match': {'a': 1}}, {'$sort': {'z': 1}}, {'$match': {'b': 1}}]}"),
      ElementsAre("1 aggregate { $and: [{ a: ? }, { b: ? }] } sort { z: 1 }"));
  EXPECT_THAT(Listed("{'aggregate': 'c', 'pipeline': [{'$limit': 5}, {'$match': {'a': 1}}]}"),
              ElementsAre("1 aggregate {}"));
}

TEST(OperationTest, Mistakes) {
  EXPECT_THAT(Listed("{'fetch': 'c'}"), ElementsAre(HasSubstr("the commands are aggregate, count")));
  EXPECT_THAT(Listed("{'find': 'c', 'filter': 5}"), ElementsAre(HasSubstr("\"filter\" must be a document")));
  EXPECT_THAT(Listed("{'find': 'c', 'weight': 'often'}"), ElementsAre(HasSubstr("a number, not \"often\"")));
  EXPECT_THAT(Listed("{'find': 'c', 'weight': -1}"), ElementsAre(HasSubstr("a number, not -1")));
  EXPECT_THAT(Listed("{'update': 'c', 'updates': [5]}"), ElementsAre(HasSubstr("\"updates\" must be")));
  EXPECT_THAT(Listed("{'aggregate': 'c', 'pipeline': 5}"), ElementsAre(HasSubstr("\"pipeline\" must be")));
}

TEST(OperationTest, RowsOfTheServer) {
  EXPECT_THAT(Sampled("{'cmdName': 'find', 'cmd': {'filter': {'a': 1}, 'collation': {'locale': 'simple'}}}"),
              ElementsAre("1 find { a: ? }"));
  EXPECT_THAT(Sampled("{'cmdName': 'aggregate', 'cmd': {'filter': {'a': 1}, 'collation': {'locale': 'de'}}}"),
              ElementsAre("1 aggregate { a: ? } with a collation"));
  EXPECT_THAT(Sampled("{'cmdName': 'count', 'cmd': {'filter': {'a': 1}}}"), ElementsAre("1 count { a: ? }"));
  EXPECT_THAT(Sampled("{'cmdName': 'update', 'cmd': {'q': {'a': 1}, 'u': {'$set': {'b': 1}}, 'multi': false}}"),
              ElementsAre("1 update { a: ? } changes b"));
  EXPECT_THAT(Sampled("{'cmdName': 'delete', 'cmd': {'delete': 'c', 'deletes': [{'q': {'a': 1}, 'limit': 1}]}}"),
              ElementsAre("1 delete { a: ? }"));
  EXPECT_THAT(Sampled("{'cmdName': 'findAndModify', 'cmd': {'findAndModify': 'c', 'query': {'a': 1}}}"),
              ElementsAre("1 findAndModify { a: ? }"));
  EXPECT_THAT(Sampled("{'cmdName': 'insert', 'cmd': {'insert': 'c', 'documents': 7}}"), ElementsAre("7 insert"));
  EXPECT_THAT(Sampled("{'cmdName': 'mapReduce', 'cmd': {}}"), ElementsAre(HasSubstr("not understood")));
}

TEST(ShapeTest, OperatorsStayAndValuesGo) {
  const auto shape = [](std::string_view filter) {
    Operation operation;
    operation.command = "find";
    operation.filter = J(filter);
    return operation.Shape();
  };
  EXPECT_EQ(shape("{'a': {'$gte': 1, '$lt': 5}, 'b': 'x'}"), "find { a: { $gte: ?, $lt: ? }, b: ? }");
  EXPECT_EQ(shape("{'a': {'$in': [1, 2]}}"), "find { a: { $in: [?] } }");
  EXPECT_EQ(shape("{'a': {'x': 1}, 'b': [1]}"), "find { a: ?, b: [?] }");
  EXPECT_EQ(shape("{'a': null}"), "find { a: null }");
  EXPECT_EQ(shape("{'$or': [{'a': 1}, {'a': 2}, {'b': {'$gt': 1}}]}"), "find { $or: [{ a: ? }, { b: { $gt: ? } }] }");
  EXPECT_EQ(shape("{'a': {'$elemMatch': {'x': 1, 'y': {'$gt': 2}}}}"),
            "find { a: { $elemMatch: { x: ?, y: { $gt: ? } } } }");
  EXPECT_EQ(shape("{'a': {'$not': {'$gt': 2}}}"), "find { a: { $not: { $gt: ? } } }");
}

}  // namespace
}  // namespace braid::advise
