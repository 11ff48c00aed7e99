// Stands in for ISA-L's CRC32C: tables of eight bytes at a time.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

namespace mneme::lab {

constexpr auto kCrcTables = [] {
  constexpr uint32_t kCastagnoli = 0x82f63b78;  // its bits in reverse
  std::array<std::array<uint32_t, 256>, 8> tables{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t sum = byte;
    for (int bit = 0; bit < 8; ++bit) sum = (sum >> 1) ^ ((sum & 1) != 0 ? kCastagnoli : 0);
    tables[0][byte] = sum;
  }
  for (size_t byte = 0; byte < 256; ++byte) {
    for (size_t ahead = 1; ahead < 8; ++ahead) {
      const uint32_t before = tables[ahead - 1][byte];
      tables[ahead][byte] = (before >> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
}();

}  // namespace mneme::lab

inline uint32_t crc32_iscsi(unsigned char* data, int bytes, uint32_t sum) {
  using mneme::lab::kCrcTables;
  for (; bytes >= 8; bytes -= 8, data += 8) {
    uint64_t word = 0;
    std::memcpy(&word, data, sizeof word);
    word ^= sum;
    sum = 0;
    for (size_t i = 0; i < 8; ++i) sum ^= kCrcTables[7 - i][(word >> (8 * i)) & 255];
  }
  for (; bytes > 0; --bytes, ++data) sum = (sum >> 8) ^ kCrcTables[0][(sum ^ *data) & 255];
  return sum;
}
