// Status and Result<T>: how every function of Braid reports a fault of the user or of the environment. Faults of our
// own are BRAID_ASSERT (assert.h). Member names of Result are those of std::expected, which GCC 12 lacks.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

namespace braid {

enum class Code : int {
  kOk = 0,
#define BRAID_ERROR(name, number, retryable) k##name = number,
#include "braid/errors.def"
#undef BRAID_ERROR
};

/// One of MongoDB's unnamed codes, shown to clients as "Location<number>".
constexpr Code Location(int number) { return static_cast<Code>(number); }

/// "BadValue" for kBadValue, "Location28765" for a code that errors.def does not name.
std::string CodeName(Code code);

/// True if a driver may send the same operation again after this error.
bool IsRetryable(Code code);

/// OK, or a code with a message for people. One pointer wide; copying an error shares it.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Code code, std::string message);

  bool ok() const { return error_ == nullptr; }
  Code code() const { return error_ ? error_->code : Code::kOk; }
  std::string_view message() const { return error_ ? std::string_view(error_->message) : std::string_view(); }

  /// Further fields of the error reply (keyPattern, errInfo, …) as the bytes of one BSON document; empty if none.
  std::string_view details() const { return error_ ? std::string_view(error_->details) : std::string_view(); }
  Status WithDetails(std::string bson_bytes) const;

  /// The same code and details with "prefix :: caused by :: " before the message.
  Status CausedBy(std::string_view prefix) const;

  /// States that the outcome does not matter, and why.
  void Ignore(std::string_view /*why*/) const {}

  std::string ToString() const;

 private:
  struct Error {
    Code code;
    std::string message;
    std::string details;
  };
  explicit Status(std::shared_ptr<const Error> error) : error_(std::move(error)) {}
  std::shared_ptr<const Error> error_;
};

template <typename T>
class Result;

namespace internal {
/// A type that is not T, Status or Result, but converts to T.
template <typename U, typename T>
concept BecomesValueOf =
    std::is_convertible_v<U&&, T> && !std::is_same_v<std::remove_cvref_t<U>, T> &&
    !std::is_same_v<std::remove_cvref_t<U>, Status> && !std::is_same_v<std::remove_cvref_t<U>, Result<T>>;
}  // namespace internal

/// A T, or the Status that explains why there is none.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}         // NOLINT(google-explicit-constructor)
  Result(Status status) : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)
  template <internal::BecomesValueOf<T> U>
  Result(U&& value) : state_(std::in_place_index<0>, std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)

  bool has_value() const { return state_.index() == 0; }
  bool ok() const { return has_value(); }
  explicit operator bool() const { return has_value(); }

  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T&& value() && { return std::get<0>(std::move(state_)); }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  T value_or(T other) const { return has_value() ? value() : std::move(other); }

  const Status& error() const { return *std::get_if<1>(&state_); }
  /// OK, or the error: for code that treats Status and Result alike.
  Status status() const { return has_value() ? Status() : error(); }
  void Ignore(std::string_view /*why*/) const {}

 private:
  std::variant<T, Status> state_;
};

namespace internal {
inline const Status& ErrorOf(const Status& status) { return status; }
template <typename T>
const Status& ErrorOf(const Result<T>& result) {
  return result.error();
}
}  // namespace internal

#define BRAID_CONCAT_INNER(a, b) a##b
#define BRAID_CONCAT(a, b) BRAID_CONCAT_INNER(a, b)

/// BRAID_TRY(int n, Parse(text)); declares n, or returns the error of Parse unchanged from the enclosing function.
#define BRAID_TRY(declaration, ...) BRAID_TRY_INNER(BRAID_CONCAT(braid_result_, __LINE__), declaration, __VA_ARGS__)
#define BRAID_TRY_INNER(result, declaration, ...) \
  auto result = (__VA_ARGS__);                    \
  if (!result.ok()) return result.error();        \
  declaration = *std::move(result)

/// BRAID_CHECK_OK(Write(x)); returns the error of a Status or Result, if any, unchanged.
#define BRAID_CHECK_OK(...)                                        \
  do {                                                             \
    if (auto&& braid_status = (__VA_ARGS__); !braid_status.ok()) { \
      return ::braid::internal::ErrorOf(braid_status);             \
    }                                                              \
  } while (false)

}  // namespace braid
