// Converts Model and Options to the data that src/physics reads: uniform integers and parameter values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "cpu/layout.h"
#include "stiction/model.h"
#include "stiction/options.h"

namespace stiction::cpu {

template <class E>
std::vector<int> to_ints(const std::vector<E>& v) {
  std::vector<int> result;
  result.reserve(v.size());
  for (const E e : v) result.push_back(static_cast<int>(e));
  return result;
}

// Lists of different lengths, concatenated, and the index at which each begins (CSR).
struct Lists {
  std::vector<int> adr{0}, items;
  void end_list() { adr.push_back(static_cast<int>(items.size())); }
};

class HostModel {
 public:
  // Options with every default resolved. `dense`: for a device, where the factor stores every entry
  // and points have rows of point_spatial.
  HostModel(const Model& model, const Options& options, bool dense = false);
  HostModel(const HostModel&) = delete;
  HostModel& operator=(const HostModel&) = delete;

  const physics::ModelView& view() const { return view_; }
  const FieldSpecs& specs() const { return specs_; }
  // Returns the model's values of a parameter, row-major.
  const std::vector<double>& param(Field f) const { return params_[static_cast<std::size_t>(f)]; }
  // Returns a hash of the view and the parameters, excluding the structure of the factor: equal for equal models
  // and options.
  std::uint64_t hash() const;
  // Returns the bytes of the arrays that the view points to.
  std::size_t array_bytes() const;
  // Copies these arrays one after the other to `to`, and returns a view that reads the copies at `address`.
  physics::ModelView copy_arrays(std::byte* to, const std::byte* address) const;
  // Makes a parameter per-environment: stages that the model's values switch off may be needed. Does not
  // change any bit of a step whose per-environment values are the model's.
  void make_own(Field f);

 private:
  const int* keep(std::vector<int> v);
  const float* keep(std::vector<float> v);
  const double* keep(std::vector<double> v);
  // For arrays that are not part of the hash.
  const int* keep_structure(std::vector<int> v) {
    return structure_.emplace_back(std::move(v)).data();
  }
  const double* keep_structure(std::vector<double> v) {
    return shares_.emplace_back(std::move(v)).data();
  }
  void bodies(const Model& m);
  void origins(const Model& m);
  void joints(const Model& m);
  void geoms(const Model& m);
  void pairs(const Model& m);
  void links(const Model& m);
  void compare_all_pairs();
  void meshes(const Model& m);
  void hfields(const Model& m);
  void rays(const Model& m);
  void fluid(const Model& m);
  void actuators(const Model& m);
  void springs(const Model& m);
  void sensors(const Model& m);
  void blocks(const Model& m);
  std::vector<int> tendon_dofs(const Model& m, int t) const;
  std::vector<int> site_dofs(const Model& m, int a) const;
  void tendons(const Model& m);
  void tendon_rows(std::vector<int>& adr, std::vector<int>& limits);
  void make_tendons_own(Field f);
  void moments_by_dof();
  void rows();
  void structure();
  void groups(const std::vector<int>& parent);
  void light_parts(std::vector<int>& adr, std::vector<int>& dofs, const std::vector<int>& of_body);
  void turning_by_dof(const std::vector<int>& parent);
  void parameters(const Model& m);

  bool dense_;
  physics::ModelView view_{};
  FieldSpecs specs_{};
  std::array<std::vector<double>, kFields> params_;
  std::deque<std::vector<int>> ints_, structure_;
  std::vector<double> subtree_mass_;  // (nbody)
  std::vector<int> dof_limited_;      // (nv)  1: the joint has limits and no other dof
  std::vector<int> tendon_limited_, tendon_springs_, tendon_drags_,
      tendon_rubs_;  // 1: may have the row
  std::deque<std::vector<double>> shares_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<double>> doubles_;
};

}  // namespace stiction::cpu
