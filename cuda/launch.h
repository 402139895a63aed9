// The arguments of a kernel: where the rows of all environments are. Plain data, also for the tests
// that run the kernels' bodies on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/base/env_status.h"
#include "physics/base/views.h"

namespace stiction::cuda {

// Rows of a field: that of environment 0, and the bytes from one to the next; stride 0 where all
// environments share one row.
struct FieldRows {
  std::byte* first;
  std::size_t stride;
};

struct RowTable {
  FieldRows of[physics::kFields];
};

// Counters of an environment over its steps, then its histogram of iterations.
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

// What is kept of each environment beside its fields.
struct Records : physics::StatusArrays {
  std::uint8_t* store;      // (num_envs) 1: this run writes the environment's outputs
  std::uint32_t* counters;  // (num_envs, kCounters + max_iterations + 1)
};

// Of a solve in rounds (rounds.h).
struct Rounds {
  std::byte* states;         // (num_envs) RoundState
  float* matrices;           // (num_envs, nv, nv) column by column
  float* vectors;            // (num_envs, nv)
  const std::int32_t* info;  // (num_envs) 0: the matrix was factored
  std::int32_t* waiting;     // becomes 1 where an environment waits for a solution
};

struct Launch {
  const FieldRows* fields;            // (kFields)
  const std::byte* const* reference;  // (kFields) the model's rows of state and inputs
  Records records;
  const int* envs;  // null: 0 ... count - 1
  int count;
  const std::uint8_t* chosen;  // (num_envs) 0: not computed, not written; null: all are
  bool store_frozen;           // outputs of frozen environments, too
  bool first, last;            // whether it has the first, the last step of a run
  bool moves;                  // false: forces at a state that stays
  int steps;                   // one after the other
  int after;                   // steps of the same call that other runs will take
  int left;                    // steps of the call from its first one on
  std::uint32_t kernels;       // of `step`: bit k, the kernel of that number
  std::uint32_t barriers;  // of `step`: bit k, the warps of a block wait for each other behind it
  Rounds rounds;
};

// Whether a step is the first, the last of its run; steps of the call from it on.
struct StepOfRun {
  bool first, last;
  int left;
};

// The most dofs whose matrix a tile factors along its structure; beyond, the matrix is taken as full, and a
// block is worth it.
inline constexpr int kMostTileOrder = 64;

// The largest model that a single thread steps. Without pairs, all environments of a warp execute
// the same instructions but for their numbers of iterations. The forces of a medium would take
// registers from all models that have none.
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
