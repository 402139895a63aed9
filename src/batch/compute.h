// Packs of environments whose current state is queried, outside of any run.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "batch/impl.h"

namespace stiction {

// Returns the place of a lane; lanes beyond the last place copy the last one.
inline int lane_of(std::span<const int> places, int lane) {
  return places[std::min(at(lane), places.size() - 1)];
}

// Calls f(worker, workspace, places) for each pack of those ids[place] whose state a step could use, with
// state, inputs and per-environment parameters in the blocks. Other environments are skipped.
template <class F>
void each_pack(Batch::Impl& impl, std::span<const int> ids, const F& f) {
  std::vector<int> good;
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (impl.state_is_good(ids[i])) good.push_back(static_cast<int>(i));
  const int lanes = impl.kernels.lanes, n = static_cast<int>(good.size());
  bool active[kMaxLanes];
  std::fill_n(active, kMaxLanes, true);
  impl.pool->run((n + lanes - 1) / lanes, impl.pace.threads(), [&](int worker, int pack) {
    const int first = pack * lanes;
    const auto places =
        std::span<const int>(good).subspan(at(first), at(std::min(lanes, n - first)));
    int env[kMaxLanes];
    for (int lane = 0; lane < lanes; ++lane) env[lane] = ids[at(lane_of(places, lane))];
    Workspace& w = impl.workspaces[at(worker)];
    impl.load(w, env);
    if (impl.poison) impl.fill_unwritten(w, true);
    impl.kernels.set_active(w.fields.data(), active);
    f(worker, w, places);
  });
}

}  // namespace stiction
