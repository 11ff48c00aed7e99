// A client's side of PostgreSQL's protocol, for tests: messages to bytes, and replies as lines of text.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/protocol/wire.h"

namespace mneme {

class Frontend {
 public:
  std::vector<std::byte> take() { return std::exchange(bytes_, {}); }

  Frontend& startup(std::string_view user = "tester") {
    const size_t at = MessageWriter(bytes_).begin_length();
    MessageWriter out(bytes_);
    out.i32(3 << 16);
    out.text("user");
    out.text(user);
    out.u8(0);
    std::vector<std::byte> length;
    MessageWriter(length).i32(static_cast<int64_t>(bytes_.size() - at + 4));
    std::copy(length.begin(), length.end(), bytes_.begin() + static_cast<ptrdiff_t>(at) - 4);
    return *this;
  }
  Frontend& query(std::string_view text) {
    return message('Q', [&](MessageWriter& out) { out.text(text); });
  }
  Frontend& parse(std::string_view text, std::string_view name = "", std::vector<uint32_t> types = {}) {
    return message('P', [&](MessageWriter& out) {
      out.text(name);
      out.text(text);
      out.i16(static_cast<int64_t>(types.size()));
      for (const uint32_t type : types) out.i32(type);
    });
  }
  // Values in text; nothing: NULL.
  Frontend& bind(std::vector<std::optional<std::string>> values = {}, std::string_view statement = "",
                 std::string_view portal = "", bool binary_results = false) {
    return message('B', [&](MessageWriter& out) {
      out.text(portal);
      out.text(statement);
      out.i16(0);
      out.i16(static_cast<int64_t>(values.size()));
      for (const auto& value : values) {
        out.i32(value ? static_cast<int64_t>(value->size()) : -1);
        if (value) out.raw(*value);
      }
      out.i16(binary_results ? 1 : 0);
      if (binary_results) out.i16(1);
    });
  }
  Frontend& describe(char kind, std::string_view name = "") {
    return message('D', [&](MessageWriter& out) {
      out.u8(static_cast<uint8_t>(kind));
      out.text(name);
    });
  }
  Frontend& execute(int most = 0, std::string_view portal = "") {
    return message('E', [&](MessageWriter& out) {
      out.text(portal);
      out.i32(most);
    });
  }
  Frontend& close(char kind, std::string_view name) {
    return message('C', [&](MessageWriter& out) {
      out.u8(static_cast<uint8_t>(kind));
      out.text(name);
    });
  }
  Frontend& sasl_first(std::string_view text) {
    return message('p', [&](MessageWriter& out) {
      out.text("SCRAM-SHA-256");
      out.i32(static_cast<int64_t>(text.size()));
      out.raw(text);
    });
  }
  Frontend& sasl(std::string_view text) {
    return message('p', [&](MessageWriter& out) { out.raw(text); });
  }
  Frontend& copy_data(std::string_view text) {
    return message('d', [&](MessageWriter& out) { out.raw(text); });
  }
  Frontend& bare(char type) {
    return message(type, [](MessageWriter&) {});
  }
  Frontend& sync() { return bare('S'); }
  Frontend& raw(std::string_view bytes) {
    MessageWriter(bytes_).raw(bytes);
    return *this;
  }

 private:
  template <typename Fields>
  Frontend& message(char type, Fields&& fields) {
    MessageWriter out(bytes_);
    out.begin(type);
    fields(out);
    out.end();
    return *this;
  }

  std::vector<std::byte> bytes_;
};

// Each whole reply as a line: "D 1|alice", "C INSERT 0 1", "E 23505", "Z I", "T id:23,name:1043". What is no
// whole reply stays.
class Replies {
 public:
  void add(ByteSpan bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }
  std::vector<std::string> take() {
    std::vector<std::string> lines;
    size_t at = 0;
    while (bytes_.size() - at >= 5) {
      const auto length = from_big_endian<uint32_t>(bytes_.data() + at + 1);
      if (bytes_.size() - at < 1 + length) break;
      lines.push_back(line_of(static_cast<char>(bytes_[at]), ByteSpan(bytes_).subspan(at + 5, length - 4)));
      at += 1 + length;
    }
    bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<ptrdiff_t>(at));
    return lines;
  }

  // Return what the server sent in BackendKeyData. A CancelRequest names both.
  uint32_t session() const { return session_; }
  uint32_t secret() const { return secret_; }

  // Returns whether all messages that have begun are there whole.
  bool is_whole() const { return bytes_.empty(); }

 private:
  std::string line_of(char type, ByteSpan body) {
    WireReader in(body);
    std::string line(1, type);
    switch (type) {
      case 'D': {
        const int count = in.i16();
        for (int i = 0; i < count; ++i) {
          const int32_t length = in.i32();
          line += i == 0 ? " " : "|";
          line += length < 0 ? "NULL" : std::string(as_text(in.bytes(static_cast<size_t>(length))));
        }
        return line;
      }
      case 'T': {
        const int count = in.i16();
        for (int i = 0; i < count; ++i) {
          line += (i == 0 ? " " : ",") + std::string(in.text());
          in.bytes(6);
          line += ":" + std::to_string(in.u32());
          in.bytes(8);
        }
        return line;
      }
      case 't': {
        const int count = in.i16();
        for (int i = 0; i < count; ++i) line += " " + std::to_string(in.u32());
        return line;
      }
      case 'E':
      case 'N':
        while (const auto field = static_cast<char>(in.u8())) {
          const std::string text(in.text());
          if (field == 'C') line += " " + text;
          if (field == 'P') line += " at " + text;
        }
        return line;
      case 'K':
        session_ = in.u32();
        secret_ = in.u32();
        return line;
      case 'A': {
        line += " " + std::to_string(in.u32());
        const std::string channel(in.text());
        return line + " " + channel + " " + std::string(in.text());
      }
      case 'C':
        return line + " " + std::string(in.text());
      case 'Z':
        return line + " " + static_cast<char>(in.u8());
      case 'S':
        return line + " " + std::string(in.text());
      case 'd':
        return line + " " + std::string(as_text(in.bytes(in.remaining())));
      default:
        return line;
    }
  }

  std::vector<std::byte> bytes_;
  uint32_t session_ = 0;
  uint32_t secret_ = 0;
};

}  // namespace mneme
