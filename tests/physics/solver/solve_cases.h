// Variants of the law, and what the tests of the solve measure.
#pragma once

#include <vector>

#include "physics/solver/solve.h"
#include "physics/solver/solve_models.h"
#include "physics/solver/solve_scene.h"
#include "physics/step.h"
#include "physics/teams.h"

namespace stiction::test {

struct Variant {
  const char* name;
  ContactModel model;
  Stiction stiction;
  int friction_iterations = 1;
};
inline constexpr Variant kVariants[] = {
    {"lagged", ContactModel::lagged, Stiction::regularized},
    {"anchored", ContactModel::lagged, Stiction::anchored},
    {"similar", ContactModel::similar, Stiction::regularized},
    {"sap", ContactModel::sap, Stiction::regularized},
    {"friction iterations", ContactModel::lagged, Stiction::regularized, 3},
    {"anchored friction iterations", ContactModel::lagged, Stiction::anchored, 2},
};
inline constexpr Variant kAutoVariants[] = {
    {"auto", ContactModel::lagged, Stiction::regularized, kAutoFriction},
    {"anchored auto", ContactModel::lagged, Stiction::anchored, kAutoFriction},
};
inline std::vector<Variant> with_auto() {
  std::vector<Variant> all(std::begin(kVariants), std::end(kVariants));
  all.insert(all.end(), std::begin(kAutoVariants), std::end(kAutoVariants));
  return all;
}
inline Options options(const Variant& v) {
  Options o;
  o.contact_model = v.model, o.stiction = v.stiction;
  o.friction_iterations = v.friction_iterations;
  return o;
}

template <class S, class Team>
void run(const Team& team, Scene<S>& s) {
  physics::rows(team, s.m(), s.e);
  physics::solve(team, s.m(), s.e);
}

// ‖v − v_reference‖_A
template <class S>
double error(const Scene<S>& s, const Case& c, int lane) {
  return norm_A(c.free.A, vector(s.dofs(Field::v, lane)) - vector(c.result.qvel));
}

}  // namespace stiction::test
