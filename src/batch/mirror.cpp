// The mirror: the host's copies of the rows of a batch that lives on a device.
#include "batch/impl.h"

namespace stiction {

std::vector<RowCopy> Batch::Impl::row_copies(RowGroups groups) {
  std::vector<RowCopy> copies;
  constexpr std::pair<RowGroups, FieldKind> kKinds[] = {{kStateRows, FieldKind::state},
                                                        {kInputRows, FieldKind::input},
                                                        {kParamRows, FieldKind::param},
                                                        {kOutputRows, FieldKind::output}};
  for (const auto& [group, kind] : kKinds) {
    if ((groups & group) == 0) continue;
    for_fields(host.specs(), {kind}, [&](Field f, const FieldSpec& s) {
      if (rows[at(f)] != nullptr && s.size() > 0) copies.push_back(row_copy(f));
    });
  }
  if ((groups & kStatusRows) == 0) return copies;
  const auto add = [&](auto* there, auto* here) {
    copies.push_back(
        {reinterpret_cast<std::byte*>(there), reinterpret_cast<std::byte*>(here), sizeof *here});
  };
  const physics::StatusArrays there = device->status_arrays(), here = host_status();
  add(there.status, here.status), add(there.status_step, here.status_step);
  add(there.steps, here.steps);
  return copies;
}

RowCopy Batch::Impl::row_copy(Field f) {
  return {device->rows(f), rows[at(f)], row_bytes(spec(f))};
}

void Batch::Impl::fetch(RowGroups groups, std::span<const int> envs) {
  if (device == nullptr || envs.empty()) return;
  if (const std::vector<RowCopy> copies = row_copies(groups); !copies.empty())
    device->fetch(copies, envs.data(), static_cast<int>(envs.size()));
}
void Batch::Impl::fetch_all(RowGroups groups) {
  if (device != nullptr) device->fetch(row_copies(groups), nullptr, num_envs());
}
void Batch::Impl::send_all(RowGroups groups) {
  if (device != nullptr) device->send(row_copies(groups), nullptr, num_envs());
}

}  // namespace stiction
