// Checks of an option's text, with sentences that name the bound and not the type's whole range.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <string>

namespace mneme {

inline CLI::Validator positive() {
  return CLI::Validator(
      [](std::string& text) {
        return std::strtod(text.c_str(), nullptr) > 0 ? std::string() : text + " is not above 0";
      },
      "ABOVE 0");
}

inline CLI::Validator not_negative() {
  return CLI::Validator(
      [](std::string& text) { return text.starts_with('-') ? text + " is below 0" : std::string(); },
      "0 OR MORE");
}

inline CLI::Validator on_or_off() {
  return CLI::IsMember({"on", "off"});
}

inline CLI::Validator percent() {
  return CLI::Range(0, 100);
}

template <auto least, auto most>
CLI::Validator between() {
  return CLI::Range(least, most);
}

}  // namespace mneme
