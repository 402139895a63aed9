// Everything that the steps to come depend on, as bytes.
#include <type_traits>

#include "env/impl.h"
#include "stiction/error.h"

namespace stiction {
namespace {

constexpr std::uint32_t kVersion = 1;

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

// f(address, bytes) for every array that is kept.
template <class F>
void Env::Impl::for_saved(const F& f) {
  const auto all = [&](auto& x) { f(x.data(), x.size() * sizeof x[0]); };
  all(seeds), all(episode), all(length), all(final_length);
  all(sum), all(episode_return), all(final_return), all(ended);
  f(memory.data(), at(num_envs()) * memory_bytes());
  f(&begun, sizeof begun), f(&steps, sizeof steps);
  EnvResults& r = current();
  all(r.obs), all(r.final_obs), all(r.metrics);
  all(r.reward), all(r.terminated), all(r.truncated);
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
  impl_->for_saved([&](const void* data, std::size_t n) { a.put(data, n); });
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
  impl_->for_saved([&](const void*, std::size_t n) { own += n; });
  if (header.nobs != info().nobs || header.nmetric != impl_->runner->nmetric ||
      a.left() != header.batch + own)
    refuse("of another version of stiction or in the other precision");
  impl_->engine().restore(a.take(header.batch), "snapshot of environments");
  impl_->flip();
  impl_->for_saved([&](void* data, std::size_t n) { a.take(data, n); });
}

}  // namespace stiction
