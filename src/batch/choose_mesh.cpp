// Chooses a mesh for each environment.
#include <map>

#include "batch/impl.h"

namespace stiction {

void Batch::choose_mesh(int geom, std::span<const int> mesh,
                        std::optional<std::span<const int>> ids) {
  const Visit visit(impl_->guard);
  Impl& batch = *impl_;
  const std::vector<int> all = ids ? std::vector<int>() : all_ids(batch.num_envs());
  const std::span<const int> envs = ids.value_or(std::span<const int>(all));
  batch.check_ids(envs, true);
  if (mesh.size() != 1 && mesh.size() != envs.size())
    throw ArgumentError("mesh has " + std::to_string(mesh.size()) + " numbers for " +
                        std::to_string(envs.size()) + " environments");
  std::map<int, MeshGeom> places;
  for (const int id : mesh)
    if (!places.contains(id)) places.emplace(id, geom_with_mesh(*batch.model, geom, id));

  constexpr Field kWritten[] = {Field::geom_dataid, Field::geom_size, Field::geom_pos,
                                Field::geom_quat};
  std::vector<RowCopy> copies;
  for (const Field f : kWritten) {
    batch.make_own(f);
    if (batch.device != nullptr) copies.push_back(batch.row_copy(f));
  }
  const int n = static_cast<int>(envs.size());
  if (batch.device != nullptr) batch.device->fetch(copies, envs.data(), n);
  for (int i = 0; i < n; ++i) {
    const int id = mesh[mesh.size() == 1 ? 0 : at(i)];
    const MeshGeom& place = places.at(id);
    const auto write = [&](Field f, int first, std::span<const double> x) {
      for (int k = 0; k < static_cast<int>(x.size()); ++k)
        batch.set(batch.row(f, envs[at(i)]), batch.spec(f), first + k, x[at(k)]);
    };
    const double number = id;
    write(Field::geom_dataid, geom, {&number, 1});
    write(Field::geom_size, 3 * geom, place.size);
    write(Field::geom_pos, 3 * geom, place.pos);
    write(Field::geom_quat, 4 * geom, place.quat);
  }
  if (batch.device != nullptr) batch.device->send(copies, envs.data(), n);
}

}  // namespace stiction
