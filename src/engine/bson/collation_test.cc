#include "engine/bson/collation.h"

#include "base/testing/testing.h"
#include "engine/bson/json.h"

namespace braid::bson {
namespace {

std::shared_ptr<const Collation> MakeCollation(const char* json) { return Collation::Parse(J(json)).value(); }
Code CodeOf(const char* json) { return Collation::Parse(J(json)).status().code(); }

TEST(CollationTest, DefaultsAreFilledIn) {
  EXPECT_EQ(
      ToJson(MakeCollation("{'locale': 'en_US'}")->spec()),
      R"({ "locale" : "en_US", "caseLevel" : false, "caseFirst" : "off", "strength" : 3, "numericOrdering" : false, )"
      R"("alternate" : "non-ignorable", "maxVariable" : "punct", "normalization" : false, "backwards" : false, )"
      R"("version" : "57.1" })");
  EXPECT_TRUE(MakeCollation("{'locale': 'fr_CA'}")->spec().Find("backwards").AsBool());  // as the locale has it
}

TEST(CollationTest, SimpleIsNone) { EXPECT_EQ(MakeCollation("{'locale': 'simple'}"), nullptr); }

TEST(CollationTest, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(CodeOf("{'locale': 'xx_nonsense'}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': ''}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 'en-US'}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 1}"), Code::kTypeMismatch);
  EXPECT_EQ(CodeOf("{}"), Location(40414));
  EXPECT_EQ(CodeOf("{'strength': 1}"), Location(40414));
  EXPECT_EQ(CodeOf("{'locale': 'en', 'colour': 1}"), Location(40415));
  EXPECT_EQ(CodeOf("{'locale': 'en', 'strength': 6}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 'en', 'strength': 1.5}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 'en', 'strength': 'x'}"), Code::kTypeMismatch);
  EXPECT_EQ(CodeOf("{'locale': 'en', 'caseFirst': 'sometimes'}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 'en', 'caseLevel': 'x'}"), Code::kTypeMismatch);
  EXPECT_EQ(CodeOf("{'locale': 'en', 'version': '1.0'}"), Code::kBadValue);
  EXPECT_EQ(CodeOf("{'locale': 'simple', 'strength': 1}"), Code::kBadValue);
}

TEST(CollationTest, KnowsLocales) {
  for (const char* locale : {"en", "en_US", "de", "de_AT", "fr_CA", "zh", "zh_Hant", "ja", "de@collation=phonebook"}) {
    EXPECT_OK(Collation::Parse(J(std::string("{'locale': '") + locale + "'}")));
  }
}

TEST(CollationTest, StrengthDecidesWhatIsEqual) {
  const auto primary = MakeCollation("{'locale': 'en', 'strength': 1}");
  const auto secondary = MakeCollation("{'locale': 'en', 'strength': 2}");
  const auto tertiary = MakeCollation("{'locale': 'en'}");
  EXPECT_EQ(primary->Compare("é", "E"), 0);
  EXPECT_NE(secondary->Compare("é", "e"), 0);
  EXPECT_EQ(secondary->Compare("É", "é"), 0);
  EXPECT_NE(tertiary->Compare("É", "é"), 0);
  EXPECT_EQ(secondary->SortKey("ABC"), secondary->SortKey("abc"));
}

TEST(CollationTest, OptionsChangeTheOrder) {
  EXPECT_GT(MakeCollation("{'locale': 'en'}")->Compare("9", "10"), 0);
  EXPECT_LT(MakeCollation("{'locale': 'en', 'numericOrdering': true}")->Compare("9", "10"), 0);
  EXPECT_LT(MakeCollation("{'locale': 'en', 'caseFirst': 'upper'}")->Compare("A", "a"), 0);
  EXPECT_GT(MakeCollation("{'locale': 'en', 'caseFirst': 'lower'}")->Compare("A", "a"), 0);
  EXPECT_EQ(MakeCollation("{'locale': 'en', 'alternate': 'shifted'}")->Compare("a-b", "ab"), 0);
  EXPECT_NE(MakeCollation("{'locale': 'en', 'alternate': 'shifted', 'maxVariable': 'space'}")->Compare("a-b", "ab"), 0);
  EXPECT_NE(MakeCollation("{'locale': 'en', 'strength': 1, 'caseLevel': true}")->Compare("a", "A"), 0);
}

TEST(CollationTest, SameMeansEqualSpecifications) {
  const auto plain = MakeCollation("{'locale': 'en'}");
  EXPECT_TRUE(Collation::Same(plain.get(), MakeCollation("{'strength': 3.0, 'locale': 'en'}").get()));
  EXPECT_FALSE(Collation::Same(plain.get(), MakeCollation("{'locale': 'en', 'strength': 2}").get()));
  EXPECT_FALSE(Collation::Same(plain.get(), nullptr));
  EXPECT_TRUE(Collation::Same(nullptr, nullptr));
}

}  // namespace
}  // namespace braid::bson
