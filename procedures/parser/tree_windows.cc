// Windows of the syntax tree: what stands behind OVER and WINDOW.
#include "procedures/ir/source_error.h"
#include "procedures/parser/tree_reader.h"

namespace mneme {

using ir::FrameBoundKind;
using ir::FrameExclusion;
using ir::FrameMode;

namespace {

syntax::FrameBound read_bound(MnemeParser::FrameBoundContext* context) {
  syntax::FrameBound bound;
  const auto words = context->IDENTIFIER();
  const std::string first = lowered(words[0]->getText());
  if (words.size() == 2 && first == "current") {
    expect_word(words[1], {"row"});
    return bound;
  }
  expect_word(words.back(), {"preceding", "following"});
  const bool precedes = lowered(words.back()->getText()) == "preceding";
  if (words.size() == 2 && first == "unbounded") {
    bound.kind = precedes ? FrameBoundKind::kUnboundedPreceding : FrameBoundKind::kUnboundedFollowing;
    return bound;
  }
  bound.kind = precedes ? FrameBoundKind::kPreceding : FrameBoundKind::kFollowing;
  if (words.size() == 1) {
    bound.offset = read_expression(context->expression());
    return bound;
  }
  bound.offset.emplace();
  bound.offset->kind = syntax::ExprKind::kReference;
  bound.offset->text = first;
  bound.offset->where = location(words[0]->getSymbol());
  return bound;
}

FrameExclusion read_exclusion(MnemeParser::FrameExclusionContext* context) {
  const auto words = context->IDENTIFIER();
  expect_word(words[0], {"exclude"});
  if (context->GROUP()) return FrameExclusion::kGroup;
  if (words.size() == 2) {
    expect_word(words[1], {"ties"});
    return FrameExclusion::kTies;
  }
  const bool is_row = lowered(words[1]->getText()) == "current";
  expect_word(words[1], {"current", "no"});
  expect_word(words[2], {is_row ? "row" : "others"});
  return is_row ? FrameExclusion::kCurrentRow : FrameExclusion::kNone;
}

// Refuses bounds that can never have a row between them, as PostgreSQL's parser does.
void check_bounds(FrameBoundKind start, FrameBoundKind end, syntax::SourceLocation where) {
  const auto refuse_frame = [&](std::string_view text) {
    refuse_as(sqlstate::kWindowing, where, "{}", text);
  };
  if (start == FrameBoundKind::kUnboundedFollowing) refuse_frame("frame start cannot be UNBOUNDED FOLLOWING");
  if (end == FrameBoundKind::kUnboundedPreceding) refuse_frame("frame end cannot be UNBOUNDED PRECEDING");
  if (start == FrameBoundKind::kCurrentRow && end == FrameBoundKind::kPreceding)
    refuse_frame("frame starting from current row cannot have preceding rows");
  if (start == FrameBoundKind::kFollowing && end == FrameBoundKind::kPreceding)
    refuse_frame("frame starting from following row cannot have preceding rows");
  if (start == FrameBoundKind::kFollowing && end == FrameBoundKind::kCurrentRow)
    refuse_frame("frame starting from following row cannot end with current row");
}

syntax::WindowFrame read_frame(MnemeParser::WindowFrameContext* context) {
  syntax::WindowFrame frame;
  expect_word(context->IDENTIFIER(), {"rows", "range", "groups"});
  const std::string mode = lowered(context->IDENTIFIER()->getText());
  frame.mode = mode == "rows" ? FrameMode::kRows : mode == "range" ? FrameMode::kRange : FrameMode::kGroups;
  frame.start = read_bound(context->frameBound(0));
  if (context->BETWEEN()) frame.end = read_bound(context->frameBound(1));
  check_bounds(frame.start.kind, frame.end.kind, location(context));
  if (context->frameExclusion()) frame.exclusion = read_exclusion(context->frameExclusion());
  return frame;
}

}  // namespace

syntax::Window read_window(MnemeParser::WindowDefinitionContext* context) {
  syntax::Window window;
  window.where = location(context);
  if (context->name()) window.base = read_name(context->name());
  if (context->IDENTIFIER()) expect_word(context->IDENTIFIER(), {"partition"});
  for (auto* expr : context->expression()) window.partition.push_back(read_expression(expr));
  for (auto* item : context->orderItem()) window.order.push_back(read_order_item(item));
  if (context->windowFrame()) window.frame = read_frame(context->windowFrame());
  return window;
}

syntax::Window read_window(MnemeParser::OverContext* context) {
  if (!context->name()) return read_window(context->windowDefinition());
  syntax::Window window;
  window.where = location(context);
  window.base = read_name(context->name());
  window.is_base = true;
  return window;
}

}  // namespace mneme
