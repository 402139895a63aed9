// Drops what an MJCF file describes and prints where its first free body comes to rest.
#include <stiction/reference.h>

#include <cstdio>

int main(int argc, char** argv) {
  const stiction::ModelPtr model = stiction::load_model(argc > 1 ? argv[1] : "crate.xml");
  const stiction::Reference engine(model);
  stiction::StepResult s;
  s.qpos = model->qpos0;
  s.qvel.assign(static_cast<std::size_t>(model->nv), 0.0);
  for (int i = 0; i < 1000; ++i) s = engine.step(s.qpos, s.qvel);
  std::printf("height %.6f m after %g s\n", s.qpos[2], 1000 * model->timestep);
}
