// What a kernel is given: where the numbers of all environments are. Plain data, also for the tests
// that run the kernels' bodies on the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/views.h"

namespace stiction::cuda {

// Rows of a field: of environment 0, and bytes to the next one; stride 0 where all share one.
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
  kCounters
};

struct Books {
  std::uint32_t* status;      // (num_envs) bits of Status
  std::int32_t* status_step;  // (num_envs) step of the first event; -1: none
  std::int32_t* steps;        // (num_envs) since the reset
  std::uint8_t* store;        // (num_envs) 1: this run writes the environment's outputs
  std::uint32_t* counters;    // (num_envs, kCounters + max_iterations + 1)
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
  Books books;
  const int* envs;  // null: 0 ... count - 1
  int count;
  const std::uint8_t* chosen;  // (num_envs) null: all; elsewhere nothing is computed or written
  bool store_frozen;           // outputs of frozen environments, too
  bool first, last;            // step of a run
  bool moves;                  // false: forces of a state that stays
  Rounds rounds;
};

// The largest model of a thread. Without pairs, all environments of a warp do the same but for
// their numbers of iterations.
struct ThreadSizes : physics::SizesView {
  static constexpr int nv = 8, nq = 2 * nv, njnt = nv, nu = nv, nbody = 10;
  static constexpr int ntri = nv * (nv + 1) / 2, nv1 = nv + 1, nbody1 = nbody + 1;
  static constexpr int ngeom = 0, nsite = 0, nmocap = 0, nwrap = 0, npair = 0, nslot = 0;
  static constexpr int nspatial = 0;
  static constexpr int nsensordata = 0, nanchor = 0, nmoment = 0;  // never a thread's own
};
constexpr bool fits_thread(const physics::SizesView& m) {
  return m.npair == 0 && m.nv <= ThreadSizes::nv && m.nu <= ThreadSizes::nu &&
         m.nbody <= ThreadSizes::nbody;
}

}  // namespace stiction::cuda
