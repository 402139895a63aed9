// Everything that the steps to come depend on, as bytes.
#include <type_traits>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

constexpr std::uint32_t kVersion = 2;

// Compared as a whole.
struct Header {
  char magic[8] = {'e', 'p', 'i', 's', 'o', 'd', 'e', 's'};
  std::uint32_t version = kVersion;
  std::int32_t num_envs = 0, nobs = 0, nmetric = 0;
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

}  // namespace

// array(address, bytes) for every array that is kept, wherever it is; number(x) for what is none.
template <class F, class G>
void Env::Impl::for_saved(const F& array, const G& number) {
  const envs::EpisodeArrays& a = current();
  const auto all = [&](auto* x, int columns) {
    array(x, envs::row_begin(num_envs(), columns) * sizeof *x);
  };
  all(a.seed, 1), all(a.episode, 1), all(a.length, 1), all(a.final_length, 1);
  all(a.sum, 1), all(a.episode_return, 1), all(a.final_return, 1), all(a.ended, 1);
  all(a.memory, a.memory_bytes), all(a.action, a.naction);
  number(begun), number(steps);
  all(a.obs, a.nobs), all(a.final_obs, a.nobs), all(a.metrics, a.nmetric);
  all(a.reward, 1), all(a.terminated, 1), all(a.truncated, 1);
}

void Env::Impl::read(void* to, const void* array, std::size_t bytes) const {
  batch.copy_memory(to, array, bytes);
}
void Env::Impl::write(void* array, const void* from, std::size_t bytes) const {
  batch.copy_memory(array, from, bytes);
}

std::vector<std::byte> Env::snapshot() const {
  const std::vector<std::byte> batch = impl_->engine().snapshot();
  Header header;
  header.num_envs = num_envs(), header.nobs = info().nobs;
  header.nmetric = impl_->runner->nmetric;
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

void Env::restore(std::span<const std::byte> snapshot) {
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
  if (!a.whole()) refuse("damaged: the checksum does not match");
  std::size_t own = 0;
  impl_->for_saved([&](const void*, std::size_t n) { own += n; },
                   [&](const auto& x) { own += sizeof x; });
  if (header.nobs != info().nobs || header.nmetric != impl_->runner->nmetric ||
      a.left() != header.batch + own)
    refuse("of another version of stiction or in the other precision");
  impl_->engine().restore(a.take(header.batch), "snapshot of environments");
  impl_->flip();
  impl_->for_saved([&](void* array, std::size_t n) { impl_->write(array, a.take(n).data(), n); },
                   [&](auto& x) { a.take(&x, sizeof x); });
}

}  // namespace stiction
