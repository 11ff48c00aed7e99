#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/render.h"
#include "base/utf8.h"

namespace mneme {
namespace {

// In pixels; letters are as wide as most of a sans-serif font's.
constexpr double kMargin = 10;
constexpr double kTitleLetter = 7.6;
constexpr double kLetter = 6.4;
constexpr double kLineHeight = 16;
constexpr double kBetweenBoxes = 22;
constexpr double kBetweenLayers = 46;
constexpr size_t kLettersALine = 44;

// A box, or the gap that an arrow over several layers has in one of those between.
struct Place {
  double x = 0;
  double top = 0;
  double width = 14;
  double height = 0;
  double layer_bottom = 0;
  std::vector<size_t> parents;  // the places above from which arrows come

  double centre() const { return x + width / 2; }
};

struct DrawnBlock {
  std::string title;
  std::vector<std::string> lines;
  std::string reasons;
};

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::vector<std::string> wrapped_lines(std::string_view text) {
  std::vector<std::string> lines(1);
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (lines.back().empty()) {
      lines.back() = word;
    } else if (count_characters(lines.back()) + 1 + count_characters(word) > kLettersALine) {
      lines.emplace_back(word);
    } else {
      lines.back() += fmt::format(" {}", word);
    }
    begin = end + 1;
  }
  return lines;
}

// Draws blocks in layers, each below all that it waits for, and the arrows between them.
class LayeredDrawing {
 public:
  // `arrows`: pairs of blocks, the first before the second in `blocks`; none is implied by others.
  LayeredDrawing(std::vector<DrawnBlock> blocks, std::vector<std::pair<size_t, size_t>> arrows)
      : blocks_(std::move(blocks)), arrows_(std::move(arrows)), layer_of_(blocks_.size(), 0) {
    put_into_layers();
    route_arrows();
    place_layers();
    mark_longest_path();
  }

  std::string svg(std::string_view title) const {
    std::string text = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 "
        "{0:.0f} "
        "{1:.0f}\" font-family=\"system-ui, 'DejaVu Sans', sans-serif\" "
        "font-size=\"13\">\n<title>{2}</title>\n"
        "<style>\n.block {{ fill: #f3f6fa; stroke: #44617f; }} .arrow {{ fill: none; stroke: #666; }}\n"
        ".longest {{ stroke: #b3261e; stroke-width: 2; }} .name {{ font-weight: 600; }} .lanes {{ font-size: "
        "12px; fill: #333; }}\n</style>\n",
        width_, height_, xml_text(title));
    for (const char* colour : {"666", "b3261e"}) {
      text += fmt::format(
          "<marker id=\"tip-{0}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"9\" "
          "markerHeight=\"9\" orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L8 4L0 8z\" "
          "fill=\"#{0}\"/></marker>\n",
          colour);
    }
    for (size_t arrow = 0; arrow < arrows_.size(); ++arrow) add_arrow(arrow, text);
    for (size_t block = 0; block < blocks_.size(); ++block) add_block(block, text);
    return text + "</svg>\n";
  }

 private:
  void put_into_layers() {
    // Arrows come in any order. Each pass settles one more layer at least.
    for (bool moved = true; moved;) {
      moved = false;
      for (const auto& [from, to] : arrows_) {
        if (layer_of_[to] > layer_of_[from]) continue;
        layer_of_[to] = layer_of_[from] + 1;
        moved = true;
      }
    }
    for (size_t block = 0; block < blocks_.size(); ++block) {
      const DrawnBlock& drawn = blocks_[block];
      double width = kTitleLetter * static_cast<double>(count_characters(drawn.title));
      for (const std::string& line : drawn.lines)
        width = std::max(width, kLetter * static_cast<double>(count_characters(line)));
      places_.push_back({.width = 26 + width,
                         .height = 28 + kLineHeight * static_cast<double>(drawn.lines.size()),
                         .parents = {}});
      if (layers_.size() <= layer_of_[block]) layers_.resize(layer_of_[block] + 1);
      layers_[layer_of_[block]].push_back(block);
    }
  }

  void route_arrows() {
    for (const auto& [from, to] : arrows_) {
      std::vector<size_t>& route = routes_.emplace_back(1, from);
      for (size_t layer = layer_of_[from] + 1; layer < layer_of_[to]; ++layer) {
        places_.push_back({.parents = {route.back()}});
        layers_[layer].push_back(places_.size() - 1);
        route.push_back(places_.size() - 1);
      }
      places_[to].parents.push_back(route.back());
      route.push_back(to);
    }
  }

  void place_layers() {
    double y = kMargin;
    for (std::vector<size_t>& layer : layers_) {
      std::map<size_t, double> wanted;  // where the middle of the parents lies
      double height = 0;
      for (const size_t at : layer) {
        double sum = 0;
        for (const size_t parent : places_[at].parents) sum += places_[parent].centre();
        wanted[at] = places_[at].parents.empty() ? 0 : sum / static_cast<double>(places_[at].parents.size());
        height = std::max(height, places_[at].height);
      }
      std::ranges::stable_sort(layer, {}, [&](size_t at) { return wanted[at]; });
      double x = kMargin;
      for (const size_t at : layer) {
        Place& place = places_[at];
        place.x = std::max(x, std::min(wanted[at] - place.width / 2, x + 160));
        place.top = y;
        place.layer_bottom = y + height;
        x = place.x + place.width + kBetweenBoxes;
        width_ = std::max(width_, x - kBetweenBoxes + kMargin);
      }
      y += height + kBetweenLayers;
    }
    height_ = y - kBetweenLayers + kMargin;
  }

