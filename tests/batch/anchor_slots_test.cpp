// A run goes through the slots that may have an anchor, and through no others: the bits are those of a batch whose
// anchors somebody sees, which looks at every slot before each run.
#include <algorithm>
#include <filesystem>

#include "batch/scenes.h"

namespace stiction::test {
namespace {

class AnchorSlots : public testing::TestWithParam<std::string> {
 protected:
  Batch make(int n = 40) const {
    Options o;
    o.stiction = Stiction::anchored;
    Batch b = scattered(GetParam(), up_to(n), 1, o);
    for (int i = 0; i < n; i += 3) put(b.field("qvel"), i, 0, 0.3);  // they leave their packs
    return b;
  }
};
INSTANTIATE_TEST_SUITE_P(Scenes, AnchorSlots,
                         testing::Values("stack", "rocks", "pushed", "g1", "go2"),
                         [](const auto& named) { return named.param; });

// What somebody does to the batch between two runs; the anchors of `hidden` are never asked for by name.
struct Event {
  const char* what;
  std::function<void(Batch&)> act;
};
void forget(Batch& b, const std::vector<int>& ids) {
  BatchState s = b.get_state(ids);
  s.anchor.clear();
  b.set_state(ids, s);
}
std::vector<Event> events() {
  static const std::vector<int> some = {1, 5, 17, 33}, others = {2, 9, 20, 36};
  static BatchState kept;
  static std::vector<std::byte> snapshot;
  return {{"keep", [](Batch& b) { kept = b.get_state(some); }},
          {"remember", [](Batch& b) { b.remember(); }},
          {"snapshot", [](Batch& b) { snapshot = b.snapshot(); }},
          {"copy", [](Batch& b) { forget(b, others), b.copy(some, others); }},
          {"reset", [](Batch& b) { b.reset(others); }},
          {"other anchors", [](Batch& b) { forget(b, others), b.set_state(others, kept); }},
          {"no anchors", [](Batch& b) { forget(b, some); }},
          {"reset to a state", [](Batch& b) { b.reset(others, &kept); }},
          {"restore", [](Batch& b) { b.restore(snapshot); }},
          {"put back", [](Batch& b) { b.put_back(); }},
          {"frozen", [](Batch& b) {
             for (const int env : {3, 18, 39}) put(b.field("qvel"), env, 0, 1e30);
           }}};
}

std::size_t anchored_slots(Batch& b) {
  const BatchState s = b.get_state(all_ids(b));
  return static_cast<std::size_t>(
      std::count_if(s.anchor.begin(), s.anchor.end(), [](double x) { return x != 0; }));
}

TEST_P(AnchorSlots, GiveTheSameBitsAsAllSlots) {
  Batch hidden = make(), shown = make();
  ASSERT_GT(hidden.model().nanchor, 0);
  shown.field("anchor");
  const auto run = [&](const std::string& what) {
    for (int k = 0; k < 4; ++k) {
      advance(hidden, 1), advance(shown, 1);
      ASSERT_EQ(hidden.state_hash(), shown.state_hash()) << what << ", call " << k;
    }
  };
  run("start");
  for (const Event& event : events()) {
    event.act(hidden);
    event.act(shown);
    ASSERT_EQ(hidden.state_hash(), shown.state_hash()) << event.what;
    ASSERT_NO_FATAL_FAILURE(run(event.what));
  }
  EXPECT_GT(anchored_slots(hidden), 40u);
}

// What is written into a view counts, also of slots that nobody has touched with.
TEST_P(AnchorSlots, AreThoseThatAUserWrites) {
  Batch b = make(3);
  advance(b, 20);
  int last = 3 * b.model().nanchor - 1;
  while (last > 0 && number(b, "anchor", 1, last) != 0) --last;
  put(b.field("anchor"), 1, last, 1e-4);
  b.refresh();
  EXPECT_EQ(number(b, "anchor", 1, last), static_cast<double>(1e-4f));
  b.step();
  EXPECT_LT(std::fabs(number(b, "anchor", 1, last)), 1e-5);
  put(b.field("anchor"), 1, last, std::numeric_limits<double>::infinity());
  b.step();
  EXPECT_NE(status(b, 1) & bit(Status::bad_state), 0u);
  EXPECT_EQ(number(b, "anchor", 1, last), 0);
}

// Anchors, those of dry friction, and the bits of the slots.
TEST(AnchorSlotsMemory, IsKnown) {
  const ModelPtr m = scene("go2");
  BatchOptions o = batch_options(8);
  const std::size_t without = batch_memory(*m, o).per_env;
  o.options.stiction = Stiction::anchored;
  const std::size_t rows = sizeof(float) * at(3 * m->nanchor + m->nv + m->ntendon);
  EXPECT_EQ(batch_memory(*m, o).per_env, without + rows + 8 * at((m->nslot + 63) / 64));
}

}  // namespace
}  // namespace stiction::test
