// Construction, fields, parameters and the refusals of wrong arguments.
#include <cstdlib>
#include <limits>
#include <new>

#include "batch/allocations.h"
#include "batch/batches.h"

std::atomic<int> stiction::test::allocations{0};
__attribute__((noinline)) void* operator new(std::size_t n) {
  ++stiction::test::allocations;
  if (void* p = std::malloc(n > 0 ? n : 1)) return p;
  throw std::bad_alloc();
}
// AddressSanitizer has one of its own, which free() does not know
__attribute__((noinline)) void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
  ++stiction::test::allocations;
  return std::malloc(n > 0 ? n : 1);
}
__attribute__((noinline)) void operator delete(void* p) noexcept {
  std::free(p);
}
__attribute__((noinline)) void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}

namespace stiction::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Batch make(int n, Precision p = Precision::float32, std::optional<int> threads = {}) {
  BatchOptions o = batch_options(n);
  o.precision = p;
  o.threads = threads;
  return Batch(crawler(), o);
}

class BatchOnDevice : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(BatchOnDevice);

TEST(Batch, RefusesOptionsOutOfRange) {
  const ModelPtr m = crawler();
  const auto refusal = [&](const auto& change) {
    BatchOptions o;
    change(o);
    return error_message([&] { Batch(m, o); });
  };
  EXPECT_THAT(refusal([](auto& o) { o.num_envs = 0; }), HasSubstr("num_envs = 0: must be >= 1"));
  EXPECT_THAT(refusal([](auto& o) { o.threads = 0; }), HasSubstr("threads = 0"));
  EXPECT_THAT(refusal([](auto& o) { o.device = "tpu"; }), HasSubstr("device = 'tpu'"));
  EXPECT_THAT(refusal([](auto& o) { o.options.timestep = 0; }), HasSubstr("timestep"));
  EXPECT_THAT(refusal([](auto& o) { o.options.timestep = kNaN; }), HasSubstr("timestep"));
  EXPECT_THAT(refusal([](auto& o) { o.options.stiction_tolerance = 0; }),
              HasSubstr("stiction_tolerance"));
  EXPECT_THAT(refusal([](auto& o) { o.num_envs = std::numeric_limits<int>::max(); }),
              AllOf(HasSubstr("needs"), HasSubstr("this machine has"), HasSubstr("num_envs")));
  EXPECT_THAT(error_message([] { Batch(nullptr, {}); }), HasSubstr("model is null"));
}

TEST(Batch, DefaultsAreResolved) {
  const Batch f = make(3), d = make(3, Precision::float64);
  EXPECT_EQ(*f.options().timestep, 0.004);
  EXPECT_EQ(*f.options().solver_tolerance, 1e-4);
  EXPECT_EQ(*d.options().solver_tolerance, 1e-6);
  EXPECT_EQ(make(5, Precision::float64).field("qvel").dtype, DType::float64);
  EXPECT_EQ(d.isa(), "float64");
  EXPECT_EQ(d.lanes(), 1);

  EXPECT_LE(make(2 * f.lanes(), Precision::float32, 8).threads(), 2);
}

TEST_P(BatchOnDevice, MemoryIsKnownBeforehand) {
  const BatchMemory m = batch_memory(*crawler(), batch_options(100));
  Batch b = make(100);
  EXPECT_EQ(b.memory().total, m.total);
  EXPECT_EQ(b.memory().device, m.device);
  EXPECT_EQ(m.device > 0, device() != "cpu");
  b.param("body_mass");
  if (device() != "cpu") {
    EXPECT_EQ(b.memory().device, m.device + 100 * sizeof(float) * 6);
  }
  EXPECT_GE(m.total + m.mirror, 100 * (m.per_env - 13) + m.per_thread);
  EXPECT_EQ(m.mirror,
            device() == "cpu"
                ? 0
                : 100 * (m.per_env - 13));  // without the status and a byte on its anchors
  EXPECT_EQ(b.memory().mirror, device() == "cpu" ? 0 : m.mirror + 100 * sizeof(float) * 6);
}

