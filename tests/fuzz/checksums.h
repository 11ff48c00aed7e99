// Checksums: makes those of an input right, whatever else is wrong with it: what a mutation does is met
// behind them then.
//
// Each function takes any bytes, and puts a checksum where the format has one.
#pragma once

#include <string>

#include "tests/fuzz/archive.h"
#include "tests/fuzz/target.h"

namespace mneme::fuzz {

// Repairs the checksum in the last line, which is of the text before it.
void repair_manifest(Bytes& text);
// A segment, of blocks or in persistent memory, or a ring: its header page, records, blocks.
void repair_segment(Bytes& file);
// Blocks that lie one after the other, and the records in those that go on from one to the next.
void repair_blocks(std::span<std::byte> blocks);
void repair_pepoch(Bytes& file);
void repair_checkpoint(Bytes& file);
void repair_saved_log(Bytes& file);
void repair_replicated_message(Bytes& message);
// Frames, one after the other.
void repair_frames(Bytes& stream);

// Unpacks, repairs each file by its name or magic, packs.
void repair_directory(Bytes& archive);
void repair_each(Bytes& archive, void (*repair)(Bytes& file));

}  // namespace mneme::fuzz
