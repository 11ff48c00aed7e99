// Result<T>: a value, or an Error that says what happened, where, and what to do about it.
//
// Errors are for the world's doing (files, bytes from disk, arguments, a user's SQL); a mistake of ours is a
// CHECK. The kind decides the program's exit status and nothing else; the message is for people: a sentence
// that names file, offset or LSN, says what is safe, and what to do.
#pragma once

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace mneme {

enum class ErrorKind {
  kInvalidArgument,  // the caller asked for something that can't be; exit status 2
  kFailed,           // the world refused: disk full, permission, time-out; exit status 1
  kDamaged,          // bytes on disk are not what was written there; exit status 3
};

struct Error {
  ErrorKind kind = ErrorKind::kFailed;
  std::string message;
};

template <typename... Args>
Error invalid_argument(fmt::format_string<Args...> text, Args&&... args) {
  return {ErrorKind::kInvalidArgument, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Error failed(fmt::format_string<Args...> text, Args&&... args) {
  return {ErrorKind::kFailed, fmt::format(text, std::forward<Args>(args)...)};
}
template <typename... Args>
Error damaged(fmt::format_string<Args...> text, Args&&... args) {
  return {ErrorKind::kDamaged, fmt::format(text, std::forward<Args>(args)...)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    CHECK(ok());
    return std::get<0>(state_);
  }
  const T& value() const& {
    CHECK(ok());
    return std::get<0>(state_);
  }
  T&& value() && {
    CHECK(ok());
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    CHECK(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

}  // namespace mneme

// Returns the error of a Result from the enclosing function, which returns a Result too.
#define RETURN_IF_ERROR(expression)                                           \
  do {                                                                        \
    if (auto&& result_ = (expression); !result_.ok()) return result_.error(); \
  } while (false)
