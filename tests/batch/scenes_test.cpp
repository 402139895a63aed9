// What the scenes of laws are made for happens in them: bits that agree say nothing where it does not.
#include "batch/scenes.h"

#include "stiction/reference.h"

namespace stiction::test {
namespace {

// Share of environments and calls in which sensor i has a first number that is not zero.
std::vector<double> shares(const std::string& name) {
  constexpr int kEnvs = 40, kCalls = 10;
  use_device("cpu");
  Batch b = scattered(name, up_to(kEnvs));
  const Model& m = b.model();
  std::vector<double> found(at(m.nsensor));
  for (int k = 0; k < kCalls; ++k) {
    advance(b, 1);
    const std::vector<double> readings = reals(b.field("sensordata"));
    for (int env = 0; env < kEnvs; ++env)
      for (int i = 0; i < m.nsensor; ++i)
        found[at(i)] +=
            readings[at(env * m.nsensordata + m.sensor_adr[at(i)])] != 0 ? 1.0 / kEnvs / kCalls : 0;
  }
  return found;
}

// Readings of limits are zero within their range.
TEST(LawScenes, LimitsActAndRelease) {
  for (const char* name : {"rigging", "stops"}) {
    const Model& m = *scene(name);
    const std::vector<double> share = shares(name);
    int forces = 0, released = 0;
    for (int i = 0; i < m.nsensor; ++i) {
      EXPECT_GT(share[at(i)], 0.02) << name << " " << i;
      using T = SensorType;
      const T type = m.sensor_type[at(i)];
      if (type != T::jointlimitfrc && type != T::tendonlimitfrc) continue;
      ++forces, released += share[at(i)] < 0.98 ? 1 : 0;
    }
    EXPECT_GE(forces, 3) << name;
    EXPECT_GE(released, 3) << name;
  }
}

TEST(LawScenes, StringsBendAndTheMediumDrags) {
  const ModelPtr m = scene("rigging");
  const Reference reference(m);
  const std::vector<double> qpos(m->key_qpos.begin(), m->key_qpos.begin() + m->nq);
  const std::vector<double> qvel(at(m->nv), 0.3);
  const StepResult next = reference.step(qpos, qvel);  // whose readings are those of its end
  const ForwardResult f = reference.forward(next.qpos, qvel);
  const auto straight = [&](const char* a, const char* b) {
    const double *p = &f.site_xpos[at(3 * m->site(a))], *q = &f.site_xpos[at(3 * m->site(b))];
    return std::hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]);
  };
  const auto length = [&](const char* string) {
    return next.sensordata[at(m->sensor_adr[at(m->sensor(string))])];
  };
  EXPECT_GT(length("around"), straight("high", "low") + 1e-3);
  EXPECT_GT(length("inside"), straight("above", "below") + 1e-3);
  EXPECT_GT(length("rope"), straight("low", "ring") + 1e-3);
  for (int i = 0; i < m->nv; ++i) EXPECT_GT(std::fabs(f.qfrc_fluid[at(i)]), 1e-4) << i;
}

}  // namespace
}  // namespace stiction::test
