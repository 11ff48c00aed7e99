#include "experiments/report.h"

#include "experiments/catalog.h"
#include "experiments/plan.h"

namespace mneme {
namespace {

using Json = nlohmann::ordered_json;

// In a script element nothing may look like its end, or like the beginning of a comment.
std::string script_text(const Json& data) {
  return replaced(data.dump(), "<", "\\u003c");
}

// The measured figures in the catalog's order, and those of files behind them.
Json in_order(const Json& figures) {
  Json ordered = Json::array();
  for (const Figure& figure : all_figures()) {
    if (figures.contains(figure.name)) ordered.push_back(figures[figure.name]);
  }
  for (const auto& [name, figure] : figures.items()) {
    if (find_figure(name) == nullptr) ordered.push_back(figure);
  }
  return ordered;
}

Json not_measured(const Json& figures) {
  Json list = Json::array();
  for (const Figure& figure : all_figures()) {
    if (figures.contains(figure.name)) continue;
    list.push_back({{"name", figure.name},
                    {"paper", figure.paper},
                    {"title", figure.title},
                    {"reason", figure.not_here}});
  }
  return list;
}

}  // namespace

bool has_report() {
  return !kReportLibraries.empty();
}

std::string report_html(const Json& data) {
  const std::pair<std::string_view, std::string> parts[] = {
      {"<!--STYLE-->", "<style>\n" + std::string(kReportStyle) + "</style>"},
      {"<!--LIBRARIES-->", "<script>\n" + std::string(kReportLibraries) + "</script>"},
      {"<!--DATA-->", "<script type=\"application/json\" id=\"data\">" + script_text(data) + "</script>"},
      {"<!--SCRIPT-->", "<script>\n" + std::string(kReportScript) + "</script>"}};
  std::string page(kReportPage);
  for (const auto& [place, text] : parts) {
    const size_t at = page.find(place);
    CHECK(at != std::string::npos);
    page.replace(at, place.size(), text);
  }
  return page;
}

Result<bool> write_report_file(const ResultStore& store, const std::string& path) {
  if (!has_report()) return false;
  const Result<Json> figures = store.read_figures();
  if (!figures) return figures.error();
  const Json data = {{"figures", in_order(*figures)}, {"not_measured", not_measured(*figures)}};
  RETURN_IF_ERROR(replace_text_file(path, report_html(data), Readers::kByUmask));
  return true;
}

}  // namespace mneme
