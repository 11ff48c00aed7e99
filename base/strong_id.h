// StrongId: an integer that names one kind of thing and converts to no other kind.
//
//     using TableId = StrongId<struct TableIdTag>;
//
// Ids are dense indexes from 0, so `value` may index a vector. A default-made id names nothing: valid() is
// false.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>

namespace mneme {

template <typename Tag, typename Integer = uint32_t>
struct StrongId {
  Integer value = std::numeric_limits<Integer>::max();

  constexpr StrongId() = default;
  constexpr explicit StrongId(Integer v) : value(v) {}
  constexpr bool valid() const { return value != std::numeric_limits<Integer>::max(); }
  constexpr auto operator<=>(const StrongId&) const = default;
};

// A thread that runs transactions. Workers are numbered 0 .. count-1 for the life of a Database.
using WorkerId = StrongId<struct WorkerIdTag>;

}  // namespace mneme

template <typename Tag, typename Integer>
struct std::hash<mneme::StrongId<Tag, Integer>> {
  size_t operator()(mneme::StrongId<Tag, Integer> id) const noexcept {
    return std::hash<Integer>{}(id.value);
  }
};
