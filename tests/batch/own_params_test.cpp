// A parameter that is own to each environment and still has the model's numbers: nobody can tell.
#include <unistd.h>

#include <cstdio>
#include <filesystem>

#include "batch/emulated_device.h"
#include "batch/scenes.h"

namespace stiction::test {
namespace {

void read_every_parameter(Batch& b) {
  for (const FieldInfo& f : Batch::fields(b.model()))
    if (f.kind == "param") (void)b.param(f.name);
}

void expect_same_bits(Batch& a, Batch& b) {
  for (int env = 0; env < a.num_envs(); ++env) EXPECT_EQ(bytes(a, env), bytes(b, env)) << env;
}

class OwnParams : public EveryScene {
 protected:
  static int calls() { return slow() ? 4 : 12; }
};
STICTION_ON_EVERY_SCENE(OwnParams);

TEST_P(OwnParams, ReadingThemChangesNoBit) {
  const std::vector<int> keys = up_to(slow() ? 5 : 20);
  Batch untouched = scattered(name(), keys), own = scattered(name(), keys);
  read_every_parameter(own);
  advance(untouched, calls()), advance(own, calls());
  expect_same_bits(untouched, own);
  EXPECT_EQ(untouched.counts().iterations, own.counts().iterations);
}

// A file without own parameters, into a batch that has them: the same motion from there on.
TEST_P(OwnParams, AFileWithoutThemGoesOnAsItDid) {
  const std::string path =
      (std::filesystem::temp_directory_path() /
       ("stiction_own_" + std::to_string(::getpid()) + GetParam().first + GetParam().second))
          .string();
  const std::vector<int> keys = up_to(slow() ? 5 : 20);
  Batch untouched = scattered(name(), keys), own = scattered(name(), keys);
  advance(untouched, 2);
  untouched.save(path);
  read_every_parameter(own);
  for (const char* changed : {"dof_frictionloss", "actuator_bias", "body_mass"}) {
    const ArrayView v = own.param(changed);
    std::vector<double> all = reals(v);
    for (double& x : all) x = 1.5 * x + 0.125;
    put_reals(v, all);
  }
  own.load(path);
  // loading refreshes the outputs, also of the batch that wrote the file
  untouched.load(path);
  std::remove(path.c_str());
  advance(untouched, calls()), advance(own, calls());
  expect_same_bits(untouched, own);
}

// Of the kernels of a card: sums over lanes have their order, too.
TEST(OwnParamsOnLanes, ReadingThemChangesNoBit) {
  register_emulated_device();
  for (const char* where : {"emulated_warp", "emulated_block"})
    for (const char* name : {"branches", "pushed", "stack"}) {
      if (kSanitized && name != std::string("pushed")) continue;
      use_device(where);
      Batch untouched = scattered(name, {0, 1}), own = scattered(name, {0, 1});
      read_every_parameter(own);
      advance(untouched, 2, 2), advance(own, 2, 2);
      expect_same_bits(untouched, own);
    }
  use_device("cpu");
}

// Where no row acts and nothing touches a step is v_free, to the last bit and without an iteration,
// whether or not a row might act.
TEST(OwnParamsInFlight, NeitherFrictionNorLimitsAtRestCostAnIteration) {
  use_device("cpu");
  const ModelPtr m = mjcf(R"(<worldbody><body pos='0 0 9'><freejoint/><geom size='.1' mass='2'/>
    <body pos='.3 0 0'><joint name='a' axis='0 1 0' range='-90 90'/><geom size='.1' mass='1'/></body>
    </body></worldbody><actuator><motor joint='a'/></actuator>)");
  Batch b(m, batch_options(3));
  const ArrayView loss = b.param("dof_frictionloss");
  (void)b.param("actuator_gain"), (void)b.param("actuator_bias");
  put(loss, 1, 6, 0.5);  // dry friction slows one environment
  put(b.field("qvel"), 1, 6, 1.0);
  put(b.field("qpos"), 2, 7, 1.56);  // and one that swings into its limit
  put(b.field("qvel"), 2, 6, 20.0);
  b.step();
  EXPECT_EQ(number(b, "solver_niter", 0, 0), 0);
  EXPECT_LT(number(b, "qvel", 1, 6), 1.0);
  EXPECT_LT(number(b, "qvel", 2, 6), 10.0);  // 0.01 rad are left
}

}  // namespace
}  // namespace stiction::test
