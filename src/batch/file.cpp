// Serialization of a batch: a header that identifies model and options, the numbers, a checksum. Also to a file.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <type_traits>

#include "batch/check.h"
#include "files.h"

namespace stiction {
namespace {

constexpr std::uint32_t kVersion = 4;

// The header at the beginning of a file.
struct Header {
  char magic[8] = {'s', 't', 'i', 'c', 't', 'i', 'o', 'n'};
  std::uint32_t version = kVersion;
  std::uint32_t precision = 0;
  std::uint64_t layout = 0;  // hash of names and sizes of the saved fields
  std::uint64_t model = 0;   // hash of model and options
  std::uint64_t num_envs = 0;
  char isa[16] = {};  // instruction set that stepped it, padded with zeros
};
static_assert(std::has_unique_object_representations_v<Header>);

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what);
}

// Reads a file, at most `most` bytes of it.
std::vector<std::byte> read_file(const std::string& path, std::size_t most) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) refuse(path, "is a folder, not a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, "can't be read; is the path right?");
  std::vector<std::byte> bytes;
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  while (in && bytes.size() < most) {
    const std::size_t begin = bytes.size();
    bytes.resize(begin + std::min(kPiece, most - begin));
    in.read(reinterpret_cast<char*>(bytes.data() + begin),
            static_cast<std::streamsize>(bytes.size() - begin));
    bytes.resize(begin + static_cast<std::size_t>(in.gcount()));
  }
  if (in.bad()) refuse(path, "can't be read");
  return bytes;
}

Header header_of(const Batch::Impl& impl) {
  Header h;
  h.precision = static_cast<std::uint32_t>(impl.given.precision);
  h.layout = hash_bytes(nullptr, 0);
  for (const FieldSpec& s : impl.host.specs()) {
    if (s.kind == FieldKind::scratch || s.kind == FieldKind::output) continue;
    h.layout = hash_bytes(s.name, std::strlen(s.name), h.layout);
    const int numbers[] = {static_cast<int>(s.kind), static_cast<int>(s.type), s.rows, s.columns};
    h.layout = hash_bytes(numbers, sizeof numbers, h.layout);
  }
  h.model = impl.model_hash;
  h.num_envs = static_cast<std::uint64_t>(impl.num_envs());
  const std::string isa = impl.isa();
  std::copy_n(isa.data(), std::min(isa.size(), sizeof h.isa - 1), h.isa);
  return h;
}

void require_same(const Header& file, const Header& batch, const std::string& path) {
  if (std::memcmp(file.magic, batch.magic, sizeof file.magic) != 0)
    refuse(path, "is not a file that Batch::save wrote");
  if (file.version != batch.version || file.layout != batch.layout)
    refuse(path, "was written by another version of stiction or for another model; save it again");
  if (file.model != batch.model) refuse(path, "belongs to another model or other options");
  if (file.precision != batch.precision) refuse(path, "belongs to a batch of the other precision");
  if (file.num_envs != batch.num_envs)
    refuse(path, "holds " + std::to_string(file.num_envs) + " environments, this batch has " +
                     std::to_string(batch.num_envs));
}

// Returns a warning about a valid file: "" if the motion continues with the same bits.
std::string warning_of(const Header& file, const Header& batch, const std::string& path) {
  if (std::memcmp(file.isa, batch.isa, sizeof file.isa) == 0) return "";
  std::string isa(file.isa, strnlen(file.isa, sizeof file.isa));
  for (char& c : isa)
    if (c < ' ' || c > '~') c = '?';
  return path + ": was stepped with '" + isa + "', this batch steps with '" + batch.isa +
         "': the motion goes on from the same state, but not to the same bits";
}

// Returns which parameters are per-environment, one flag per field.
std::vector<char> own_flags(const Batch::Impl& impl) {
  std::vector<char> own(at(kFields));
  for (int f = 0; f < kFields; ++f) own[at(f)] = impl.owns(static_cast<Field>(f)) ? 1 : 0;
  return own;
}

