// Many steps of the reference engine in one call.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "stiction/reference.h"

namespace stiction::python {

// A trajectory; row-major, the first row is the initial state.
struct Rollout {
  int nq = 0, nv = 0, nstep = 0;
  std::vector<double> qpos, qvel;             // (nstep+1,nq) (nstep+1,nv)
  std::vector<double> anchor;                 // (nanchor,3)  after the last step, as the next five
  std::vector<double> friction_anchor;        // (nv+ntendon)
  std::vector<double> rebound;                // (nrebound)
  std::vector<double> act;                    // (na)
  std::vector<double> mocap_pos, mocap_quat;  // (nmocap,3) (nmocap,4)
  std::vector<double> energy;                 // (nstep+1,2)  kinetic, potential; or empty
  std::vector<double> residual;               // (nstep)
  std::vector<std::int32_t> iterations, ncontact;  // (nstep)
  std::vector<std::uint32_t> status;               // (nstep)
};

// `ctrl` holds one row per step, or one row for all. After a step that froze the state the rest
// repeats it with the same status. Stops early, and returns what it has, when `go_on` says false.
Rollout roll_out(const Reference& reference, std::span<const double> qpos,
                 std::span<const double> qvel, const Inputs& inputs, bool ctrl_per_step, int nstep,
                 bool energy, const std::function<bool()>& go_on);

}  // namespace stiction::python
