#include "engine/language/match/json_schema.h"

#include <algorithm>

#include "base/strings.h"
#include "engine/language/match/match_testing.h"

namespace braid::query {

namespace {

constexpr MatchCase kJsonSchemaCases[] = {
    {"{'$jsonSchema': {}}", "{'a': 1}", true},
    {"{'$jsonSchema': {'type': 'string'}}", "{}", false},
    {"{'$jsonSchema': {'title': 't', 'description': 'd', 'bsonType': 'object'}}", "{}", true},
    {"{'$jsonSchema': {'required': ['a', 'b']}}", "{'a': 1, 'b': null}", true},
    {"{'$jsonSchema': {'required': ['a', 'b']}}", "{'a': 1}", false},
    {"{'$jsonSchema': {'properties': {'a': {'bsonType': 'int'}}}}", "{'a': 1}", true},
    {"{'$jsonSchema': {'properties': {'a': {'bsonType': 'int'}}}}", "{'a': 1.5}", false},
    {"{'$jsonSchema': {'properties': {'a': {'bsonType': 'int'}}}}", "{}", true},
    {"{'$jsonSchema': {'properties': {'a': {'bsonType': ['int', 'string']}}}}", "{'a': 'x'}", true},
    {"{'$jsonSchema': {'properties': {'a': {'type': 'number'}}}}", "{'a': {'$numberDecimal': '1'}}", true},
    {"{'$jsonSchema': {'properties': {'a': {'type': 'boolean'}}}}", "{'a': 1}", false},
    {"{'$jsonSchema': {'properties': {'a': {'type': ['null', 'array', 'object']}}}}", "{'a': []}", true},
    // Types of array elements do not count as the array's.
    {"{'$jsonSchema': {'properties': {'a': {'type': 'number'}}}}", "{'a': [1]}", false},
    {"{'$jsonSchema': {'properties': {'a': {'minimum': 5}}}}", "{'a': 5}", true},
    {"{'$jsonSchema': {'properties': {'a': {'minimum': 5, 'exclusiveMinimum': true}}}}", "{'a': 5}", false},
    {"{'$jsonSchema': {'properties': {'a': {'maximum': 5, 'exclusiveMaximum': false}}}}", "{'a': 5.0}", true},
    {"{'$jsonSchema': {'properties': {'a': {'maximum': 5}}}}", "{'a': 6}", false},
    {"{'$jsonSchema': {'properties': {'a': {'maximum': 5}}}}", "{'a': 'x'}", true},
    {"{'$jsonSchema': {'properties': {'a': {'maximum': 5}}}}", "{'a': {'$numberDouble': 'NaN'}}", false},
    {"{'$jsonSchema': {'properties': {'a': {'multipleOf': 0.1}}}}", "{'a': 0.3}", true},
    {"{'$jsonSchema': {'properties': {'a': {'multipleOf': 4}}}}", "{'a': 6}", false},
    {"{'$jsonSchema': {'properties': {'a': {'minLength': 2}}}}", "{'a': 'ä'}", false},
    {"{'$jsonSchema': {'properties': {'a': {'maxLength': 1}}}}", "{'a': 'ä'}", true},
    {"{'$jsonSchema': {'properties': {'a': {'pattern': '^x'}}}}", "{'a': 'xy'}", true},
    {"{'$jsonSchema': {'properties': {'a': {'pattern': '^x'}}}}", "{'a': 'yx'}", false},
    {"{'$jsonSchema': {'properties': {'a': {'enum': [1, {'b': 1, 'c': 2}]}}}}", "{'a': {'c': 2, 'b': 1}}", true},
    {"{'$jsonSchema': {'properties': {'a': {'enum': [1, 'x']}}}}", "{'a': [1]}", false},
    {"{'$jsonSchema': {'properties': {'a': {'minItems': 1}}}}", "{'a': []}", false},
    {"{'$jsonSchema': {'properties': {'a': {'maxItems': 1}}}}", "{'a': [1]}", true},
    {"{'$jsonSchema': {'properties': {'a': {'uniqueItems': true}}}}", "{'a': [1, 1.0]}", false},
    {"{'$jsonSchema': {'properties': {'a': {'uniqueItems': true}}}}", "{'a': [{'b': 1, 'c': 2}, {'c': 2, 'b': 1}]}",
     false},
    {"{'$jsonSchema': {'properties': {'a': {'uniqueItems': true}}}}", "{'a': [1, 2, [1], 'x']}", true},
    {"{'$jsonSchema': {'properties': {'a': {'uniqueItems': false}}}}", "{'a': [1, 1]}", true},
    {"{'$jsonSchema': {'properties': {'a': {'items': {'type': 'number'}}}}}", "{'a': [1, 'x']}", false},
    {"{'$jsonSchema': {'properties': {'a': {'items': [{'type': 'number'}, {'type': 'string'}]}}}}",
     "{'a': [1, 'x', null]}", true},
    {"{'$jsonSchema': {'properties': {'a': {'items': [{'type': 'number'}], 'additionalItems': false}}}}",
     "{'a': [1, 2]}", false},
    {"{'$jsonSchema': {'properties': {'a': {'items': [{}], 'additionalItems': {'type': 'string'}}}}}",
     "{'a': [1, 'x']}", true},
    {"{'$jsonSchema': {'properties': {'a': {'items': [{}], 'additionalItems': {'type': 'string'}}}}}", "{'a': [1, 2]}",
     false},
    {"{'$jsonSchema': {'properties': {'a': {'items': {}, 'additionalItems': false}}}}", "{'a': [1, 2]}", true},
    {"{'$jsonSchema': {'properties': {'a': {}}, 'patternProperties': {'^x': {}}, 'additionalProperties': false}}",
     "{'a': 1, 'xy': 2}", true},
    {"{'$jsonSchema': {'properties': {'a': {}}, 'patternProperties': {'^x': {}}, 'additionalProperties': false}}",
     "{'b': 1}", false},
    {"{'$jsonSchema': {'additionalProperties': {'type': 'number'}}}", "{'a': 1, 'b': 'x'}", false},
    {"{'$jsonSchema': {'patternProperties': {'^x': {'type': 'string'}}}}", "{'xa': 1}", false},
    {"{'$jsonSchema': {'minProperties': 2}}", "{'a': 1}", false},
    {"{'$jsonSchema': {'maxProperties': 1}}", "{'a': 1}", true},
    {"{'$jsonSchema': {'dependencies': {'a': ['b']}}}", "{'a': 1}", false},
    {"{'$jsonSchema': {'dependencies': {'a': ['b']}}}", "{'c': 1}", true},
    {"{'$jsonSchema': {'dependencies': {'a': {'required': ['c']}}}}", "{'a': 1, 'c': 1}", true},
    {"{'$jsonSchema': {'allOf': [{'required': ['a']}, {'required': ['b']}]}}", "{'a': 1}", false},
    {"{'$jsonSchema': {'anyOf': [{'required': ['a']}, {'required': ['b']}]}}", "{'a': 1}", true},
    {"{'$jsonSchema': {'oneOf': [{'required': ['a']}, {'required': ['b']}]}}", "{'a': 1, 'b': 1}", false},
    {"{'$jsonSchema': {'not': {'required': ['a']}}}", "{'b': 1}", true},
    {"{'$and': [{'$jsonSchema': {'required': ['a']}}, {'a': {'$gt': 1}}]}", "{'a': 2}", true},
};

constexpr ErrorCase kJsonSchemaErrors[] = {
    {"{'$jsonSchema': 5}", 14},
    {"{'$jsonSchema': {'foo': 1}}", 9},
    {"{'$jsonSchema': {'format': 'date'}}", 9},
    {"{'$jsonSchema': {'type': 'integer'}}", 9},
    {"{'$jsonSchema': {'type': 'int'}}", 2},
    {"{'$jsonSchema': {'bsonType': 'foo'}}", 2},
    {"{'$jsonSchema': {'bsonType': 5}}", 14},
    {"{'$jsonSchema': {'type': 'object', 'bsonType': 'object'}}", 9},
    {"{'$jsonSchema': {'bsonType': []}}", 9},
    {"{'$jsonSchema': {'minimum': 'x'}}", 14},
    {"{'$jsonSchema': {'exclusiveMinimum': true}}", 9},
    {"{'$jsonSchema': {'maximum': 1, 'exclusiveMaximum': 1}}", 14},
    {"{'$jsonSchema': {'multipleOf': 0}}", 9},
    {"{'$jsonSchema': {'multipleOf': 'x'}}", 14},
    {"{'$jsonSchema': {'minLength': -1}}", 9},
    {"{'$jsonSchema': {'pattern': 5}}", 14},
    {"{'$jsonSchema': {'enum': []}}", 9},
    {"{'$jsonSchema': {'enum': [1, 1.0]}}", 9},
    {"{'$jsonSchema': {'enum': 1}}", 14},
    {"{'$jsonSchema': {'required': []}}", 9},
    {"{'$jsonSchema': {'required': ['a', 'a']}}", 9},
    {"{'$jsonSchema': {'required': [1]}}", 14},
    {"{'$jsonSchema': {'properties': 1}}", 14},
    {"{'$jsonSchema': {'properties': {'a': 1}}}", 14},
    {"{'$jsonSchema': {'additionalProperties': 1}}", 14},
    {"{'$jsonSchema': {'items': 1}}", 14},
    {"{'$jsonSchema': {'additionalItems': 1}}", 14},
    {"{'$jsonSchema': {'uniqueItems': 1}}", 14},
    {"{'$jsonSchema': {'allOf': []}}", 2},
    {"{'$jsonSchema': {'anyOf': {}}}", 14},
    {"{'$jsonSchema': {'not': 1}}", 14},
    {"{'$jsonSchema': {'dependencies': {'a': 1}}}", 14},
    {"{'$jsonSchema': {'title': 1}}", 14},
};

std::string Explanation(std::string_view validator, std::string_view document) {
  return bson::ToJson(ExplainMismatch(*ParseSpec(validator), Spec(document)));
}
std::string Json(std::string_view text) { return bson::ToJson(bson::J(text)); }

}  // namespace

std::span<const MatchCase> JsonSchemaCases() { return kJsonSchemaCases; }

TEST(JsonSchemaTest, Matches) { ExpectMatches(kJsonSchemaCases); }
TEST(JsonSchemaTest, Errors) { ExpectErrors(kJsonSchemaErrors); }

TEST(JsonSchemaTest, EveryKeywordHasACase) {
  const SchemaKeywordNames names = SchemaKeywords();
  for (std::string_view name : names.supported) {
    const std::string quoted = StrCat("'", name, "'");
    EXPECT_TRUE(std::any_of(std::begin(kJsonSchemaCases), std::end(kJsonSchemaCases), [&](const MatchCase& c) {
      return c.filter.find(quoted) != std::string_view::npos;
    })) << name;
  }
  for (std::string_view name : names.refused) {
    EXPECT_EQ(ParseSpec(StrCat("{'$jsonSchema': {'", name, "': 'x'}}")).status().code(), Code::kFailedToParse) << name;
  }
}

TEST(JsonSchemaTest, ExplainsASchema) {
  EXPECT_EQ(Explanation("{'$jsonSchema': {'title': 't', 'required': ['a', 'b'], 'properties': {'a': {'bsonType': "
                        "'int', 'description': 'd'}}}}",
                        "{'a': 'x'}"),
            Json("{'operatorName': '$jsonSchema', 'title': 't', 'schemaRulesNotSatisfied': ["
                 "{'operatorName': 'required', 'specifiedAs': {'required': ['a', 'b']}, 'missingProperties': ['b']},"
                 "{'operatorName': 'properties', 'propertiesNotSatisfied': [{'propertyName': 'a', 'description': 'd', "
                 "'details': ["
                 "{'operatorName': 'bsonType', 'specifiedAs': {'bsonType': 'int'}, 'reason': 'type did not match',"
                 " 'consideredValue': 'x', 'consideredType': 'string'}]}]}]}"));
}

// Every rule that fails says something, and only those that fail.
TEST(JsonSchemaTest, ExplainsEveryFailingCase) {
  for (const MatchCase& c : kJsonSchemaCases) {
    if (c.matches) continue;
    const bson::Document details = ExplainMismatch(*ParseSpec(c.filter), Spec(c.document));
    ASSERT_TRUE(details.Find("schemaRulesNotSatisfied").Is(bson::Type::kArray)) << c.filter;
    const bson::View rules = details.Find("schemaRulesNotSatisfied").AsView();
    ASSERT_EQ(rules.Count(), 1u) << c.filter;
    EXPECT_GE(rules.At(0).AsView().Count(), 2u) << c.filter;
  }
}

TEST(JsonSchemaTest, ExplainsConditions) {
  EXPECT_EQ(Explanation("{'a': {'$gt': 5}}", "{'a': 3}"),
            Json("{'operatorName': '$gt', 'specifiedAs': {'a': {'$gt': 5}}, 'reason': 'comparison failed', "
                 "'consideredValue': 3}"));
  EXPECT_EQ(Explanation("{'a': {'$gt': 5}}", "{}"),
            Json("{'operatorName': '$gt', 'specifiedAs': {'a': {'$gt': 5}}, 'reason': 'field was missing'}"));
  EXPECT_EQ(Explanation("{'a': {'$ne': 3}}", "{'a': 3}"),
            Json("{'operatorName': '$ne', 'specifiedAs': {'a': {'$ne': 3}}, 'reason': 'comparison succeeded', "
                 "'consideredValue': 3}"));
  EXPECT_EQ(Explanation("{'a': 1, 'b': 2}", "{'a': 1, 'b': [3]}"),
            Json("{'operatorName': '$and', 'clausesNotSatisfied': [{'index': 1, 'details': {'operatorName': '$eq', "
                 "'specifiedAs': "
                 "{'b': {'$eq': 2}}, 'reason': 'comparison failed', 'consideredValues': [3, [3]]}}]}"));
  EXPECT_EQ(Explanation("{'$nor': [{'a': {'$exists': true}}]}", "{'a': 1}"),
            Json("{'operatorName': '$nor', 'clausesSatisfied': [{'index': 0, 'details': {'operatorName': '$exists', "
                 "'specifiedAs': "
                 "{'a': {'$exists': true}}, 'reason': 'path does exist'}}]}"));
  EXPECT_EQ(Explanation("{'$expr': '$a'}", "{'a': 0}"),
            Json("{'operatorName': '$expr', 'specifiedAs': {'$expr': '$a'}, 'reason': 'expression did not match', "
                 "'expressionResult': false}"));
}

}  // namespace braid::query