// Calls f(field, spec) for every parameter: a file has one flag for each, independent of other fields.
template <class F>
void for_params(const Batch::Impl& impl, const F& f) {
  for_fields(impl.host.specs(), {FieldKind::param}, f);
}
std::size_t count_params(const Batch::Impl& impl) {
  std::size_t n = 0;
  for_params(impl, [&](Field, const FieldSpec&) { ++n; });
  return n;
}

constexpr RowGroups kSavedRows = kStateRows | kInputRows | kParamRows | kStatusRows;

// Calls f(address, bytes) for every output.
template <class F>
void for_outputs(Batch::Impl& impl, const F& f) {
  for_fields(impl.host.specs(), {FieldKind::output}, [&](Field field, const FieldSpec& s) {
    f(impl.rows[at(field)], at(impl.num_envs()) * impl.row_bytes(s));
  });
}

// Outputs of a step are finite, and those of a frozen environment are shown as they are.
void check_outputs(const Batch::Impl& impl, std::span<const std::byte> saved,
                   const std::string& source) {
  const auto is_finite = [&](auto number, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += sizeof number) {
      std::memcpy(&number, saved.data() + k, sizeof number);
      if (!std::isfinite(number)) return false;
    }
    return true;
  };
  for_fields(impl.host.specs(), {FieldKind::output}, [&](Field, const FieldSpec& s) {
    const std::size_t bytes = at(impl.num_envs()) * impl.row_bytes(s);
    const bool finite = s.type == FieldType::index  ? true
                        : impl.number_bytes(s) == 8 ? is_finite(double{}, bytes)
                                                    : is_finite(float{}, bytes);
    if (!finite) refuse(source, std::string("is damaged: ") + s.name + " is not finite");
    saved = saved.subspan(bytes);
  });
}

// Calls f(address, bytes) for every saved array; `own` as own_flags().
template <class F>
void for_saved(Batch::Impl& impl, const std::vector<char>& own, const F& f) {
  const std::size_t n = at(impl.num_envs());
  for_fields(impl.host.specs(), {FieldKind::state, FieldKind::input, FieldKind::param},
             [&](Field field, const FieldSpec& s) {
               if (s.kind != FieldKind::param || own[at(field)] != 0)
                 f(impl.rows[at(field)], n * impl.row_bytes(s));
             });
  f(impl.status.data(), n * sizeof impl.status[0]);
  f(impl.status_step.data(), n * sizeof impl.status_step[0]);
  f(impl.steps.data(), n * sizeof impl.steps[0]);
}

}  // namespace

std::vector<std::byte> Batch::Impl::snapshot(bool outputs) {
  Archive a;
  const Header header = header_of(*this);
  a.put(&header, sizeof header);
  const std::vector<char> own_fields = own_flags(*this);
  for_params(*this, [&](Field f, const FieldSpec&) { a.put(&own_fields[at(f)], 1); });
  fetch_all(kSavedRows | (outputs ? kOutputRows : 0));
  const auto put = [&](const void* data, std::size_t n) { a.put(data, n); };
  if (outputs) for_outputs(*this, put);
  for_saved(*this, own_fields, put);
  return a.sealed();
}

std::size_t Batch::Impl::longest_snapshot() {
  std::vector<char> all(at(kFields), 1);
  std::size_t n = sizeof(Header) + count_params(*this) + sizeof(Archive::Checksum);
  for_saved(*this, all, [&](const void*, std::size_t bytes) { n += bytes; });
  return n;
}

