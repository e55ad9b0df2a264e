#include "services/staking/event.h"

#include <simdjson.h>

#include "base/strings.h"

namespace braid::staking {
namespace {

namespace json = simdjson::dom;

Status Bad(std::string reason) { return Status(Code::kBadValue, std::move(reason)); }

// The first bytes of the text, without cutting a character in two: a reason is stored as text.
std::string_view Beginning(std::string_view text, size_t bytes) {
  if (text.size() <= bytes) return text;
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) --bytes;
  return text.substr(0, bytes);
}

bool LowerHex(std::string& text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  }
  return true;
}

// Which fields a line had; each may come once.
struct Found {
  bool type = false;
  bool hash = false;
  bool staker = false;
  bool provider = false;
  bool value = false;
  bool timestamp = false;
};

Status ExpectFirst(bool& found, std::string_view name) {
  if (found) return Bad(StrCat(name, " is there twice"));
  found = true;
  return {};
}

Status ReadHex(json::element value, std::string_view name, bool key, std::string& out) {
  std::string_view text;
  if (value.get_string().get(text) != simdjson::SUCCESS) return Bad(StrCat(name, " is not a string"));
  if (text.size() != 64 && !(key && text.size() == 66)) {
    return Bad(
        StrCat(name, " has ", text.size(), " characters; it must be ", key ? "64 or 66" : "64", " hexadecimal digits"));
  }
  out = text;
  return LowerHex(out) ? Status() : Bad(StrCat(name, " is not hexadecimal"));
}

Status ReadType(json::element value, State& state) {
  int64_t number = 0;
  std::string_view name;
  if (value.get_int64().get(number) == simdjson::SUCCESS) {
    if (number != 1 && number != 2)
      return Bad(StrCat("event_type ", number, " is unknown: it is 1 (active) or 2 (unbonded)"));
    state = number == 1 ? State::kActive : State::kUnbonded;
    return {};
  }
  if (value.get_string().get(name) != simdjson::SUCCESS) return Bad("event_type is neither a string nor 1 or 2");
  if (name == "active") {
    state = State::kActive;
  } else if (name == "unbonded") {
    state = State::kUnbonded;
  } else {
    return Bad(StrCat("event_type '", Beginning(name, 40), "' is unknown: it is active or unbonded"));
  }
  return {};
}

Status ReadInteger(json::element value, std::string_view name, int64_t least, int64_t most, int64_t& out) {
  if (uint64_t huge = 0; value.get_uint64().get(huge) == simdjson::SUCCESS && huge > static_cast<uint64_t>(most)) {
    return Bad(StrCat(name, " is ", huge, "; it must be at most ", most));
  }
  if (value.get_int64().get(out) != simdjson::SUCCESS) return Bad(StrCat(name, " is not an integer"));
  if (out < least || out > most) return Bad(StrCat(name, " is ", out, "; it must be ", least, " to ", most));
  return {};
}

Status ReadField(std::string_view name, json::element value, Event& event, Found& found) {
  if (name == "event_type") {
    BRAID_CHECK_OK(ExpectFirst(found.type, name));
    return ReadType(value, event.state);
  }
  if (name == "staking_tx_hash_hex") {
    BRAID_CHECK_OK(ExpectFirst(found.hash, name));
    return ReadHex(value, name, false, event.hash);
  }
  if (name == "staker_pk_hex") {
    BRAID_CHECK_OK(ExpectFirst(found.staker, name));
    return ReadHex(value, name, true, event.staker);
  }
  if (name == "finality_provider_pk_hex") {
    BRAID_CHECK_OK(ExpectFirst(found.provider, name));
    return ReadHex(value, name, true, event.finality_provider);
  }
  if (name == "staking_value") {
    BRAID_CHECK_OK(ExpectFirst(found.value, name));
    return ReadInteger(value, name, 1, kValueMax, event.value);
  }
  if (name == "timestamp") {
    BRAID_CHECK_OK(ExpectFirst(found.timestamp, name));
    if (value.is_null()) return {};
    // Seconds, so that milliseconds by mistake (a year past 5000) are seen.
    int64_t seconds = 0;
    BRAID_CHECK_OK(ReadInteger(value, name, 0, 99'999'999'999, seconds));
    event.timestamp = seconds;
    return {};
  }
  return {};  // events may say more than the statistics need
}

// `wrong` is the first fault among the fields that an unbonded event does not need: there it does not matter.
Status CheckComplete(const Event& event, const Found& found, const Status& wrong) {
  if (!found.type) return Bad("event_type is missing");
  if (event.state == State::kActive) BRAID_CHECK_OK(wrong);
  if (!found.hash) return Bad("staking_tx_hash_hex is missing");
  if (event.state == State::kUnbonded) return {};
  if (!found.staker) return Bad("staker_pk_hex is missing");
  if (!found.provider) return Bad("finality_provider_pk_hex is missing");
  if (!found.value) return Bad("staking_value is missing");
  return {};
}

}  // namespace

std::string_view NameOf(State state) { return state == State::kActive ? "active" : "unbonded"; }

std::string Event::LockId() const { return StrCat(hash, ":", NameOf(state)); }

struct EventParser::Parser {
  json::parser parser;
};

EventParser::EventParser() : parser_(std::make_unique<Parser>()) {}
EventParser::~EventParser() = default;

Result<Event> EventParser::Parse(std::string_view line) {
  json::element document;
  if (const auto error = parser_->parser.parse(line.data(), line.size()).get(document); error != simdjson::SUCCESS) {
    return Bad(StrCat("not valid JSON: ", simdjson::error_message(error)));
  }
  json::object object;
  if (document.get_object().get(object) != simdjson::SUCCESS) return Bad("not a JSON object");
  Event event;
  Found found;
  Status wrong;
  for (const auto& [name, value] : object) {
    const Status status = ReadField(name, value, event, found);
    if (!status.ok() && (name == "event_type" || name == "staking_tx_hash_hex")) return status;
    if (!status.ok() && wrong.ok()) wrong = status;
  }
  BRAID_CHECK_OK(CheckComplete(event, found, wrong));
  return event;
}

std::string ToJson(const Event& event) {
  std::string line =
      StrCat("{\"event_type\":\"", NameOf(event.state), "\",\"staking_tx_hash_hex\":\"", event.hash, "\"");
  if (event.state == State::kActive) {
    line += StrCat(",\"staker_pk_hex\":\"", event.staker, "\",\"finality_provider_pk_hex\":\"", event.finality_provider,
                   "\",\"staking_value\":", event.value);
  }
  if (event.timestamp) line += StrCat(",\"timestamp\":", *event.timestamp);
  return line + "}";
}

}  // namespace braid::staking
