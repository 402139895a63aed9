// Drops copies of what an MJCF file describes from different heights, all together, and prints where
// their first free bodies come to rest and what the contacts carry.
#include <stiction/batch.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>

int main(int argc, char** argv) {
  const stiction::ModelPtr model = stiction::load_model(argc > 1 ? argv[1] : "crate.xml");
  stiction::BatchOptions options;
  options.num_envs = 256;
  stiction::Batch batch(model, options);

  // fields are views of the batch's memory, (num_envs, nq) here; positions are double
  const auto nq = static_cast<std::size_t>(model->nq);
  auto* qpos = static_cast<double*>(batch.field("qpos").data);
  const auto height = [&](int env) -> double& {
    return qpos[static_cast<std::size_t>(env) * nq + 2];
  };
  for (int env = 0; env < batch.num_envs(); ++env) height(env) += 1e-3 * env;

  batch.step(1000);

  double lowest = height(0), highest = height(0), force = 0;
  for (int env = 0; env < batch.num_envs(); ++env) {
    lowest = std::min(lowest, height(env));
    highest = std::max(highest, height(env));
  }
  for (const stiction::Contact& c : batch.contacts()) force += c.force[2];
  std::printf("heights %.6f to %.6f m after %g s, %.4f N on each, %zu frozen\n", lowest, highest,
              1000 * model->timestep, force / batch.num_envs(), batch.frozen().size());
}
