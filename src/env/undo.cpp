// A step around a function of the user, who may raise: then it has not happened.
#include <algorithm>
#include <cstring>

#include "env/impl.h"

namespace stiction {
namespace {

constexpr RowGroups kAllRows = kStateRows | kInputRows | kParamRows | kOutputRows | kStatusRows;

}  // namespace

template <class F>
void Env::Impl::for_rows(const F& f) {
  Batch::Impl& e = engine();
  const std::size_t n = at(num_envs());
  const auto rows = [&](Field field, const FieldSpec& s) {
    if (s.kind != FieldKind::param || before.own[at(field)])
      f(e.rows[at(field)], n * e.row_bytes(s));
  };
  for_fields(e.host.specs(),
             {FieldKind::state, FieldKind::input, FieldKind::param, FieldKind::output}, rows);
  f(reinterpret_cast<std::byte*>(e.status.data()), n * sizeof e.status[0]);
  f(reinterpret_cast<std::byte*>(e.status_step.data()), n * sizeof e.status_step[0]);
  f(reinterpret_cast<std::byte*>(e.steps.data()), n * sizeof e.steps[0]);
}

void Env::Impl::remember() {
  Batch::Impl& e = engine();
  for (int f = 0; f < kFields; ++f) before.own[at(f)] = e.owns(static_cast<Field>(f));
  e.fetch_all(kAllRows);
  std::size_t bytes = 0;
  for_rows([&](std::byte*, std::size_t n) { bytes += n; });
  before.rows.resize(bytes);
  std::byte* to = before.rows.data();
  for_rows([&](std::byte* from, std::size_t n) {
    if (n > 0) std::memcpy(to, from, n);
    to += n;
  });
  // results are those of two sets in turn: a step has not touched the last one
  before.episodes.resize(layout.results(0));
  read(before.episodes.data(), device != nullptr ? device->memory() : memory.data(),
       before.episodes.size());
  before.counts = batch.counts();
  before.now = now, before.begun = begun, before.steps = steps;
}

void Env::Impl::put_back() {
  Batch::Impl& e = engine();
  const std::byte* from = before.rows.data();
  for_rows([&](std::byte* to, std::size_t n) {
    if (n > 0) std::memcpy(to, from, n);
    from += n;
  });
  // what has become own since stays so, with the model's numbers
  for (int i = 0; i < kFields; ++i) {
    const Field f = static_cast<Field>(i);
    if (!e.owns(f) || before.own[at(i)]) continue;
    for (int env = 0; env < num_envs(); ++env)
      std::copy_n(e.reference_row[at(f)], e.row_bytes(e.spec(f)), e.row(f, env));
  }
  e.send_all(kAllRows);
  write(device != nullptr ? device->memory() : memory.data(), before.episodes.data(),
        before.episodes.size());
  (void)batch.counts();  // those of the device since then are gone
  e.counts = before.counts;
  now = before.now, begun = before.begun, steps = before.steps;
}

}  // namespace stiction
