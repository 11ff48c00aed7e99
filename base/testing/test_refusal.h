// For tests: what is refused, the kind of the error, and the words that it must hold.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "base/result.h"

namespace mneme::test {

inline void expect_error(const Error& error, ErrorKind kind, std::string_view words) {
  EXPECT_EQ(error.kind, kind) << error.message;
  EXPECT_NE(error.message.find(words), std::string::npos) << error.message;
}

template <typename T>
void expect_refused(const Result<T>& result, ErrorKind kind, std::string_view words) {
  ASSERT_FALSE(result.ok()) << "instead of: " << words;
  expect_error(result.error(), kind, words);
}

}  // namespace mneme::test
