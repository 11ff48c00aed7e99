#include "experiments/catalog.h"

#include <algorithm>

#include "base/check.h"
#include "experiments/figure_file.h"

namespace mneme {

const std::vector<Figure>& all_figures() {
  static const std::vector<Figure> figures = [] {
    std::vector<Figure> all;
    for (const auto& [name, text] : kFigureFiles) {
      Result<Figure> figure = built_in_figure(text, name);
      if (!figure) check_failed(figure.error().message.c_str(), __FILE__, __LINE__);
      all.push_back(std::move(*figure));
    }
    return all;
  }();
  return figures;
}

const Figure* find_figure(std::string_view name) {
  const auto found = std::ranges::find(all_figures(), name, &Figure::name);
  return found == all_figures().end() ? nullptr : &*found;
}

}  // namespace mneme
