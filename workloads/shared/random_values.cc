#include "workloads/shared/random_values.h"

#include <algorithm>

namespace mneme {
namespace {

std::string_view view(std::span<const char> text) {
  return {text.data(), text.size()};
}

}  // namespace

int64_t nu_rand(Random& random, int64_t a, int64_t c, int64_t low, int64_t high) {
  const int64_t or_ed = random.uniform(0, a) | random.uniform(low, high);
  return (or_ed + c) % (high - low + 1) + low;
}

std::span<char> random_characters(Random& random, std::string_view alphabet, size_t length, Arena& arena) {
  char* text = static_cast<char*>(arena.allocate(length));
  std::generate_n(text, length, [&] {
    return alphabet[static_cast<size_t>(random.uniform(0, static_cast<int64_t>(alphabet.size()) - 1))];
  });
  return {text, length};
}

std::string_view alphanumeric(Random& random, int64_t min_length, int64_t max_length, Arena& arena) {
  const auto length = static_cast<size_t>(random.uniform(min_length, max_length));
  return view(random_characters(random, kAlphanumeric, length, arena));
}

std::string_view digits(Random& random, size_t length, Arena& arena) {
  return view(random_characters(random, kDigits, length, arena));
}

std::string_view letters(Random& random, size_t length, Arena& arena) {
  return view(random_characters(random, kLetters, length, arena));
}

}  // namespace mneme
