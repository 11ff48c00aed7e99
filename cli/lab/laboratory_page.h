// The laboratory's page as `mneme lab` serves it: one HTML document, which asks the server for its answers.
//
// Made from lab/page by lab/page/embed.cmake.
#pragma once

#include <string_view>

namespace mneme {

// Empty where the build lacked what the page is made with.
extern const std::string_view kLaboratoryPage;

}  // namespace mneme
