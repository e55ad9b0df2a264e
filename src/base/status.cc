#include "braid/status.h"

#include "base/strings.h"

namespace braid {

std::string CodeName(Code code) {
  switch (code) {
    case Code::kOk: return "OK";
#define BRAID_ERROR(name, number, retryable) \
  case Code::k##name:                        \
    return #name;
#include "braid/errors.def"
#undef BRAID_ERROR
  }
  return StrCat("Location", static_cast<int>(code));
}

bool IsRetryable(Code code) {
  switch (code) {
#define BRAID_ERROR(name, number, retryable) \
  case Code::k##name:                        \
    return retryable;
#include "braid/errors.def"
#undef BRAID_ERROR
    default: return false;
  }
}

Status::Status(Code code, std::string message)
    : error_(std::make_shared<const Error>(Error{code, std::move(message), std::string()})) {}

Status Status::WithDetails(std::string bson_bytes) const {
  return Status(std::make_shared<const Error>(Error{code(), std::string(message()), std::move(bson_bytes)}));
}

Status Status::CausedBy(std::string_view prefix) const {
  return Status(std::make_shared<const Error>(
      Error{code(), StrCat(prefix, " :: caused by :: ", message()), std::string(details())}));
}

std::string Status::ToString() const {
  return ok() ? "OK" : StrCat(CodeName(code()), " (", static_cast<int>(code()), "): ", message());
}

}  // namespace braid