TEST_P(BatchOnDevice, FieldsHaveTheShapesOfTheList) {
  Batch b = make(5);
  const Model& m = b.model();
  EXPECT_EQ(b.field("qpos").ndim, 2);
  EXPECT_EQ(b.field("qpos").shape[1], m.nq);
  EXPECT_EQ(b.field("qpos").dtype, DType::float64);
  EXPECT_EQ(b.field("qvel").dtype, DType::float32);
  EXPECT_EQ(b.field("time").ndim, 1);
  EXPECT_EQ(b.field("xpos").ndim, 3);
  EXPECT_EQ(b.field("xpos").shape[2], 3);
  EXPECT_FALSE(b.field("xpos").writable);
  EXPECT_TRUE(b.field("ctrl").writable);
  EXPECT_EQ(b.param("gravity").ndim, 2);
  EXPECT_EQ(b.status().dtype, DType::uint32);
  EXPECT_EQ(status_step(b, 4), -1);
  for (const FieldInfo& f : Batch::fields(m)) {
    if (f.kind == "computed") {
      const Computed c = b.compute(f.name);
      EXPECT_EQ(c.numbers.size(), static_cast<std::size_t>(5 * f.rows * f.columns)) << f.name;
      EXPECT_EQ(c.shape.front(), 5);
      EXPECT_THAT(error_message([&] { b.field(f.name); }), HasSubstr("compute(\"" + f.name));
    } else if (f.kind != "param") {
      EXPECT_EQ(b.field(f.name).size(), 5 * f.rows * f.columns);
    }
  }
  EXPECT_THAT(error_message([&] { b.compute("geom_xpo"); }), HasSubstr("nearest: 'geom_xpos'"));
}

TEST_P(BatchOnDevice, WrongNamesGetTheNearestOnes) {
  Batch b = make(2);
  EXPECT_THAT(error_message([&] { b.field("qpso"); }), HasSubstr("nearest: 'qpos'"));
  EXPECT_THAT(error_message([&] { b.field("body_mass"); }), HasSubstr("param(\"body_mass\")"));
  EXPECT_THAT(error_message([&] { b.param("qpos"); }), HasSubstr("not a parameter but state"));
  EXPECT_THAT(error_message([&] { b.field("cdof"); }), HasSubstr("no field named"));
}

TEST_P(BatchOnDevice, OwnParametersStartFromTheModelAndActOnTheirEnvironmentAlone) {
  Batch a = make(40), b = make(40);
  EXPECT_FALSE(b.param_is_own("gravity"));
  const ArrayView g = b.param("gravity");
  EXPECT_TRUE(b.param_is_own("gravity"));
  EXPECT_NEAR(number(b, "gravity", 17, 2), -9.81, 1e-6);
  a.step(3), b.step(3);
  EXPECT_EQ(a.state_hash(), b.state_hash());
  put(g, 17, 2, -1.62);
  a.step(3), b.step(3);
  for (int env = 0; env < 40; ++env) EXPECT_EQ(bytes(a, env) == bytes(b, env), env != 17) << env;
}

TEST_P(BatchOnDevice, UnphysicalOwnParametersAreRefusedByName) {
  struct Case {
    const char* name;
    int index;
    double value;
    const char* message;
  };
  const Case cases[] = {
      {"body_mass", 2, 0, "body_mass[3, 2] = 0: must be > 0"},
      {"body_mass", 2, -1, "must be >= 0"},
      {"body_mass", 2, kNaN, "must be finite"},
      {"body_inertia", 7, 1e3, "sum of the other two"},
      {"body_inertia", 7, 0, "must be > 0"},
      {"body_quat", 4, 0.9, "length 1"},
      {"jnt_axis", 4, 2, "length 1"},
      {"geom_size", 3, 0, "at most the model's"},
      {"geom_size", 6, 10, "at most the model's"},
      {"geom_friction", 1, -0.1, "must be >= 0"},
      {"geom_friction", 1, kNaN, "must be finite"},
      {"pair_stiffness", 0, 0, "must be > 0"},
      {"pair_dissipation", 0, -1, "must be >= 0"},
      {"pair_weight", 0, 2, "[0, 1]"},
      {"jnt_range", 2, 9, "at most the upper bound"},
      {"jnt_solref", 3, -1, "like the number after it"},
      {"actuator_ctrlrange", 0, 5, "at most the upper bound"},
      {"dof_damping", 6, -1, "must be >= 0"},
      {"gravity", 0, std::numeric_limits<double>::infinity(), "must be finite"},
  };
  for (const Case& c : cases) {
    Batch b = make(5);
    const ArrayView v = b.param(c.name);
    EXPECT_NO_THROW(b.check_params()) << c.name;
    put(v, 3, c.index, c.value);
    EXPECT_THAT(error_message([&] { b.check_params(); }),
                AllOf(HasSubstr(c.name), HasSubstr(c.message)));
    EXPECT_THAT(error_message([&] { b.reset(); }), HasSubstr(c.message));
    const int other = 2;
    EXPECT_NO_THROW(b.reset(std::span(&other, 1)));
  }
}

