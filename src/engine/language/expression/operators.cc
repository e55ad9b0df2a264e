// The one table of operators, sorted by name; and those of MongoDB 7.0 that Braid knows and refuses.
#include "engine/language/expression/operators.h"

#include <algorithm>

#include "engine/language/expression/functions.h"

namespace braid::query {
namespace {

using namespace functions;  // NOLINT(google-build-using-namespace): the table names most of them

constexpr Operator Takes(std::string_view name, Function* function, int min, int max) {
  return {.name = name, .function = function, .operands_min = min, .operands_max = max};
}
constexpr Operator Takes(std::string_view name, Function* function, int count) {
  return Takes(name, function, count, count);
}
constexpr Operator TakesAny(std::string_view name, Function* function) { return Takes(name, function, 0, kAnyNumber); }
constexpr Operator Named(std::string_view name, Function* function, const NamedOperands* operands) {
  return {.name = name, .function = function, .named = operands};
}
constexpr Operator Parsed(std::string_view name, Parser* parser) { return {.name = name, .parser = parser}; }

constexpr Operator kOperators[] = {
    Takes("$abs", Abs, 1),
    Takes("$acos", Acos, 1),
    Takes("$acosh", Acosh, 1),
    TakesAny("$add", Add),
    Takes("$allElementsTrue", AllElementsTrue, 1),
    Parsed("$and", ParseAnd),
    Takes("$anyElementTrue", AnyElementTrue, 1),
    Takes("$arrayElemAt", ArrayElemAt, 2),
    Takes("$arrayToObject", ArrayToObject, 1),
    Takes("$asin", Asin, 1),
    Takes("$asinh", Asinh, 1),
    Takes("$atan", Atan, 1),
    Takes("$atan2", Atan2, 2),
    Takes("$atanh", Atanh, 1),
    TakesAny("$avg", Avg),
    Takes("$binarySize", BinarySize, 1),
    TakesAny("$bitAnd", BitAnd),
    Takes("$bitNot", BitNot, 1),
    TakesAny("$bitOr", BitOr),
    TakesAny("$bitXor", BitXor),
    Takes("$bsonSize", BsonSize, 1),
    Takes("$ceil", Ceil, 1),
    Takes("$cmp", Cmp, 2),
    TakesAny("$concat", Concat),
    TakesAny("$concatArrays", ConcatArrays),
    Parsed("$cond", ParseCond),
    Parsed("$const", ParseLiteral),
    Named("$convert", Convert, &kConvertOperands),
    Takes("$cos", Cos, 1),
    Takes("$cosh", Cosh, 1),
    Named("$dateAdd", DateAdd, &kDateAddOperands),
    Named("$dateDiff", DateDiff, &kDateDiffOperands),
    Parsed("$dateFromParts", ParseDateFromParts),
    Named("$dateFromString", DateFromString, &kDateFromStringOperands),
    Named("$dateSubtract", DateSubtract, &kDateAddOperands),
    Named("$dateToParts", DateToParts, &kDateToPartsOperands),
    Named("$dateToString", DateToString, &kDateToStringOperands),
    Named("$dateTrunc", DateTrunc, &kDateTruncOperands),
    Parsed("$dayOfMonth", ParseDatePart),
    Parsed("$dayOfWeek", ParseDatePart),
    Parsed("$dayOfYear", ParseDatePart),
    Takes("$degreesToRadians", DegreesToRadians, 1),
    Takes("$divide", Divide, 2),
    Takes("$eq", Eq, 2),
    Takes("$exp", Exp, 1),
    Parsed("$filter", ParseFilter),
    Takes("$first", First, 1),
    Named("$firstN", FirstN, &kNOperands),
    Takes("$floor", Floor, 1),
    Parsed("$getField", ParseGetField),
    Takes("$gt", Gt, 2),
    Takes("$gte", Gte, 2),
    Parsed("$hour", ParseDatePart),
    Parsed("$ifNull", ParseIfNull),
    Takes("$in", In, 2),
    Takes("$indexOfArray", IndexOfArray, 2, 4),
    Takes("$indexOfBytes", IndexOfBytes, 2, 4),
    Takes("$indexOfCP", IndexOfCp, 2, 4),
    Takes("$isArray", IsArray, 1),
    Takes("$isNumber", IsNumber, 1),
    Parsed("$isoDayOfWeek", ParseDatePart),
    Parsed("$isoWeek", ParseDatePart),
    Parsed("$isoWeekYear", ParseDatePart),
    Takes("$last", Last, 1),
    Named("$lastN", LastN, &kNOperands),
    Parsed("$let", ParseLet),
    Parsed("$literal", ParseLiteral),
    Takes("$ln", Ln, 1),
    Takes("$log", Log, 2),
    Takes("$log10", Log10, 1),
    Takes("$lt", Lt, 2),
    Takes("$lte", Lte, 2),
    Named("$ltrim", LTrim, &kTrimOperands),
    Parsed("$map", ParseMap),
    TakesAny("$max", Max),
    Named("$maxN", MaxN, &kNOperands),
    Named("$median", Median, &kMedianOperands),
    TakesAny("$mergeObjects", MergeObjects),
    Parsed("$millisecond", ParseDatePart),
    TakesAny("$min", Min),
    Named("$minN", MinN, &kNOperands),
    Parsed("$minute", ParseDatePart),
    Takes("$mod", Mod, 2),
    Parsed("$month", ParseDatePart),
    TakesAny("$multiply", Multiply),
    Takes("$ne", Ne, 2),
    Takes("$not", Not, 1),
    Takes("$objectToArray", ObjectToArray, 1),
    Parsed("$or", ParseOr),
    Named("$percentile", Percentile, &kPercentileOperands),
    Takes("$pow", Pow, 2),
    Takes("$radiansToDegrees", RadiansToDegrees, 1),
    Parsed("$rand", ParseRand),
    Takes("$range", Range, 2, 3),
    Parsed("$reduce", ParseReduce),
    Parsed("$regexFind", ParseRegexFind),
    Parsed("$regexFindAll", ParseRegexFindAll),
    Parsed("$regexMatch", ParseRegexMatch),
    Named("$replaceAll", ReplaceAll, &kReplaceOperands),
    Named("$replaceOne", ReplaceOne, &kReplaceOperands),
    Takes("$reverseArray", ReverseArray, 1),
    Takes("$round", Round, 1, 2),
    Named("$rtrim", RTrim, &kTrimOperands),
    Parsed("$second", ParseDatePart),
    Takes("$setDifference", SetDifference, 2),
    Takes("$setEquals", SetEquals, 2, kAnyNumber),
    Parsed("$setField", ParseSetField),
    TakesAny("$setIntersection", SetIntersection),
    Takes("$setIsSubset", SetIsSubset, 2),
    TakesAny("$setUnion", SetUnion),
    Takes("$sin", Sin, 1),
    Takes("$sinh", Sinh, 1),
    Takes("$size", Size, 1),
    Takes("$slice", Slice, 2, 3),
    Parsed("$sortArray", ParseSortArray),
    Takes("$split", SplitString, 2),
    Takes("$sqrt", Sqrt, 1),
    TakesAny("$stdDevPop", StdDevPop),
    TakesAny("$stdDevSamp", StdDevSamp),
    Takes("$strLenBytes", StrLenBytes, 1),
    Takes("$strLenCP", StrLenCp, 1),
    Takes("$strcasecmp", StrCaseCmp, 2),
    Takes("$substr", SubstrBytes, 3),
    Takes("$substrBytes", SubstrBytes, 3),
    Takes("$substrCP", SubstrCp, 3),
    Takes("$subtract", Subtract, 2),
    TakesAny("$sum", Sum),
    Parsed("$switch", ParseSwitch),
    Takes("$tan", Tan, 1),
    Takes("$tanh", Tanh, 1),
    Takes("$toBool", ToBool, 1),
    Takes("$toDate", ToDate, 1),
    Takes("$toDecimal", ToDecimal, 1),
    Takes("$toDouble", ToDouble, 1),
    Takes("$toHashedIndexKey", ToHashedIndexKey, 1),
    Takes("$toInt", ToInt, 1),
    Takes("$toLong", ToLong, 1),
    Takes("$toLower", ToLower, 1),
    Takes("$toObjectId", ToObjectId, 1),
    Takes("$toString", ToString, 1),
    Takes("$toUpper", ToUpper, 1),
    Named("$trim", Trim, &kTrimOperands),
    Takes("$trunc", Trunc, 1, 2),
    Takes("$tsIncrement", TsIncrement, 1),
    Takes("$tsSecond", TsSecond, 1),
    Takes("$type", TypeOfValue, 1),
    Parsed("$unsetField", ParseUnsetField),
    Parsed("$week", ParseDatePart),
    Parsed("$year", ParseDatePart),
    Parsed("$zip", ParseZip),
};

constexpr std::string_view kRefusedOperators[] = {
    "$accumulator",  // server-side JavaScript
    "$function",     // server-side JavaScript
    "$meta",         // text search scores and sort keys
};

static_assert(std::ranges::is_sorted(kOperators, {}, &Operator::name));
static_assert(std::ranges::is_sorted(kRefusedOperators));

}  // namespace

const Operator* FindOperator(std::string_view name) {
  const Operator* found = std::ranges::lower_bound(kOperators, name, {}, &Operator::name);
  return found != std::end(kOperators) && found->name == name ? found : nullptr;
}

bool IsRefusedOperator(std::string_view name) { return std::ranges::binary_search(kRefusedOperators, name); }

OperatorNames ExpressionOperators() {
  OperatorNames names;
  for (const Operator& op : kOperators) names.supported.push_back(op.name);
  names.refused.assign(std::begin(kRefusedOperators), std::end(kRefusedOperators));
  return names;
}

}  // namespace braid::query