std::string Batch::Impl::restore(std::span<const std::byte> bytes, const std::string& source,
                                 bool outputs) {
  Header header;
  const Header mine = header_of(*this);
  if (bytes.size() < sizeof header + count_params(*this) + sizeof(Archive::Checksum))
    refuse(source, "is too short to be a file that Batch::save wrote");
  Archive a(bytes);
  a.take(&header, sizeof header);
  require_same(header, mine, source);
  if (!a.whole()) refuse(source, "is damaged: the checksum does not match");

  // A checksum is not a signature: nothing read from here on is trusted before it was checked.
  std::vector<char> own_fields(at(kFields));
  for_params(*this, [&](Field f, const FieldSpec& param) {
    char& flag = own_fields[at(f)];
    a.take(&flag, 1);
    if (flag != 0 && flag != 1)
      refuse(source, std::string("is damaged: does not say whether ") + param.name +
                         " is an own parameter");
  });
  std::size_t expected = 0, computed = 0;
  if (outputs) for_outputs(*this, [&](const void*, std::size_t n) { computed += n; });
  for_saved(*this, own_fields, [&](const void*, std::size_t n) { expected += n; });
  expected += computed;
  if (a.left() != expected) refuse(source, "is damaged: its length does not match");
  const std::span<const std::byte> last = a.take(computed);
  if (outputs) check_outputs(*this, last, source);
  check_status(a.rest().last(3 * sizeof(std::int32_t) * at(num_envs())), source);
  check_saved_params(*this, a.rest(), own_fields, source);

  for (int i = 0; i < kFields; ++i)
    if (own_fields[at(i)] != 0) make_own(static_cast<Field>(i));
  for (int i = 0; i < kFields; ++i) {
    const Field f = static_cast<Field>(i);
    // the parameter stays per-environment, since the user may hold a view of its rows
    if (own_fields[at(f)] == 0 && owns(f))
      for (int env = 0; env < num_envs(); ++env)
        std::copy_n(reference_row[at(f)], row_bytes(spec(f)), row(f, env));
  }
  for_saved(*this, own_fields, [&](void* data, std::size_t n) { a.take(data, n); });
  anchors.forget();
  send_all(kSavedRows);
  run({nullptr, num_envs(), 0, true});
  if (outputs) {  // outputs that a refresh does not compute belong to the last step
    const std::byte* from = last.data();
    for_outputs(*this, [&](void* data, std::size_t n) {
      if (n > 0) std::memcpy(data, from, n);
      from += n;
    });
    send_all(kOutputRows);
  }
  return warning_of(header, mine, source);
}

// The last three arrays of for_saved. Other arrays may have any numbers: a step reports those it cannot use.
void Batch::Impl::check_status(std::span<const std::byte> saved, const std::string& source) const {
  constexpr std::uint32_t kKnown = (1u << physics::SizesView::nstatus) - 1;
  const std::size_t n = at(num_envs());
  const auto word = [&](std::size_t row, std::size_t env) {
    std::int32_t x;
    std::memcpy(&x, saved.data() + (row * n + env) * sizeof x, sizeof x);
    return x;
  };
  for (std::size_t env = 0; env < n; ++env) {
    const auto bits = static_cast<std::uint32_t>(word(0, env));
    const std::int32_t first = word(1, env), steps_done = word(2, env);
    if ((bits & ~kKnown) != 0 || steps_done < 0 || first < -1 || first > steps_done)
      refuse(source, "is damaged: status " + std::to_string(bits) + " from step " +
                         std::to_string(first) + " of " + std::to_string(steps_done) +
                         " of environment " + std::to_string(env));
  }
}

void Batch::save(const std::string& path) const {
  const Visit visit(impl_->guard);
  const std::vector<std::byte> bytes = impl_->snapshot(false);
  replace_file(path, bytes.data(), bytes.size());
}

std::string Batch::load(const std::string& path) {
  const Visit visit(impl_->guard);
  // one byte more than any file of this batch has, so that longer files are detected
  return impl_->restore(read_file(path, impl_->longest_snapshot() + 1), path, false);
}

std::vector<std::byte> Batch::snapshot() const {
  const Visit visit(impl_->guard);
  return impl_->snapshot(true);
}

std::string Batch::restore(std::span<const std::byte> snapshot) {
  const Visit visit(impl_->guard);
  return impl_->restore(snapshot, "snapshot of a batch", true);
}

}  // namespace stiction