TEST_P(BatchOnDevice, ParametersThatAreHarmlessPass) {
  Batch b = make(2);
  put(b.param("geom_friction"), 1, 1, 0);
  put(b.param("geom_friction"), 1, 2, 1e6);
  put(b.param("pair_dissipation"), 1, 0, 0);
  put(b.param("actuator_gain"), 0, 0, -3);
  EXPECT_NO_THROW(b.check_params());
  EXPECT_NO_THROW(b.step(2));
}

TEST_P(BatchOnDevice, AStepAllocatesNothing) {
  if (interpreted()) GTEST_SKIP() << "the interpreter's own memory is the host's";
  for (const int threads : {1, 2}) {
    Batch b =
        make(100, Precision::float32, device() == "cpu" ? std::optional(threads) : std::nullopt);
    b.param("body_mass");
    b.step(3), b.refresh();  // a device makes a graph of each
    const int before = allocations;
    b.step(3);
    b.refresh();
    EXPECT_EQ(allocations, before);
  }
}

TEST_P(BatchOnDevice, StepRefusesNoSteps) {
  Batch b = make(2);
  EXPECT_THAT(error_message([&] { b.step(0); }), HasSubstr("step(0): must be >= 1"));
}

TEST_P(BatchOnDevice, CountsAddUp) {
  Batch b = make(37);
  b.step(3);
  b.step(2);
  EXPECT_EQ(b.counts().env_steps, 37u * 5);
  std::uint64_t sum = 0, weighted = 0;
  for (std::size_t i = 0; i < b.counts().iteration_histogram.size(); ++i)
    sum += b.counts().iteration_histogram[i], weighted += i * b.counts().iteration_histogram[i];
  EXPECT_EQ(sum, 37u * 5);
  EXPECT_EQ(weighted, b.counts().iterations);
  EXPECT_EQ(b.counts().pack_steps,
            static_cast<std::uint64_t>((37 + b.lanes() - 1) / b.lanes()) * 5);
  b.clear_counts();
  EXPECT_EQ(b.counts().env_steps, 0u);
  EXPECT_EQ(b.counts().iteration_histogram.size(), 33u);
}

// Every other robot falls freely, without an iteration: alike ones share a pack from the second call
// on, so half of the packs have nothing to solve.
TEST(Batch, PacksHoldWhatIsAlike) {
  const ModelPtr ball = mjcf(R"(<option timestep='0.004'/><worldbody>
      <geom type='plane' size='5 5 1'/>
      <body pos='0 0 .1'><freejoint/><geom size='.1'/></body></worldbody>)");
  BatchOptions options;
  options.num_envs = 64, options.threads = 1;
  Batch b(ball, options);
  for (int env = 1; env < 64; env += 2) put(b.field("qpos"), env, 2, 50);
  for (int env = 0; env < 64; ++env) put(b.field("qvel"), env, 0, 1);  // sliding
  if (b.lanes() == 1) GTEST_SKIP() << "packs of one lane";
  for (const std::uint64_t packs : {1u, 2u}) {  // packs per one that has something to solve
    b.clear_counts();
    b.step(1);
    const auto slowest = static_cast<std::uint64_t>(number(b, "solver_niter", 0, 0));
    ASSERT_GT(slowest, 0u);
    EXPECT_EQ(number(b, "solver_niter", 1, 0), 0);
    EXPECT_EQ(b.counts().pack_max_iterations * packs, slowest * b.counts().pack_steps);
  }
}

}  // namespace
}  // namespace stiction::test
