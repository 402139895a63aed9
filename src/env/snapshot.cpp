// Serializes everything that future steps depend on.
#include <cmath>
#include <type_traits>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

constexpr std::uint32_t kVersion = 3;

struct Header {
  char magic[8] = {'e', 'p', 'i', 's', 'o', 'd', 'e', 's'};
  std::uint32_t version = kVersion;
  std::int32_t num_envs = 0, num_obs = 0, num_metrics = 0, autoreset = 0, unused = 0;
  std::uint64_t task = 0;   // hash of id and options
  std::uint64_t batch = 0;  // bytes of the batch
};
static_assert(std::has_unique_object_representations_v<Header>);

std::uint64_t hash_of(const TaskInfo& info) {
  std::uint64_t hash = hash_bytes(info.id.data(), info.id.size());
  const auto add = [&](const void* data, std::size_t n) { hash = hash_bytes(data, n, hash); };
  for (const TaskOptionInfo& o : info.options) {
    add(o.name.data(), o.name.size());
    std::visit(
        [&](const auto& value) {
          using T = std::decay_t<decltype(value)>;
          if constexpr (std::is_arithmetic_v<T>)
            add(&value, sizeof value);
          else
            add(value.data(), value.size() * sizeof value[0]);
        },
        o.value);
  }
  return hash;
}

[[noreturn]] void refuse(const std::string& what) {
  throw Error("snapshot of environments: " + what);
}

const char* name_of(int autoreset) {
  constexpr const char* kNames[] = {"same_step", "next_step", "disabled"};
  return autoreset >= 0 && autoreset < 3 ? kNames[autoreset] : "another";
}

// Users may write the length of an episode, even a negative one to move the time limit; incrementing it must not
// overflow.
constexpr std::int32_t kMostSteps = std::int32_t{1} << 30;

// Returns whether these bytes are numbers as an Env leaves them: flags 0 or 1, lengths that can grow, reals
// finite. Seeds and the task's memory may have any value.
template <class T>
bool possible(std::span<const std::byte> bytes) {
  if constexpr (std::is_same_v<T, std::byte> || std::is_same_v<T, std::uint64_t> ||
                std::is_same_v<T, std::uint32_t>) {
    return true;
  } else if constexpr (std::is_same_v<T, bool>) {
    return possible<std::uint8_t>(bytes);
  } else {
    for (std::size_t i = 0; i < bytes.size(); i += sizeof(T)) {
      T x;
      std::memcpy(&x, bytes.data() + i, sizeof x);
      if constexpr (std::is_floating_point_v<T>) {
        if (!std::isfinite(x)) return false;
      } else if constexpr (std::is_signed_v<T>) {
        if (x < -kMostSteps || x > kMostSteps) return false;
      } else {
        if (x > 1) return false;
      }
    }
    return true;
  }
}

}  // namespace

// Calls array(address of its first number, bytes) for every saved array, wherever it is; number(x) for other values.
template <class F, class G>
void Env::Impl::for_saved(const F& array, const G& number) {
  const envs::EpisodeArrays& a = current();
  const auto all = [&](auto* x, int columns) {
    array(x, envs::row_begin(num_envs(), columns) * sizeof *x);
  };
  all(a.seed, 1), all(a.episode, 1), all(a.length, 1), all(a.final_length, 1);
  all(a.sum, 1), all(a.episode_return, 1), all(a.final_return, 1), all(a.ended, 1);
  all(a.memory, a.memory_bytes), all(a.action, a.num_actions);
  number(begun);
  std::uint64_t count = steps;
  number(count);
  steps = count;
  all(a.obs, a.num_obs), all(a.final_obs, a.num_obs), all(a.metrics, a.num_metrics);
  all(a.reward, 1), all(a.terminated, 1), all(a.truncated, 1);
}

void Env::Impl::read(void* to, const void* array, std::size_t bytes) const {
  batch.copy_memory(to, array, bytes);
}
void Env::Impl::write(void* array, const void* from, std::size_t bytes) const {
  batch.copy_memory(array, from, bytes);
}

std::vector<std::byte> Env::snapshot() const {
  const Visit visit(impl_->engine().guard, Inside::env);
  const std::vector<std::byte> batch = impl_->engine().snapshot(false);
  Header header;
  header.num_envs = num_envs(), header.num_obs = info().num_obs;
  header.num_metrics = impl_->runner->num_metrics;
  header.autoreset = static_cast<std::int32_t>(autoreset());
  header.task = hash_of(info()), header.batch = batch.size();
  Archive a;
  a.put(&header, sizeof header);
  a.put(batch.data(), batch.size());
  std::vector<std::byte> numbers;
  impl_->for_saved(
      [&](const void* array, std::size_t n) {
        numbers.resize(n);
        impl_->read(numbers.data(), array, n);
        a.put(numbers.data(), n);
      },
      [&](const auto& x) { a.put(&x, sizeof x); });
  return a.sealed();
}

std::string Env::restore(std::span<const std::byte> snapshot) {
  const Visit visit(impl_->engine().guard, Inside::env);
  Header header, mine;
  if (snapshot.size() < sizeof header + sizeof(Archive::Checksum)) refuse("too short to be one");
  Archive a(snapshot);
  a.take(&header, sizeof header);
  if (std::memcmp(header.magic, mine.magic, sizeof mine.magic) != 0 || header.version != kVersion)
    refuse("not one, or of another version of stiction");
  if (header.task != hash_of(info())) refuse("of another task or other options");
  if (header.num_envs != num_envs())
    refuse(std::to_string(header.num_envs) + " environments, here are " +
           std::to_string(num_envs()));
  if (const int here = static_cast<int>(autoreset()); header.autoreset != here)
    refuse("of environments with autoreset = '" + std::string(name_of(header.autoreset)) +
           "', here it is '" + name_of(here) + "'");
  if (!a.whole()) refuse("damaged: the checksum does not match");
  std::size_t own = 0;
  impl_->for_saved([&](const auto*, std::size_t n) { own += n; },
                   [&](const auto& x) { own += sizeof x; });
  if (header.num_obs != info().num_obs || header.num_metrics != impl_->runner->num_metrics ||
      a.left() < own || header.batch != a.left() - own)
    refuse("of another version of stiction or in the other precision");

  // A checksum is not a signature: everything is checked before anything changes.
  const std::span<const std::byte> batch = a.take(a.left() - own);
  Archive numbers = a;
  const auto check = [&]<class T>(const T*, std::size_t n) {
    if (!possible<T>(numbers.take(n))) refuse("damaged: numbers that no environment has");
  };
  impl_->for_saved(check, [&](const auto& x) { check(&x, sizeof x); });
  std::string warning = impl_->engine().restore(batch, "snapshot of environments", false);
  impl_->flip();
  impl_->for_saved([&](auto* array, std::size_t n) { impl_->write(array, a.take(n).data(), n); },
                   [&](auto& x) { a.take(&x, sizeof x); });
  return warning;
}

}  // namespace stiction
