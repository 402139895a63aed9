// Boxes on boxes through whole steps: a stack stands, a tilted box sticks or slides as it should.
#include <cmath>
#include <numbers>

#include "model/mjcf.h"
#include "stiction/reference.h"

namespace stiction::test {
namespace {

struct State {
  Reals qpos, qvel, anchor;
};
void advance(const Reference& ref, State& s) {
  StepResult r = ref.step(s.qpos, s.qvel, {.anchor = s.anchor});
  ASSERT_EQ(r.status, Status::ok);
  s = {std::move(r.qpos), std::move(r.qvel), std::move(r.anchor)};
}
double largest(const Reals& x) {
  double m = 0;
  for (const double a : x) m = std::max(m, std::abs(a));
  return m;
}

// Ten equal cubes, flush, the lowest on a static box of the same width.
TEST(BoxStack, TenCubesSettleAndStay) {
  std::string bodies = "<geom type='box' size='.1 .1 .1' pos='0 0 -.1'/>";
  for (int i = 0; i < 10; ++i)
    bodies += "<body pos='0 0 " + std::to_string(0.1 + 0.2 * i) +
              "'><freejoint/><geom type='box' size='.1 .1 .1' mass='1'/></body>";
  const auto m = mjcf("<option timestep='.004'/><worldbody>" + bodies + "</worldbody>");
  Options o;
  o.stiction = Stiction::anchored;
  const Reference ref(m, o);
  State s{m->qpos0, Reals(at(m->nv), 0.0), {}};
  for (int i = 0; i < 1000; ++i) ASSERT_NO_FATAL_FAILURE(advance(ref, s)) << i;
  const State settled = s;
  EXPECT_LT(largest(s.qvel), 1e-6);
  for (int i = 0; i < 1000; ++i) ASSERT_NO_FATAL_FAILURE(advance(ref, s));
  double moved = 0, sideways = 0;
  for (std::size_t b = 0; b < 10; ++b) {
    for (std::size_t k = 0; k < 7; ++k)
      moved = std::max(moved, std::abs(s.qpos[7 * b + k] - settled.qpos[7 * b + k]));
    sideways = std::max(sideways, std::hypot(s.qpos[7 * b], s.qpos[7 * b + 1]));
  }
  std::printf("stack: speed %.1e, moved %.1e, sideways %.1e\n", largest(s.qvel), moved, sideways);
  // velocities below the solver's tolerance (1e-6 of a step of gravity, 4e-8 m/s) are accepted
  EXPECT_LT(moved, 1e-7);
  EXPECT_LT(sideways, 1e-7);
}

// A box on a slope made of a tilted box: holds while tan 15° < μ, else accelerates with
// g (sin 15° − μ cos 15°).
TEST(BoxStack, TiltedBoxSticksOrSlides) {
  const double angle = std::numbers::pi / 12, g = 9.81;
  for (const double mu : {0.5, 0.2}) {
    const std::string friction = " friction='" + std::to_string(mu) + "'/>";
    const auto m = mjcf(
        "<compiler angle='degree'/><option timestep='.002' gravity='0 0 -9.81'/>"
        "<worldbody><geom type='box' size='5 1 .1' euler='0 15 0'" +
        friction + "<body pos='" + std::to_string(0.2 * std::sin(angle)) + " 0 " +
        std::to_string(0.2 * std::cos(angle)) +
        "' euler='0 15 0'><freejoint/><geom type='box' size='.2 .1 .1' mass='1'" + friction +
        "</body></worldbody>");
    Options o;
    o.stiction = Stiction::anchored;
    const Reference ref(m, o);
    State s{m->qpos0, Reals(at(m->nv), 0.0), {}};
    const auto down_speed = [&] {
      return s.qvel[0] * std::cos(angle) - s.qvel[2] * std::sin(angle);
    };
    for (int i = 0; i < 200; ++i) ASSERT_NO_FATAL_FAILURE(advance(ref, s));
    const double before = down_speed();
    for (int i = 0; i < 200; ++i) ASSERT_NO_FATAL_FAILURE(advance(ref, s));
    const double expected = std::max(0.0, g * (std::sin(angle) - mu * std::cos(angle)));
    std::printf("mu %.1f: speed %.3e, acceleration %.9f of %.9f\n", mu, down_speed(),
                (down_speed() - before) / 0.4, expected);
    // sticks to the solver's tolerance; slides with μ less 0.5 % (ε_s of the soft norm over v)
    EXPECT_NEAR((down_speed() - before) / 0.4, expected, 1e-6 + 1e-4 * expected);
    if (mu == 0.5) {
      EXPECT_LT(std::abs(down_speed()), 1e-7);
    }
  }
}

}  // namespace
}  // namespace stiction::test