  void mark_longest_path() {
    std::vector<size_t> length(blocks_.size(), 1);
    std::vector<size_t> next(blocks_.size(), blocks_.size());
    for (size_t layer = layers_.size(); layer-- > 0;) {
      for (const auto& [from, to] : arrows_) {
        if (layer_of_[from] != layer || length[from] >= length[to] + 1) continue;
        length[from] = length[to] + 1;
        next[from] = to;
      }
    }
    if (blocks_.empty()) return;
    size_t at = static_cast<size_t>(std::ranges::max_element(length) - length.begin());
    for (; next[at] != blocks_.size(); at = next[at]) longest_.insert({at, next[at]});
  }

  // Where the arrow leaves or meets a block's edge: several stand beside each other, by where they lead.
  double end_of(size_t block, size_t arrow, bool leaves) const {
    std::vector<std::pair<double, size_t>> ends;
    for (size_t other = 0; other < routes_.size(); ++other) {
      const std::vector<size_t>& route = routes_[other];
      if ((leaves ? route.front() : route.back()) != block) continue;
      ends.emplace_back(places_[leaves ? route[1] : route[route.size() - 2]].centre(), other);
    }
    std::ranges::sort(ends);
    const auto at = std::ranges::find(ends, arrow, &std::pair<double, size_t>::second) - ends.begin();
    const double from_middle = static_cast<double>(at) - static_cast<double>(ends.size() - 1) / 2;
    const Place& place = places_[block];
    return place.centre() +
           from_middle * std::min(14.0, (place.width - 24) / static_cast<double>(ends.size()));
  }

  void add_arrow(size_t arrow, std::string& text) const {
    const std::vector<size_t>& route = routes_[arrow];
    const Place& from = places_[route.front()];
    double x = end_of(route.front(), arrow, true);
    double y = from.layer_bottom;
    std::string path = fmt::format("M{:.1f} {:.1f}V{:.1f}", x, from.top + from.height, y);
    const auto curve_to = [&](double next_x, double next_y) {
      path += fmt::format("C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}", x, y + 24, next_x, next_y - 24,
                          next_x, next_y);
      x = next_x;
      y = next_y;
    };
    for (const size_t gap : std::span(route).subspan(1, route.size() - 2)) {
      curve_to(places_[gap].centre(), places_[gap].top);
      y = places_[gap].layer_bottom;
      path += fmt::format("V{:.1f}", y);
    }
    curve_to(end_of(route.back(), arrow, false), places_[route.back()].top - 1);
    const bool is_longest = longest_.contains(arrows_[arrow]);
    text += fmt::format("<path class=\"arrow{}\" d=\"{}\" marker-end=\"url(#tip-{})\"/>\n",
                        is_longest ? " longest" : "", path, is_longest ? "b3261e" : "666");
  }

  void add_block(size_t block, std::string& text) const {
    const Place& place = places_[block];
    text += fmt::format(
        "<g><title>{}</title><rect class=\"block\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" "
        "height=\"{:.1f}\" "
        "rx=\"6\"/><text class=\"name\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
        xml_text(blocks_[block].reasons), place.x, place.top, place.width, place.height, place.x + 12,
        place.top + 19, xml_text(blocks_[block].title));
    double y = place.top + 37;
    for (const std::string& line : blocks_[block].lines) {
      text += fmt::format("<text class=\"lanes\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", place.x + 12, y,
                          xml_text(line));
      y += kLineHeight;
    }
    text += "</g>\n";
  }

  const std::vector<DrawnBlock> blocks_;
  const std::vector<std::pair<size_t, size_t>> arrows_;
  std::vector<size_t> layer_of_;             // by block
  std::vector<Place> places_;                // the blocks', then the gaps'
  std::vector<std::vector<size_t>> layers_;  // of places
  std::vector<std::vector<size_t>> routes_;  // by arrow: its places
  std::set<std::pair<size_t, size_t>> longest_;
  double width_ = 2 * kMargin;
  double height_ = 2 * kMargin;
};

}  // namespace

std::string render_svg(const Program& program, const DependencyGraph& graph, std::string_view title) {
  std::vector<DrawnBlock> blocks;
  for (const Block& block : graph.blocks) {
    std::vector<std::string> slices;
    for (const BlockMember& member : block.members)
      slices.push_back(graph.local(member.procedure).slices[member.slice.value].label);
    DrawnBlock& drawn = blocks.emplace_back();
    drawn.title = fmt::format("{}: {}", block.name, fmt::join(slices, ", "));
    for (const TableId table : block.tables)
      std::ranges::move(wrapped_lines(render_lanes(program, graph, block, table)),
                        std::back_inserter(drawn.lines));
    drawn.reasons = block.merges.empty() ? drawn.title : fmt::format("{}", fmt::join(block.merges, "\n"));
  }
  std::vector<std::pair<size_t, size_t>> arrows;
  for (const BlockEdge& edge : direct_edges(graph)) arrows.emplace_back(edge.from.value, edge.to.value);
  return LayeredDrawing(std::move(blocks), std::move(arrows)).svg(title);
}

}  // namespace mneme
