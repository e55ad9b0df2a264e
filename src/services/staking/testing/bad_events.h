// Every kind of event that cannot be processed, with a part of the reason that must be given (A7, F1).
#pragma once

#include <string>
#include <vector>

#include "base/strings.h"

namespace braid::staking::test {

struct BadEvent {
  std::string line;
  std::string reason;
};

inline std::string Digits(char digit, size_t count = 64) { return std::string(count, digit); }

/// An active event as JSON, from the JSON of its fields.
inline std::string ActiveLine(const std::string& hash, const std::string& value, const std::string& more = "") {
  return StrCat(R"({"event_type":"active","staking_tx_hash_hex":)", hash, R"(,"staker_pk_hex":")", Digits('1'),
                R"(","finality_provider_pk_hex":")", Digits('2'), R"(","staking_value":)", value, more, "}");
}

inline std::vector<BadEvent> BadEvents() {
  const std::string hash = StrCat("\"", Digits('a'), "\"");
  const std::string good = ActiveLine(hash, "5");
  const auto without = [&](const std::string& field) {
    std::string line = good;
    line.replace(line.find(StrCat("\"", field, "\"")), field.size() + 2, "\"other\"");
    return line;
  };
  const auto type = [&](const std::string& json) {
    return StrCat(R"({"event_type":)", json, R"(,"staking_tx_hash_hex":)", hash, "}");
  };
  const auto key = [&](const std::string& digits) {
    return StrCat(R"({"event_type":"active","staking_tx_hash_hex":)", hash, R"(,"staker_pk_hex":")", digits, R"("})");
  };
  std::string deep;
  for (int i = 0; i < 3000; ++i) deep += "[";
  // The fortieth character of the type, up to which the reason repeats it, has two bytes.
  const std::string cut = StrCat(Digits('x', 39), "é", Digits('y', 5));
  return {
      {without("event_type"), "event_type is missing"},
      {without("staking_tx_hash_hex"), "staking_tx_hash_hex is missing"},
      {without("staker_pk_hex"), "staker_pk_hex is missing"},
      {without("finality_provider_pk_hex"), "finality_provider_pk_hex is missing"},
      {without("staking_value"), "staking_value is missing"},
      {R"({"event_type":"unbonded"})", "staking_tx_hash_hex is missing"},
      {"{}", "event_type is missing"},
      {ActiveLine(hash, "-5"), "staking_value is -5; it must be 1 to 2100000000000000"},
      {ActiveLine(hash, "0"), "staking_value is 0; it must be 1 to 2100000000000000"},
      {ActiveLine(hash, "-0"), "staking_value is 0; it must be 1"},
      {ActiveLine(hash, "1.5"), "staking_value is not an integer"},
      {ActiveLine(hash, "1e3"), "staking_value is not an integer"},
      {ActiveLine(hash, "\"5\""), "staking_value is not an integer"},
      {ActiveLine(hash, "null"), "staking_value is not an integer"},
      {ActiveLine(hash, "2100000000000001"), "staking_value is 2100000000000001; it must be at most 2100000000000000"},
      {ActiveLine(hash, "9223372036854775808"), "it must be at most 2100000000000000"},
      {ActiveLine(hash, "99999999999999999999999"), "not valid JSON"},
      {ActiveLine("\"" + Digits('a', 63) + "\"", "5"), "staking_tx_hash_hex has 63 characters; it must be 64"},
      {ActiveLine("\"" + Digits('a', 66) + "\"", "5"), "staking_tx_hash_hex has 66 characters; it must be 64"},
      {ActiveLine("\"\"", "5"), "staking_tx_hash_hex has 0 characters"},
      {ActiveLine("\"" + Digits('g') + "\"", "5"), "staking_tx_hash_hex is not hexadecimal"},
      {ActiveLine("\"0x" + Digits('a', 62) + "\"", "5"), "staking_tx_hash_hex is not hexadecimal"},
      {ActiveLine("\"" + Digits('a', 63) + ":\"", "5"), "staking_tx_hash_hex is not hexadecimal"},
      {ActiveLine("\"" + Digits('a', 63) + "\\u0000\"", "5"), "staking_tx_hash_hex is not hexadecimal"},
      {ActiveLine("17", "5"), "staking_tx_hash_hex is not a string"},
      {ActiveLine("null", "5"), "staking_tx_hash_hex is not a string"},
      {key(Digits('1', 65)), "staker_pk_hex has 65 characters; it must be 64 or 66"},
      {key(Digits(' ')), "staker_pk_hex is not hexadecimal"},
      {type("\"Active\""), "event_type 'Active' is unknown: it is active or unbonded"},
      {type("\"\""), "event_type '' is unknown"},
      {type("\"slashed\""), "event_type 'slashed' is unknown"},
      {type("\"" + cut + "\""), "is unknown: it is active or unbonded"},
      {type("0"), "event_type 0 is unknown: it is 1 (active) or 2 (unbonded)"},
      {type("3"), "event_type 3 is unknown"},
      {type("1.0"), "event_type is neither a string nor 1 or 2"},
      {type("true"), "event_type is neither a string nor 1 or 2"},
      {type("null"), "event_type is neither a string nor 1 or 2"},
      {ActiveLine(hash, "5", ",\"staking_value\":5"), "staking_value is there twice"},
      {ActiveLine(hash, "5", ",\"event_type\":\"unbonded\""), "event_type is there twice"},
      {ActiveLine(hash, "5", ",\"timestamp\":1,\"timestamp\":1"), "timestamp is there twice"},
      {ActiveLine(hash, "5", ",\"timestamp\":-1"), "timestamp is -1; it must be 0 to"},
      {ActiveLine(hash, "5", ",\"timestamp\":1.5"), "timestamp is not an integer"},
      {ActiveLine(hash, "5", ",\"timestamp\":\"now\""), "timestamp is not an integer"},
      {ActiveLine(hash, "5", ",\"timestamp\":1700000000000"), "timestamp is 1700000000000; it must be at most"},
      {"hello", "not valid JSON"},
      {good.substr(0, good.size() - 1), "not valid JSON"},
      {good + " x", "not valid JSON"},
      {good + good, "not valid JSON"},
      {"{'event_type':1}", "not valid JSON"},
      {ActiveLine(hash, "05"), "not valid JSON"},
      {ActiveLine(hash, "5,"), "not valid JSON"},
      {ActiveLine(hash, "5", ",\"note\":\"\xff\xfe\""), "not valid JSON"},
      {std::string("{\"a\0\":1}", 8), "not valid JSON"},
      {deep, "not valid JSON"},
      {StrCat(R"({"event_type":1,"deep":)", deep, "}"), "not valid JSON"},
      {"[" + good + "]", "not a JSON object"},
      {"\"active\"", "not a JSON object"},
      {"17", "not a JSON object"},
      {"null", "not a JSON object"},
  };
}

}  // namespace braid::staking::test
