// Declares every operator's function, operands or parser, by file; the table in operators.cc names them.
#pragma once

#include "engine/language/expression/operators.h"

namespace braid::query::functions {

// arithmetic.cc
Function Abs, Add, Ceil, Divide, Floor, Mod, Multiply, Subtract;
// powers.cc
Function Exp, Ln, Log, Log10, Pow, Sqrt;
// rounding.cc
Function Round, Trunc;
// bits.cc
Function BitAnd, BitNot, BitOr, BitXor;
// trigonometry.cc
Function Acos, Acosh, Asin, Asinh, Atan, Atan2, Atanh, Cos, Cosh, DegreesToRadians, RadiansToDegrees, Sin, Sinh, Tan,
    Tanh;
// boolean.cc
Function Cmp, Eq, Gt, Gte, Lt, Lte, Ne;
// boolean.cc, conditional.cc, variables.cc
Function Not;
Parser ParseAnd, ParseOr, ParseCond, ParseIfNull, ParseSwitch, ParseLet, ParseLiteral;
// array.cc
Function ArrayElemAt, ConcatArrays, First, In, IndexOfArray, IsArray, Last, Range, ReverseArray, Size, Slice;
Parser ParseZip;
// array_objects.cc
Function ArrayToObject, ObjectToArray;
// array_iteration.cc
Parser ParseFilter, ParseMap, ParseReduce;
// array_order.cc
Function FirstN, LastN, MaxN, MinN;
extern const NamedOperands kNOperands;
Parser ParseSortArray;
// set.cc
Function AllElementsTrue, AnyElementTrue, SetDifference, SetEquals, SetIntersection, SetIsSubset, SetUnion;
// statistics.cc
Function Avg, Max, MergeObjects, Min, StdDevPop, StdDevSamp, Sum, Median, Percentile;
extern const NamedOperands kMedianOperands, kPercentileOperands;
// string.cc
Function Concat, StrCaseCmp, StrLenBytes, StrLenCp, SubstrBytes, SubstrCp, ToLower, ToUpper;
// string_search.cc
Function IndexOfBytes, IndexOfCp, ReplaceAll, ReplaceOne, SplitString;
extern const NamedOperands kReplaceOperands;
// string_trim.cc
Function LTrim, RTrim, Trim;
extern const NamedOperands kTrimOperands;
// regex.cc
Parser ParseRegexFind, ParseRegexFindAll, ParseRegexMatch;
// date_parts.cc
Parser ParseDatePart;
Function DateToParts;
extern const NamedOperands kDateToPartsOperands;
// date_from_parts.cc
Parser ParseDateFromParts;
// date_text.cc
Function DateToString, DateFromString;
extern const NamedOperands kDateToStringOperands, kDateFromStringOperands;
// date_math.cc
Function DateAdd, DateDiff, DateSubtract, DateTrunc;
extern const NamedOperands kDateAddOperands, kDateDiffOperands, kDateTruncOperands;
// object.cc
Parser ParseGetField, ParseSetField, ParseUnsetField;
// type.cc
Function BinarySize, BsonSize, IsNumber, ToHashedIndexKey, TsIncrement, TsSecond, TypeOfValue;
// random.cc
Parser ParseRand;
// convert.cc
Function Convert, ToBool, ToDate, ToDecimal, ToDouble, ToInt, ToLong, ToObjectId, ToString;
extern const NamedOperands kConvertOperands;

}  // namespace braid::query::functions
