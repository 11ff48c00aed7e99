// Emitter text: the lines of a function under construction, indented, and how one writes a check that ends
// the run.
#pragma once

#include <fmt/format.h>

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mneme {

class FunctionText {
 public:
  // Lines written apart, to be put in later: inside a block, or before what was written first.
  struct Part {
    struct Line {
      int indent;
      std::string text;
      std::function<std::string()> late = {};  // returns the text when the function is printed
    };
    std::vector<Line> lines;
    bool may_fail = false;
  };

  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...));
  }
  // A line that begins a block: "{" is added.
  template <typename... Args>
  void open(fmt::format_string<Args...> format, Args&&... args) {
    put(fmt::format(format, std::forward<Args>(args)...) + " {");
    ++indent_;
  }
  void open() {
    put("{");
    ++indent_;
  }
  // Ends a block and begins its other branch.
  void otherwise() {
    --indent_;
    put("} else {");
    ++indent_;
  }
  void close(std::string_view after = "") {
    --indent_;
    put(fmt::format("}}{}", after));
  }

  // Leaves the function where `condition` holds: `call` says why, and returns false.
  void fail_if(std::string_view condition, std::string_view call) {
    part_.may_fail = true;
    put(fmt::format("if ({}) {}{};", condition, leave_, leave_answer_.empty() ? call : leave_answer_));
  }
  // How code that fails leaves the function around it: by default it returns what the call that says why
  // returns.
  struct Leave {
    std::string_view prefix;
    std::string_view answer;  // empty: what the call returns
  };
  static constexpr Leave kReturn{"return ", ""};
  Leave leave_by(Leave leave) {
    const Leave before{leave_, leave_answer_};
    leave_ = leave.prefix;
    leave_answer_ = leave.answer;
    return before;
  }

  // A name that no other line uses.
  std::string new_name(std::string_view stem) { return fmt::format("{}{}", stem, ++names_); }

  // Returns the text that `write` writes, apart from the rest.
  template <typename Write>
  Part apart(Write&& write) {
    Part outer = std::exchange(part_, Part{});
    const int outer_indent = std::exchange(indent_, 0);
    write();
    Part written = std::exchange(part_, std::move(outer));
    indent_ = outer_indent;
    return written;
  }
  void put(const Part& part) {
    for (const Part::Line& line : part.lines)
      part_.lines.push_back({line.indent + indent_, line.text, line.late});
    part_.may_fail |= part.may_fail;
  }
  void put(std::string text) { part_.lines.push_back({indent_, std::move(text)}); }
  // A line that is not known yet: joined() calls `late` for its text.
  void put_late(std::function<std::string()> late) { part_.lines.push_back({indent_, "", std::move(late)}); }

  std::string joined() const {
    std::string text;
    for (const Part::Line& line : part_.lines) {
      const std::string written = line.late ? line.late() : line.text;
      if (!written.empty()) text.append(2 * static_cast<size_t>(line.indent), ' ');
      text += written;
      text += '\n';
    }
    return text;
  }

 private:
  Part part_;
  int indent_ = 2;  // in the function's own block
  unsigned names_ = 0;
  std::string_view leave_ = kReturn.prefix;
  std::string_view leave_answer_;
};

}  // namespace mneme
