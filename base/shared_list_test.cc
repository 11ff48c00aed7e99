// Goal: a list and its copies are what vectors would be, and share the elements that they have in common.
// Method: random changes of lists that are copies of each other, held against vectors.
#include "base/shared_list.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace mneme {
namespace {

TEST(SharedList, CopiesAreListsOfTheirOwn) {
  std::mt19937_64 random(7);
  std::vector<std::pair<SharedList<std::string>, std::vector<std::string>>> versions(1);
  for (int step = 0; step < 3000; ++step) {
    auto [list, model] = versions[random() % versions.size()];
    const std::string text = std::to_string(step);
    const size_t at = model.empty() ? 0 : random() % model.size();
    switch (model.empty() ? 12 : random() % 12) {
      case 0:
        list.change(at, [&](std::string& element) { element += text; });
        model[at] += text;
        break;
      case 1:
        list.put(at, std::make_shared<const std::string>(text));
        model[at] = text;
        break;
      case 2:
        list.erase(at);
        model.erase(model.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 3:
        list.resize_down(at);
        model.resize(at);
        break;
      default:
        for (int i = 0; i < 20; ++i) list.push_back(text), model.push_back(text);
    }
    versions.push_back({list, model});
    if (versions.size() > 20)
      versions.erase(versions.begin() + static_cast<std::ptrdiff_t>(random() % versions.size()));
  }
  for (const auto& [list, model] : versions)
    EXPECT_EQ(std::vector<std::string>(list.begin(), list.end()), model);
}

TEST(SharedList, ACopySharesElements) {
  SharedList<int> list;
  for (int i = 0; i < 1000; ++i) list.push_back(i);
  SharedList<int> copy = list;
  copy.change(500, [](int& element) { element = -1; });
  copy.push_back(1000);
  for (size_t i = 0; i < list.size(); ++i) EXPECT_EQ(&copy[i] == &list[i], i != 500) << i;
  EXPECT_EQ(list[500], 500);
  EXPECT_EQ(list.size(), 1000U);
}

}  // namespace
}  // namespace mneme
