// The tables and procedures of ycsb.sql by number, which keys records have, and what their fields hold.
//
// Records     numbered: those of the population from 0, an inserted one by the stream that inserts it and its
//             place in that stream. So its key is known without asking the database, and no two streams ever
//             insert the same one.
// Keys        a record's number, scrambled (YCSB: insertorder=hashed): records that follow one another lie
//             anywhere among the keys, and inserted ones among the population's.
// Values      eight digits of chance, then text that follows from them, the key and the field: a
//             reader can verify that a value was written there, and whole.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "engine/schema/catalog.h"
#include "procedures/ir/ir.h"

namespace mneme::ycsb {

// In the order of ycsb.sql.
enum class Table : uint32_t { kUsertable };
enum class Procedure : uint32_t { kReadRecord, kUpdateRecord, kInsertRecord, kScanRecords, kReadModifyWrite };

constexpr TableId id_of(Table table) {
  return TableId(static_cast<uint32_t>(table));
}
constexpr ProcedureId id_of(Procedure procedure) {
  return ProcedureId(static_cast<uint32_t>(procedure));
}

inline constexpr int64_t kRecordsPerScale = 100'000;
inline constexpr uint32_t kFields = 10;
inline constexpr uint32_t kLeastFieldBytes = 16;
inline constexpr uint32_t kMostFieldBytes = 10'000;
inline constexpr int64_t kLongestScan = 100;

// The user's choices besides the shared options.
struct Options {
  std::string core_workload = "A";  // to "F"
  uint32_t field_bytes = 100;
};

struct Settings {
  char core_workload = 'A';  // to 'F'
  int64_t records = kRecordsPerScale;
  uint32_t field_bytes = 100;
  double skew = 0.99;  // the Zipfian theta
};

// Record numbers and keys are below 2^62.
inline constexpr int kRecordBits = 62;

// The place of an inserted record: number `ordinal`, from 0, of those that the stream inserts.
struct Insertion {
  uint32_t incarnation;
  uint32_t worker;
  uint64_t ordinal;

  bool operator==(const Insertion&) const = default;
};

uint64_t inserted_record(const Insertion& insertion);
// The others are the population's, if they are below its size.
inline bool is_inserted(uint64_t record) {
  return record >> (kRecordBits - 1) != 0;
}
Insertion insertion_of(uint64_t record);

int64_t key_of(uint64_t record);
// A record number for every key from 0 to below 2^62; for no other.
inline bool is_key(int64_t key) {
  return key >= 0 && key >> kRecordBits == 0;
}
uint64_t record_of(int64_t key);

// Fills `text`, of kLeastFieldBytes or more.
void write_value(int64_t key, uint32_t field, uint32_t chance, std::span<char> text);
// Whether write_value made `text` for this key and field.
bool is_value(int64_t key, uint32_t field, std::string_view text);

}  // namespace mneme::ycsb
