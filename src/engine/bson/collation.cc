#include "engine/bson/collation.h"

#include <unicode/ucol.h>
#include <unicode/uloc.h>
#include <unicode/ustring.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "base/strings.h"
#include "engine/bson/builder.h"
#include "engine/bson/number.h"

namespace braid::bson {
namespace {

constexpr char kVersion[] = "57.1";  // the ICU whose order MongoDB 4.4 to 7.0 names

/// A word of the specification and ICU's value for it.
struct Word {
  std::string_view name;
  int value;
};
constexpr Word kCaseFirst[] = {{"off", UCOL_OFF}, {"upper", UCOL_UPPER_FIRST}, {"lower", UCOL_LOWER_FIRST}};
constexpr Word kAlternate[] = {{"non-ignorable", UCOL_NON_IGNORABLE}, {"shifted", UCOL_SHIFTED}};
constexpr Word kMaxVariable[] = {{"punct", UCOL_REORDER_CODE_PUNCTUATION}, {"space", UCOL_REORDER_CODE_SPACE}};
constexpr int kStrengths[] = {UCOL_PRIMARY, UCOL_SECONDARY, UCOL_TERTIARY, UCOL_QUATERNARY, UCOL_IDENTICAL};

/// The specification with MongoDB's defaults. `backwards` unset: the locale's default (true for Canadian French).
struct Options {
  std::string locale;
  bool case_level = false;
  std::string_view case_first = "off";
  int64_t strength = 3;
  bool numeric_ordering = false;
  std::string_view alternate = "non-ignorable";
  std::string_view max_variable = "punct";
  bool normalization = false;
  std::optional<bool> backwards;
};

Status WrongType(std::string_view field, const Value& value, std::string_view expected) {
  return Status(Code::kTypeMismatch, StrCat("BSON field 'collation.", field, "' is the wrong type '",
                                            TypeName(value.type()), "', expected type '", expected, "'"));
}

Status ReadBool(const Element& element, bool* out) {
  if (element.value.Is(Type::kBool)) {
    *out = element.value.AsBool();
  } else if (element.value.IsNumber()) {
    *out = IsTruthy(element.value);
  } else {
    return WrongType(element.name, element.value, "bool");
  }
  return Status();
}

template <size_t kSize>
Status ReadWord(const Element& element, const Word (&words)[kSize], std::string_view* out) {
  if (!element.value.Is(Type::kString)) return WrongType(element.name, element.value, "string");
  for (const Word& word : words) {
    if (word.name == element.value.AsString()) {
      *out = word.name;
      return Status();
    }
  }
  return Status(Code::kBadValue, StrCat("Enumeration value '", element.value.AsString(), "' for field 'collation.",
                                        element.name, "' is not a valid value."));
}

template <size_t kSize>
int ValueOf(const Word (&words)[kSize], std::string_view name) {
  return std::find_if(words, words + kSize, [name](const Word& word) { return word.name == name; })->value;
}

Status ReadStrength(const Element& element, int64_t* out) {
  if (!element.value.IsNumber()) return WrongType(element.name, element.value, "int");
  const std::optional<int64_t> strength = Number::Of(element.value).ToInt64Exact();
  if (!strength || *strength < 1 || *strength > 5) {
    return Status(Code::kBadValue, "Field 'collation.strength' must be an integer 1 through 5");
  }
  *out = *strength;
  return Status();
}

Status ReadVersion(const Element& element) {
  if (!element.value.Is(Type::kString)) return WrongType(element.name, element.value, "string");
  if (element.value.AsString() == kVersion) return Status();
  return Status(Code::kBadValue, StrCat("Requested collation version ", element.value.AsString(),
                                        " but the only available collator version was ", kVersion));
}

Status ReadField(const Element& element, Options* options) {
  const std::string_view name = element.name;
  if (name == "locale") {
    if (!element.value.Is(Type::kString)) return WrongType(name, element.value, "string");
    options->locale = element.value.AsString();
    return Status();
  }
  if (name == "strength") return ReadStrength(element, &options->strength);
  if (name == "caseLevel") return ReadBool(element, &options->case_level);
  if (name == "caseFirst") return ReadWord(element, kCaseFirst, &options->case_first);
  if (name == "numericOrdering") return ReadBool(element, &options->numeric_ordering);
  if (name == "alternate") return ReadWord(element, kAlternate, &options->alternate);
  if (name == "maxVariable") return ReadWord(element, kMaxVariable, &options->max_variable);
  if (name == "normalization") return ReadBool(element, &options->normalization);
  if (name == "backwards") return ReadBool(element, &options->backwards.emplace());
  if (name == "version") return ReadVersion(element);
  return Status(Location(40415), StrCat("BSON field 'collation.", name, "' is an unknown field."));
}

Status BadLocale(std::string_view locale) {
  return Status(Code::kBadValue, StrCat("Field 'locale' is invalid in: { locale: \"", locale, "\" }"));
}

/// ICU gives the root order for a locale it does not know; only one that it lists, or that it maps to one (en_US to
/// en), is accepted. The text must be the canonical spelling: "en-US" and "EN" are refused, as MongoDB does.
Status CheckLocale(const std::string& locale) {
  UErrorCode error = U_ZERO_ERROR;
  char canonical[ULOC_FULLNAME_CAPACITY];
  const int32_t size = uloc_canonicalize(locale.c_str(), canonical, sizeof(canonical), &error);
  if (locale.empty() || locale.find('\0') != std::string::npos || U_FAILURE(error) ||
      error == U_STRING_NOT_TERMINATED_WARNING || std::string_view(canonical, static_cast<size_t>(size)) != locale) {
    return BadLocale(locale);
  }
  char language[ULOC_LANG_CAPACITY];
  uloc_getLanguage(locale.c_str(), language, sizeof(language), &error);
  if (U_FAILURE(error)) return BadLocale(locale);
  for (int32_t i = 0; i < uloc_countAvailable(); ++i) {
    const char* known = uloc_getAvailable(i);
    const size_t length = std::strlen(language);
    if (std::strncmp(known, language, length) == 0 && (known[length] == '\0' || known[length] == '_')) return Status();
  }
  return BadLocale(locale);
}

}  // namespace

struct Collation::Impl {
  UCollator* collator = nullptr;
  Impl() = default;
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (collator != nullptr) ucol_close(collator);
  }
};

