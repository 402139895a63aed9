// Restores a batch to its state before a user's function ran between its steps.
#include <algorithm>
#include <cstring>

#include "batch/impl.h"

namespace stiction {
namespace {

constexpr RowGroups kAllRows = kStateRows | kInputRows | kParamRows | kOutputRows | kStatusRows;

// Calls f(address, bytes) for each array of the batch that is kept, in the host's copies.
template <class F>
void for_rows(Batch::Impl& impl, const std::array<bool, kFields>& own, const F& f) {
  const std::size_t n = at(impl.num_envs());
  const auto rows = [&](Field field, const FieldSpec& s) {
    if (s.kind != FieldKind::param || own[at(field)])
      f(impl.rows[at(field)], n * impl.row_bytes(s));
  };
  for_fields(impl.host.specs(),
             {FieldKind::state, FieldKind::input, FieldKind::param, FieldKind::output}, rows);
  f(reinterpret_cast<std::byte*>(impl.status.data()), n * sizeof impl.status[0]);
  f(reinterpret_cast<std::byte*>(impl.status_step.data()), n * sizeof impl.status_step[0]);
  f(reinterpret_cast<std::byte*>(impl.steps.data()), n * sizeof impl.steps[0]);
}

}  // namespace

void Batch::Impl::remember(Before& before) {
  for (int f = 0; f < kFields; ++f) before.own[at(f)] = owns(static_cast<Field>(f));
  fetch_all(kAllRows);
  std::size_t bytes = 0;
  for_rows(*this, before.own, [&](std::byte*, std::size_t n) { bytes += n; });
  before.rows.resize(bytes);
  std::byte* to = before.rows.data();
  for_rows(*this, before.own, [&](std::byte* from, std::size_t n) {
    if (n > 0) std::memcpy(to, from, n);
    to += n;
  });
  if (device != nullptr) device->take_counts(counts);
  before.counts = counts;
}

void Batch::Impl::put_back(const Before& before) {
  const std::byte* from = before.rows.data();
  for_rows(*this, before.own, [&](std::byte* to, std::size_t n) {
    if (n > 0) std::memcpy(to, from, n);
    from += n;
  });
  anchors.forget();
  // parameters that have become per-environment since stay so, with the model's values
  for (int i = 0; i < kFields; ++i) {
    const Field f = static_cast<Field>(i);
    if (!owns(f) || before.own[at(i)]) continue;
    for (int env = 0; env < num_envs(); ++env)
      std::copy_n(reference_row[at(f)], row_bytes(spec(f)), row(f, env));
  }
  send_all(kAllRows);
  if (device != nullptr) device->take_counts(counts);  // discards the device's counts since then
  counts = before.counts;
}

void Batch::remember() {
  const Visit visit(impl_->guard);
  impl_->remember(impl_->kept);
}

void Batch::put_back() {
  const Visit visit(impl_->guard);
  if (impl_->kept.rows.empty()) throw Error("put_back: nothing was kept by Batch::remember");
  impl_->put_back(impl_->kept);
}

}  // namespace stiction
