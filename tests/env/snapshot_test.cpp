// Snapshots that no Env wrote, or one that ends episodes in another way.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "batch/damage.h"
#include "env/players.h"

namespace stiction::test {
namespace {

using testing::HasSubstr;

class Snapshots : public EveryDevice {};
STICTION_ON_EVERY_DEVICE(Snapshots);

// Wrong bytes under right checksums, its own and that of the batch inside: refused, or gone on from.
TEST_P(Snapshots, DamagedSnapshotsAreRefusedOrStepped) {
  Player player("Go2Flat", options(3));  // its task has a memory
  for (int k = 0; k < 4; ++k) player.step();
  const std::vector<std::byte> good = player.env.snapshot();
  constexpr std::size_t kHeader = 48, kCount = 40;
  std::uint64_t batch_bytes;
  std::memcpy(&batch_bytes, good.data() + kCount, sizeof batch_bytes);
  const std::size_t batch_end = kHeader + batch_bytes, end = good.size() - 8;
  ASSERT_LT(batch_end, end);

  const auto restore = [&](const Raw& bytes) {
    const std::uint64_t before = player.env.batch().state_hash(), steps = player.env.steps();
    const std::string refusal = error_message([&] { player.env.restore(sealed(bytes)); });
    if (!refusal.empty()) {
      EXPECT_EQ(player.env.batch().state_hash(), before) << refusal;
      EXPECT_EQ(player.env.steps(), steps) << refusal;
    }
    player.step();
    for (const ArrayView& v : {player.env.obs(), player.env.reward(), player.env.metrics()})
      for (const float x : numbers<float>(v)) EXPECT_TRUE(std::isfinite(x)) << v.name;
    return refusal;
  };
  // the count of the batch's bytes: any, and such as wrap around with the rest
  for (const std::uint64_t count :
       {std::uint64_t{0}, std::uint64_t{7}, batch_bytes - 1, batch_bytes + 1, std::uint64_t{end},
        ~std::uint64_t{0}, ~std::uint64_t{0} - (end - batch_end) + 1, std::uint64_t{1} << 63}) {
    Raw bytes = good;
    std::memcpy(bytes.data() + kCount, &count, sizeof count);
    EXPECT_NE(restore(bytes), "") << count;
    bytes.resize(kHeader + 8 + 16);  // less than the rest
    EXPECT_NE(restore(bytes), "") << count;
  }
  Damage damage(8);
  int restored = 0, refused = 0;
  for (int k = 0; k < (slow() ? 60 : 600); ++k) {
    Raw bytes = good;
    if (k % 6 == 0) {
      damage.resize(bytes);
    } else if (k % 6 == 1) {
      damage.hit(bytes, 0, kHeader);
    } else if (k % 6 < 4) {
      Raw batch(bytes.begin() + kHeader, bytes.begin() + static_cast<std::ptrdiff_t>(batch_end));
      damage.hit(batch, 0, batch.size() - 8);
      std::ranges::copy(sealed(batch), bytes.begin() + kHeader);
    } else {
      damage.hit(bytes, batch_end, end);
    }
    ++(restore(bytes).empty() ? restored : refused);
  }
  EXPECT_GT(restored, 5);
  EXPECT_GT(refused, 20);
  EXPECT_EQ(restore(good), "");
}

// A mode of its own ends episodes at other times: what waits for its next step in one would never
// end in the other.
TEST_P(Snapshots, ASnapshotOfAnotherModeIsRefused) {
  EnvOptions o = options(2, Autoreset::next_step);
  o.max_episode_steps = 5;
  Player a("Hopper-v5", o);
  for (int k = 0; k < 5; ++k) a.step();
  o.autoreset = Autoreset::same_step;
  Env b("Hopper-v5", o);
  const std::uint64_t before = b.batch().state_hash();
  EXPECT_THAT(error_message([&] { b.restore(a.env.snapshot()); }),
              HasSubstr("autoreset = 'next_step', here it is 'same_step'"));
  EXPECT_EQ(b.batch().state_hash(), before);
}

}  // namespace
}  // namespace stiction::test
