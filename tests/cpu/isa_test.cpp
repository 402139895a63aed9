// Without fused multiply-add every instruction set gives the same bits: one lane of plain floats is
// the packs' own text. Elsewhere the sets differ in the last places, and the motion stays near.
#include <cstdlib>

#include "batch/scenes.h"
#include "cpu/dispatch.h"

namespace stiction::test {
namespace {

// Sets STICTION_ISA while it lives.
class Isa {
 public:
  explicit Isa(const char* name) {
    const char* old = std::getenv("STICTION_ISA");
    if (old != nullptr) old_ = old;
    setenv("STICTION_ISA", name, 1);
  }
  ~Isa() { old_ ? setenv("STICTION_ISA", old_->c_str(), 1) : unsetenv("STICTION_ISA"); }
  Isa(const Isa&) = delete;
  Isa& operator=(const Isa&) = delete;

 private:
  std::optional<std::string> old_;
};

std::vector<Options> option_sets() {
  std::vector<Options> sets(4);
  sets[1].stiction = Stiction::anchored;
  sets[2].contact_model = ContactModel::similar;
  sets[3].contact_model = ContactModel::sap;
  return sets;
}

class InstructionSets : public testing::TestWithParam<std::string> {
 protected:
  Batch make(const char* isa, const Options& options) const {
    const Isa chosen(isa);
    return scattered(GetParam(), up_to(35), 1, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, InstructionSets, testing::ValuesIn(scene_names()),
                         [](const auto& named) { return named.param; });

TEST_P(InstructionSets, GiveTheSameBitsWithoutFusedMultiplyAdd) {
#ifndef STICTION_STRICT
  GTEST_SKIP() << "built with fused multiply-add; the preset strict is not";
#endif
  const auto kernels = cpu::usable_kernels();
  ASSERT_GE(kernels.size(), 2u) << "the preset strict has native, baseline and scalar";
  EXPECT_STREQ(kernels.back()->name, "scalar");
  EXPECT_EQ(kernels.back()->lanes, 1);
  for (const Options& options : option_sets()) {
    Batch first = make(kernels[0]->name, options);
    advance(first, 15);
    for (std::size_t k = 1; k < kernels.size(); ++k) {
      Batch other = make(kernels[k]->name, options);
      EXPECT_EQ(other.isa(), kernels[k]->name);
      advance(other, 15);
      for (int env = 0; env < 35; ++env)
        ASSERT_EQ(bytes(first, env), bytes(other, env))
            << kernels[0]->name << " against " << kernels[k]->name << ", environment " << env;
    }
    expect_contacts(first);
  }
}

// One step from the same state: round-off of the solve, which stops at 1e-4 of the momentum.
TEST_P(InstructionSets, AreNearAfterAStep) {
  const auto kernels = cpu::usable_kernels();
  Batch first = make(kernels[0]->name, {});
  first.step();
  for (std::size_t k = 1; k < kernels.size(); ++k) {
    Batch other = make(kernels[k]->name, {});
    other.step();
    const int nv = first.model().nv;
    for (int env = 0; env < 35; ++env) {
      double difference = 0, size = 0;
      for (int i = 0; i < nv; ++i) {
        const double a = number(first, "qvel", env, i), b = number(other, "qvel", env, i);
        difference = std::max(difference, std::fabs(a - b)), size = std::max(size, std::fabs(a));
      }
      EXPECT_LT(difference, 1e-2 * (size + 0.1)) << kernels[k]->name << " " << env;
    }
  }
}

}  // namespace
}  // namespace stiction::test
