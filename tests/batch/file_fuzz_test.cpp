// Files of a batch with wrong bytes under a right checksum: refused, or loaded as other numbers that a
// batch can step; never a crash, and what is refused changes nothing.
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "batch/batches.h"
#include "batch/damage.h"
#include "cpu/layout.h"

namespace stiction::test {
namespace {

using testing::AnyOf;
using testing::HasSubstr;

class DamagedFile : public EveryDevice {
 protected:
  std::string path_ =
      (std::filesystem::temp_directory_path() / ("stiction_damaged_" + std::to_string(getpid())))
          .string();
  ~DamagedFile() override { std::remove(path_.c_str()); }

  Batch make() const {
    Batch b(crawler(), batch_options(kEnvs));
    for (int env = 0; env < kEnvs; ++env) start(b, env, env);
    return b;
  }
  Raw contents() const {
    std::ifstream in(path_, std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    Raw bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
  }
  void write(const Raw& bytes) const {
    std::ofstream(path_, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  // "": loaded, and stepped with outputs that are numbers.
  std::string load(Batch& b, const Raw& bytes) const {
    write(bytes);
    const std::uint64_t before = b.state_hash();
    const std::string refusal = error_message([&] { b.load(path_); });
    if (!refusal.empty()) {
      EXPECT_EQ(b.state_hash(), before) << refusal;
      return refusal;
    }
    b.step(2);
    for (const char* output : {"xpos", "qacc", "xfrc_contact", "sensordata"})
      for (const double x : reals(b.field(output))) EXPECT_TRUE(std::isfinite(x)) << output;
    return "";
  }

  static constexpr int kEnvs = 3;
  static constexpr std::size_t kHeader = 56;
  // One per parameter.
  static std::size_t flags(const Model& model) {
    std::size_t n = 0;
    for (const FieldInfo& f : Batch::fields(model)) n += f.kind == "param" ? 1 : 0;
    return n;
  }
};
STICTION_ON_EVERY_DEVICE(DamagedFile);

TEST_P(DamagedFile, NoFieldBecomesAParameterByAFlag) {
  Batch a = make();
  a.step(2);
  a.save(path_);
  const Raw good = contents();
  int refused = 0, loaded = 0, empty = 0;
  for (const FieldInfo& f : Batch::fields(a.model()))
    empty += f.kind == "param" && f.rows * f.columns == 0 ? 1 : 0;
  for (std::size_t f = 0; f < flags(a.model()); ++f)
    for (const int value : {1, 2, 255}) {
      Raw bytes = good;
      bytes[kHeader + f] = std::byte{static_cast<unsigned char>(value)};
      const std::string refusal = load(a, sealed(bytes));
      EXPECT_THAT(refusal, AnyOf("", HasSubstr("is an own parameter"), HasSubstr("its length")));
      refused += refusal.find("is an own parameter") != std::string::npos ? 1 : 0;
      loaded += refusal.empty() ? 1 : 0;
    }
  EXPECT_EQ(loaded, empty);  // parameters of nothing, which may be own
  EXPECT_EQ(refused, static_cast<int>(2 * flags(a.model())));
  EXPECT_EQ(load(a, good), "");
}

TEST_P(DamagedFile, AnyBytesUnderARightChecksum) {
  Batch a = make();
  a.param("body_mass");
  a.step(2);
  a.save(path_);
  const Raw good = contents();
  Damage damage(3);
  int loaded = 0, refused = 0;
  for (int k = 0; k < (slow() ? 100 : 1500); ++k) {
    Raw bytes = good;
    const std::size_t end = bytes.size() - sizeof(Archive::Checksum);
    if (k % 10 == 0)
      damage.resize(bytes);
    else if (k % 10 < 4)
      damage.hit(bytes, 0, kHeader + flags(a.model()));
    else if (k % 10 < 6)
      damage.hit(bytes, end - 3 * 4 * kEnvs, end);  // status, its step, steps
    else
      damage.hit(bytes, kHeader + flags(a.model()), end);
    ++(load(a, sealed(bytes)).empty() ? loaded : refused);
  }
  EXPECT_GT(loaded, 20);
  EXPECT_GT(refused, 40);
  EXPECT_EQ(load(a, good), "");
}

// Those of a frozen environment are shown as they were saved.
TEST_P(DamagedFile, OutputsThatAreNotFinite) {
  Batch a = make();
  a.step(2);
  const std::vector<std::byte> good = a.snapshot();
  const std::uint64_t before = a.state_hash();
  Raw bytes(good.begin(), good.end());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::memcpy(bytes.data() + kHeader + flags(a.model()), &nan, sizeof nan);
  const Raw damaged = sealed(bytes);
  EXPECT_THAT(error_message([&] { a.restore(damaged); }), HasSubstr("is not finite"));
  EXPECT_EQ(a.state_hash(), before);
  EXPECT_EQ(error_message([&] { a.restore(good); }), "");
}

TEST_P(DamagedFile, StatusesThatAreNone) {
  Batch a = make();
  a.step(4);
  a.save(path_);
  const Raw good = contents();
  const auto with = [&](int row, std::int32_t value) {
    Raw bytes = good;
    const std::size_t rows = bytes.size() - sizeof(Archive::Checksum) - 3 * 4 * kEnvs;
    std::memcpy(bytes.data() + rows + static_cast<std::size_t>(4 * (kEnvs * row + 1)), &value, 4);
    return load(a, sealed(bytes));
  };
  EXPECT_THAT(with(0, 1 << 30), HasSubstr("of environment 1"));
  EXPECT_THAT(with(1, -2), HasSubstr("damaged"));
  EXPECT_THAT(with(1, 5), HasSubstr("from step 5 of 4"));
  EXPECT_THAT(with(2, -1), HasSubstr("damaged"));
  EXPECT_EQ(with(0, static_cast<int>(bit(Status::not_converged))), "");
}

// A file says how it was stepped: other instructions give other bits, and load says so.
TEST_P(DamagedFile, AFileOfAnotherInstructionSetLoadsWithAWarning) {
  Batch a = make(), b = make();
  a.save(path_);
  EXPECT_EQ(b.load(path_), "");
  Raw bytes = contents();
  const char other[16] = "sse\x1b[31m";
  std::memcpy(bytes.data() + kHeader - sizeof other, other, sizeof other);
  write(sealed(bytes));
  const std::string warning = b.load(path_);
  EXPECT_THAT(warning, HasSubstr("was stepped with 'sse?[31m'"));
  EXPECT_THAT(warning, HasSubstr("this batch steps with '" + b.isa() + "'"));
  EXPECT_EQ(a.state_hash(), b.state_hash());
}

TEST_P(DamagedFile, AFileThatNeverEndsIsRefused) {
  Batch a = make();
  EXPECT_THAT(error_message([&] { a.load("/dev/zero"); }), HasSubstr("is not a file that"));
  a.save(path_);
  Raw bytes = contents();
  bytes.resize(bytes.size() + (std::size_t{1} << 24));
  write(sealed(bytes));
  EXPECT_THAT(error_message([&] { a.load(path_); }), HasSubstr("damaged"));
  EXPECT_THAT(error_message([&] { a.load("/tmp"); }), HasSubstr("a folder"));
}

}  // namespace
}  // namespace stiction::test
