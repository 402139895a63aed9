// A batch as bytes: a header that says what it belongs to, the numbers, a checksum. And in a file.
#include <cstring>
#include <fstream>
#include <type_traits>

#include "batch/impl.h"
#include "files.h"

namespace stiction {
namespace {

constexpr std::uint32_t kVersion = 1;

// Everything at the front of a file, compared as a whole.
struct Header {
  char magic[8] = {'s', 't', 'i', 'c', 't', 'i', 'o', 'n'};
  std::uint32_t version = kVersion;
  std::uint32_t precision = 0;
  std::uint64_t layout = 0;  // hash of names and sizes of the saved fields
  std::uint64_t model = 0;   // hash of model and options
  std::uint64_t num_envs = 0;
};
static_assert(std::has_unique_object_representations_v<Header>);

[[noreturn]] void refuse(const std::string& path, const std::string& what) {
  throw Error(path + ": " + what);
}

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) refuse(path, "can't be read; is the path right?");
  std::vector<std::byte> bytes;
  in.seekg(0, std::ios::end);
  bytes.resize(static_cast<std::size_t>(std::max<std::streamoff>(0, in.tellg())));
  in.seekg(0);
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) refuse(path, "can't be read");
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

// Which parameters are own, one flag per field.
std::vector<char> own_flags(const Batch::Impl& impl) {
  std::vector<char> own(at(kFields));
  for (int f = 0; f < kFields; ++f) own[at(f)] = impl.owns(static_cast<Field>(f)) ? 1 : 0;
  return own;
}

constexpr RowGroups kSavedRows = kStateRows | kInputRows | kParamRows | kStatusRows;

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

std::vector<std::byte> Batch::Impl::snapshot() {
  Archive a;
  const Header header = header_of(*this);
  a.put(&header, sizeof header);
  const std::vector<char> own_fields = own_flags(*this);
  a.put(own_fields.data(), own_fields.size());
  fetch_all(kSavedRows);
  for_saved(*this, own_fields, [&](const void* data, std::size_t n) { a.put(data, n); });
  return a.sealed();
}

void Batch::Impl::restore(std::span<const std::byte> bytes, const std::string& source) {
  Header header;
  if (bytes.size() < sizeof header + at(kFields) + sizeof(Archive::Checksum))
    refuse(source, "is too short to be a file that Batch::save wrote");
  Archive a(bytes);
  a.take(&header, sizeof header);
  require_same(header, header_of(*this), source);
  if (!a.whole()) refuse(source, "is damaged: the checksum does not match");

  std::vector<char> own_fields(at(kFields));
  a.take(own_fields.data(), own_fields.size());
  std::size_t expected = 0;
  for_saved(*this, own_fields, [&](const void*, std::size_t n) { expected += n; });
  if (a.left() != expected) refuse(source, "is damaged: its length does not match");

  for (int i = 0; i < kFields; ++i) {
    const Field f = static_cast<Field>(i);
    if (own_fields[at(f)] != 0) make_own(f);
    // stays, since the user may hold its rows
    if (own_fields[at(f)] == 0 && owns(f))
      for (int env = 0; env < num_envs(); ++env)
        std::copy_n(reference_row[at(f)], row_bytes(spec(f)), row(f, env));
  }
  for_saved(*this, own_fields, [&](void* data, std::size_t n) { a.take(data, n); });
  send_all(kSavedRows);
  run({nullptr, num_envs(), 0, true});
}

void Batch::save(const std::string& path) const {
  const std::vector<std::byte> bytes = impl_->snapshot();
  replace_file(path, bytes.data(), bytes.size());
}

void Batch::load(const std::string& path) {
  impl_->restore(read_file(path), path);
}

}  // namespace stiction
