#include "report/sections/graphs.h"

#include "report/graph_json.h"
#include "report/reachable.h"

namespace hone::report {

Json ToSection(const Graphs& graphs) {
  Json views = Json::array();
  for (const GraphView& view : graphs.views) {
    views.push_back({{"label", view.label}, {"graph", ToJson(Reachable(*view.graph))}, {"marks", view.marks}});
  }
  return {{"kind", "graphs"}, {"note", graphs.note}, {"views", std::move(views)}};
}

}  // namespace hone::report
