#include "engine/schema/page_split.h"

#include "engine/schema/change_codec.h"

namespace mneme {

// As change_codec.h says; a splitter needs no schema.
constexpr uint64_t kChangeHeadActions = 8;

RecordSplitter page_splitter() {
  return [](RecordKind kind, ByteSpan payload,
            FunctionRef<void(size_t end, std::optional<uint64_t> page)> piece) {
    const std::optional<LoggedChanges> changes = changes_of(kind, payload);
    if (!changes || !changes->has_locations) return piece(payload.size(), std::nullopt);
    ByteReader in(changes->bytes);
    uint64_t left = in.get_varint();
    piece(payload.size() - in.remaining(), std::nullopt);
    for (; left > 0; --left) {
      const uint64_t table = in.get_varint() / kChangeHeadActions;
      const uint64_t slot = in.get_varint();
      in.get_varint();  // the version before
      in.get_bytes(in.get_varint());
      // Tables' first pages to one stream after the other.
      piece(payload.size() - in.remaining(), table + slot / kPageSlots);
    }
    CHECK(!in.bad());
  };
}

Result<void> check_pages(RecordContent content) {
  if (holds_locations(content)) return {};
  return invalid_argument(
      "--partition page needs records that say where rows lie, and a log of {} records has none: {}; choose "
      "--log physical "
      "or all, or --partition transaction",
      name_of(content),
      content == RecordContent::kCommand ? "which pages a call touches shows only when it is replayed"
                                         : "they name rows by their keys");
}

}  // namespace mneme