Collation::Collation(std::unique_ptr<Impl> impl, Document spec) : impl_(std::move(impl)), spec_(std::move(spec)) {}
Collation::~Collation() = default;

Result<std::shared_ptr<const Collation>> Collation::Parse(View spec) {
  Options options;
  for (const Element& element : spec) BRAID_CHECK_OK(ReadField(element, &options));
  if (!spec.Has("locale")) {
    return Status(Location(40414), "BSON field 'collation.locale' is missing but a required field");
  }
  if (options.locale == "simple") {
    if (spec.Count() == 1) return std::shared_ptr<const Collation>();
    return Status(Code::kBadValue, "If 'locale' is 'simple', no other collation fields may be given");
  }
  BRAID_CHECK_OK(CheckLocale(options.locale));

  auto impl = std::make_unique<Impl>();
  UErrorCode error = U_ZERO_ERROR;
  impl->collator = ucol_open(options.locale.c_str(), &error);
  if (U_FAILURE(error)) return BadLocale(options.locale);
  const auto set = [&](UColAttribute attribute, int value) {
    ucol_setAttribute(impl->collator, attribute, static_cast<UColAttributeValue>(value), &error);
  };
  set(UCOL_STRENGTH, kStrengths[options.strength - 1]);
  set(UCOL_CASE_LEVEL, options.case_level ? UCOL_ON : UCOL_OFF);
  set(UCOL_CASE_FIRST, ValueOf(kCaseFirst, options.case_first));
  set(UCOL_NUMERIC_COLLATION, options.numeric_ordering ? UCOL_ON : UCOL_OFF);
  set(UCOL_ALTERNATE_HANDLING, ValueOf(kAlternate, options.alternate));
  set(UCOL_NORMALIZATION_MODE, options.normalization ? UCOL_ON : UCOL_OFF);
  if (options.backwards) {
    set(UCOL_FRENCH_COLLATION, *options.backwards ? UCOL_ON : UCOL_OFF);
  } else {
    options.backwards = ucol_getAttribute(impl->collator, UCOL_FRENCH_COLLATION, &error) == UCOL_ON;
  }
  ucol_setMaxVariable(impl->collator, static_cast<UColReorderCode>(ValueOf(kMaxVariable, options.max_variable)),
                      &error);
  if (U_FAILURE(error)) return Status(Code::kBadValue, StrCat("collation refused by ICU: ", u_errorName(error)));

  Document full = Make("locale", options.locale, "caseLevel", options.case_level, "caseFirst", options.case_first,
                       "strength", static_cast<int32_t>(options.strength), "numericOrdering", options.numeric_ordering,
                       "alternate", options.alternate, "maxVariable", options.max_variable, "normalization",
                       options.normalization, "backwards", *options.backwards, "version", kVersion);
  return std::shared_ptr<const Collation>(new Collation(std::move(impl), std::move(full)));
}

int Collation::Compare(std::string_view a, std::string_view b) const {
  UErrorCode error = U_ZERO_ERROR;
  const UCollationResult order = ucol_strcollUTF8(impl_->collator, a.data(), static_cast<int32_t>(a.size()), b.data(),
                                                  static_cast<int32_t>(b.size()), &error);
  BRAID_ASSERT(U_SUCCESS(error));
  return order;
}

std::string Collation::SortKey(std::string_view text) const {
  constexpr UChar32 kReplacement = 0xFFFD;  // for bytes that are not UTF-8, as Compare reads them
  std::vector<UChar> wide(text.size() + 1);
  int32_t length = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strFromUTF8WithSub(wide.data(), static_cast<int32_t>(wide.size()), &length, text.data(),
                       static_cast<int32_t>(text.size()), kReplacement, nullptr, &error);
  BRAID_ASSERT(U_SUCCESS(error));
  std::string key(text.size() * 4 + 16, '\0');
  const auto fill = [&] {
    return ucol_getSortKey(impl_->collator, wide.data(), length, reinterpret_cast<uint8_t*>(key.data()),
                           static_cast<int32_t>(key.size()));
  };
  int32_t size = fill();
  if (static_cast<size_t>(size) > key.size()) {
    key.resize(static_cast<size_t>(size));
    size = fill();
  }
  key.resize(static_cast<size_t>(size) - 1);  // without ICU's own terminator
  return key;
}

bool Collation::Same(const Collation* a, const Collation* b) {
  if (a == nullptr || b == nullptr) return a == b;
  return a->spec_.bytes() == b->spec_.bytes();
}

}  // namespace braid::bson
