#include "tests/fuzz/mutator.h"

#include <algorithm>
#include <array>
#include <string>

#include "tests/fuzz/archive.h"

namespace mneme::fuzz {
namespace {

constexpr size_t kMostBytes = size_t{1} << 18;
constexpr size_t kLongestPart = 64;

constexpr std::array<uint64_t, 17> kNumbers = {0,          1,          2,          7,          0x7f,   0x80,
                                               0xff,       0x100,      0xfff,      0x1000,     0x7fff, 0xffff,
                                               0x7fffffff, 0x80000000, 0xffffffff, 1ull << 63, ~0ull};

}  // namespace

Bytes Mutator::next(const Target& target, std::span<const Bytes> corpus) {
  Bytes input = corpus.empty() ? Bytes() : corpus[below(corpus.size())];
  for (size_t changes = 1 + below(1 + below(8)); changes > 0; --changes) {
    if (target.is_archive && below(8) != 0)
      change_a_stretch(input, random_(), [this](Bytes& stretch) { change(stretch, {}); });
    else
      change(input, corpus);
  }
  if (input.size() > kMostBytes) input.resize(kMostBytes);
  if (target.repair != nullptr && below(2) == 0) target.repair(input);
  return input;
}

void Mutator::change(Bytes& input, std::span<const Bytes> corpus) {
  const size_t at = below(input.size() + 1);
  const auto place = input.begin() + static_cast<ptrdiff_t>(at);
  const size_t length = std::min(1 + below(kLongestPart), input.size() - at);
  const ByteSpan part(input.data() + at, length);
  switch (below(10)) {
    case 0:
      if (length > 0) input[at] ^= std::byte{1} << below(8);
      return;
    case 1:
      if (length > 0) input[at] = static_cast<std::byte>(random_());
      return;
    case 2: {  // a number at its limit, or near
      std::array<std::byte, 8> number;
      store(number.data(), kNumbers[below(kNumbers.size())] + below(3) - 1);
      const size_t width = std::min<size_t>(size_t{1} << below(4), input.size() - at);
      std::copy_n(number.begin(), width, place);
      return;
    }
    case 3: {  // one that is there, changed a little
      const size_t width = size_t{1} << below(4);
      if (input.size() - at < width) return;
      uint64_t number = 0;
      std::copy_n(place, width, reinterpret_cast<std::byte*>(&number));
      number += below(33) - 16;
      std::copy_n(reinterpret_cast<std::byte*>(&number), width, place);
      return;
    }
    case 4:
      input.erase(place, place + static_cast<ptrdiff_t>(length));
      return;
    case 5: {  // a part of it once more
      const Bytes copy(part.begin(), part.end());
      input.insert(input.begin() + static_cast<ptrdiff_t>(below(input.size() + 1)), copy.begin(), copy.end());
      return;
    }
    case 6: {
      Bytes random(1 + below(16));
      for (std::byte& each : random) each = static_cast<std::byte>(random_());
      input.insert(place, random.begin(), random.end());
      return;
    }
    case 7: {  // the end, or a stretch, of another
      if (corpus.empty()) return;
      const Bytes& other = corpus[below(corpus.size())];
      const size_t from = below(other.size() + 1);
      const size_t count = std::min(below(2) == 0 ? kLongestPart : other.size(), other.size() - from);
      if (below(2) == 0) input.resize(at);
      input.insert(input.begin() + static_cast<ptrdiff_t>(std::min(at, input.size())),
                   other.begin() + static_cast<ptrdiff_t>(from),
                   other.begin() + static_cast<ptrdiff_t>(from + count));
      return;
    }
    case 8:
      if (below(4) == 0) input.resize(at);
      return;
    case 9:
      change_digits(input, at);
      return;
  }
}

// The number that is written at the place, or next behind it: at a limit, or near what it was.
void Mutator::change_digits(Bytes& input, size_t at) {
  const auto is_digit = [](std::byte each) { return each >= std::byte{'0'} && each <= std::byte{'9'}; };
  const auto begin = std::find_if(input.begin() + static_cast<ptrdiff_t>(at), input.end(), is_digit);
  const auto end = std::find_if_not(begin, input.end(), is_digit);
  if (begin == end) return;
  uint64_t number = kNumbers[below(kNumbers.size())] + below(3) - 1;
  if (below(2) == 0) {
    number = 0;
    for (auto digit = begin; digit != end; ++digit)
      number = number * 10 + static_cast<uint64_t>(*digit) - '0';
    number += below(129) - 64;
  }
  const Bytes text = bytes_of(std::to_string(number));
  const auto after = input.erase(begin, end);
  input.insert(after, text.begin(), text.end());
}

}  // namespace mneme::fuzz
