// The arguments of a kernel: where the rows of all environments are. Plain data, also used by tests
// that run the kernels' bodies on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/base/env_status.h"
#include "physics/base/views.h"

namespace stiction::cuda {

// Rows of a field: the address of environment 0, and the bytes between environments; stride 0 if all
// environments share one row.
struct FieldRows {
  std::byte* first;
  std::size_t stride;
};

struct RowTable {
  FieldRows of[physics::kFields];
};

// Counters of an environment over its steps, followed by its histogram of iterations.
enum Counter {
  kEnvSteps,
  kIterations,
  kLinesearchEvaluations,
  kContacts,
  kNotConverged,
  kStalled,
  kInaccurate,
  kLateContact,
  kFroze,
  kSolvedAgain,
  kCounters
};

// Records kept for each environment beside its fields.
struct Records : physics::StatusArrays {
  std::uint8_t* store;      // (num_envs) 1: this run writes the environment's outputs
  std::uint32_t* counters;  // (num_envs, kCounters + max_iterations + 1)
};

// Data of a solve in rounds (rounds.h).
struct Rounds {
  std::byte* states;         // (num_envs) RoundState
  float* matrices;           // (num_envs, nv, nv) stored by columns
  float* vectors;            // (num_envs, nv)
  const std::int32_t* info;  // (num_envs) 0: the matrix was factored
  std::int32_t* waiting;     // set to 1 if an environment waits for a solution
};

struct Launch {
  const FieldRows* fields;            // (kFields)
  const std::byte* const* reference;  // (kFields) the model's rows of state and inputs
  Records records;
  const int* envs;  // null: 0 ... count - 1
  int count;
  const std::uint8_t* chosen;  // (num_envs) 0: not computed, not written; null: all are
  bool store_frozen;           // outputs of frozen environments, too
  bool first, last;            // whether the launch has the first, the last step of a run
  bool moves;                  // false: forces, without moving the state
  int steps;                   // number of steps, one after the other
  int after;                   // remaining steps of the call, made by later runs
  int left;                    // steps of the call from the launch's first one on
  std::uint32_t kernels;       // for `step`: bit k, kernel number k is executed
  std::uint32_t barriers;  // for `step`: bit k, the warps of each block synchronize after kernel k
  Rounds rounds;
};

// Whether a step is the first, the last of its run; left: steps of the call from this one on.
struct StepOfRun {
  bool first, last;
  int left;
};

// The largest order of matrices that a tile factors along their structure; beyond it the matrix is treated as dense,
// and a block is faster.
inline constexpr int kMostTileOrder = 64;

// The largest model that single threads step. Without pairs, all environments of a warp execute
// the same instructions except for their numbers of iterations. Fluid forces are excluded: they would take
// registers from all models.
struct ThreadSizes : physics::SizesView {
  static constexpr int nv = 8, nq = 2 * nv, njnt = nv, nu = nv, nbody = 10;
  static constexpr int ntri = nv * (nv + 1) / 2, nv1 = nv + 1, nbody1 = nbody + 1, ncoord = nv + nu;
  static constexpr int ngeom = 0, nsite = 0, nmocap = 0, ntendon = 0, nwrap = 0, npair = 0,
                       nslot = 0;
  static constexpr int nmocapstate = 0, nsurface = 0, ndriftslot = 0;
  static constexpr int nspatial = 0, ncouple = 0, ncouplepair = 0, nrebound = 0, nreboundpair = 0;
  // always rows in global memory
  static constexpr int nsensordata = 0, nanchor = 0, nfrictionanchor = nv, nanchorlist = 0,
                       nanchorrowlist = 0, nmoment = 0, nrow = 0, nturn = 0;
  static constexpr int nfluidbody = 0, nfluiddof = 0;  // no medium
  static constexpr int neq = 0, nblockdof = 0;
  static constexpr int na = 0, nstateful = 0, nmuscle = 0, nsitedrive = 0, nliftdof = 0,
                       nadhesion = 0, nadhesionbody = 0;  // plain drives
};
constexpr bool fits_thread(const physics::SizesView& m) {
  return m.npair == 0 && m.nv <= ThreadSizes::nv && m.nu <= ThreadSizes::nu &&
         m.ncoord <= ThreadSizes::ncoord && m.nbody <= ThreadSizes::nbody && m.nfluidbody == 0 &&
         drives_of(m) == physics::Drives::plain;
}

}  // namespace stiction::cuda
