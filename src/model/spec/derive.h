// The numeric half of the model compiler: computes what follows from the numbers in the file.
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "stiction/model.h"
#include "stiction/report.h"

namespace stiction::model {

// Reads the raw fields (sizes, tree, mocap ids, joints with qposadr and dofadr, inertias, geoms,
// dof_armature); writes body_rootid, body_weldid, body_dofadr, body_dofnum, dof_bodyid, dof_jntid,
// dof_parentid, body_subtreemass, geom_rbound, body_invweight0 and dof_invweight0.
// Throws ModelError if the mass matrix at qpos0 is not positive definite.
void derive(Model& m);

// One <contact><pair>. Values that are not given take MuJoCo's defaults of a pair (condim 3, friction 1
// 0.005 0.0001, margin 0, solref 0.02 1, solimp 0.9 0.95 0.001 0.5 2): the geoms' own parameters are not used.
// Only a native contact material of the geoms takes precedence.
struct PairSpec {
  int geom1 = 0, geom2 = 0;
  std::optional<int> condim = {};
  std::optional<double> friction = {}, margin = {};  // sliding coefficient; m
  std::optional<double> torsion = {}, rolling = {};  // coefficients, m
  std::optional<std::array<double, 2>> solref = {};
  std::optional<std::array<double, 5>> solimp = {};
  std::optional<double> friction2 = {};  // along the second tangent; default: friction
};

// Contact settings of a file, besides the geoms themselves.
struct ContactSettings {
  bool filter_parent = true;  // no contact between parent and child, unless the parent is fixed
  bool elliptic = false;      // <option cone>: enters the mapping of solref/solimp
  double impratio = 1;
  bool refsafe = true;  // <flag refsafe>: timeconst of solref is at least two timesteps
  std::vector<std::array<int, 2>> excludes;  // body ids
  std::vector<PairSpec> pairs;
};

// Fills pair_*, npair and nslot, after derive(). MuJoCo's filters: not within one weld group, not both
// without dofs, not parent and child (weld groups; the static world counts as nobody's parent), contype and
// conaffinity, no excluded body pair; an explicit pair bypasses all of them and replaces the same two
// geoms. An explicit pair without relative motion is omitted, with a line in the report.
// Pairs without a collider go to report.pairs_without_collider.
// Order: by the lower body, the other body, then the geom ids.
void build_pairs(Model& m, const ContactSettings& settings, LoadReport& report);

// Throws ModelError, naming the element, if a number that follows from the file is
// not finite in single precision. The bounds of bounds.h leave ill-conditioned trees to this check.
void check_single_precision(const Model& m);

// Returns the damping of a position servo with `dampratio` at qpos0: kv = 2 dampratio sqrt(kp m) with the
// inertia m = (J M⁻¹ Jᵀ)⁻¹ seen by actuator `a` through its transmission and gear.
double dampratio_to_kv(const Model& m, int a, double kp, double dampratio);

}  // namespace stiction::model
