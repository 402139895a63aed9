// What a user may not write into own parameters.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "batch/impl.h"

namespace stiction {
namespace {

// Rules of single numbers.
struct Rule {
  double lower;
  Field field;
  bool open;  // the bound itself is not allowed
};
constexpr Rule kRules[] = {
    {0, Field::body_mass, false},        {0, Field::body_inertia, false},
    {0, Field::jnt_stiffness, false},    {0, Field::dof_armature, false},
    {0, Field::dof_damping, false},      {0, Field::dof_frictionloss, false},
    {0, Field::jnt_margin, false},       {0, Field::geom_friction, false},
    {0, Field::pair_friction, false},    {0, Field::pair_stiffness, true},
    {0, Field::pair_dissipation, false}, {0, Field::pair_relaxation_time, false},
    {0, Field::pair_weight, false}};
constexpr Field kUnit4[] = {Field::body_quat, Field::body_iquat, Field::geom_quat,
                            Field::site_quat};
constexpr double kUnitTolerance = 1e-6;
// Triangle inequality of moments, in units of the largest: float round-off of three moments.
constexpr double kTriangleTolerance = 1e-6;

// What is read of a size: radius | radius, half length | three half sizes.
int sizes_used(GeomType t) {
  switch (t) {
    case GeomType::sphere: return 1;
    case GeomType::capsule:
    case GeomType::cylinder: return 2;
    case GeomType::ellipsoid:
    case GeomType::box: return 3;
    default: return 0;
  }
}

}  // namespace

// Checks the own parameters of one environment.
class ParamCheck {
 public:
  ParamCheck(const Batch::Impl& impl, int env) : impl_(impl), model_(*impl.model), env_(env) {}

  void run() const {
    for_fields(impl_.host.specs(), {FieldKind::param}, [&](Field f, const FieldSpec& s) {
      for (int i = 0; i < s.size() && owns(f); ++i)
        require(std::isfinite(value(f, i)), f, i, "must be finite");
    });
    for (const Rule& rule : kRules)
      for (int i = 0; i < impl_.spec(rule.field).size() && owns(rule.field); ++i) {
        const double x = value(rule.field, i);
        require(rule.open ? x > rule.lower : x >= rule.lower, rule.field, i,
                rule.open ? "must be > 0" : "must be >= 0");
      }
    weights();
    bodies();
    for (const Field f : kUnit4) units(f, 4);
    units(Field::jnt_axis, 3);
    geoms();
    recovery();
    ranges();
    pose(Field::qpos0), pose(Field::qpos_spring);
  }

 private:
  bool owns(Field f) const { return impl_.owns(f); }
  double value(Field f, int i) const { return impl_.number(f, env_, i); }

  void require(bool ok, Field f, int i, const std::string& what) const {
    if (ok) return;
    std::ostringstream message;
    message << impl_.describe(f, env_, i) << " = " << value(f, i) << ": " << what;
    throw ArgumentError(message.str());
  }

  void weights() const {
    for (int i = 0; i < model_.npair && owns(Field::pair_weight); ++i)
      require(value(Field::pair_weight, i) <= 1, Field::pair_weight, i, "must be in [0, 1]");
  }

  // Where the model has mass and moments, they stay positive; moments belong to some body.
  void bodies() const {
    for (int b = 1; b < model_.nbody; ++b) {
      if (owns(Field::body_mass) && model_.body_mass[at(b)] > 0)
        require(value(Field::body_mass, b) > 0, Field::body_mass, b, "must be > 0");
      if (!owns(Field::body_inertia)) continue;
      double moment[3], sum = 0, largest = 0;
      for (int k = 0; k < 3; ++k) {
        moment[k] = value(Field::body_inertia, 3 * b + k);
        if (model_.body_inertia[at(3 * b + k)] > 0)
          require(moment[k] > 0, Field::body_inertia, 3 * b + k, "must be > 0");
        sum += moment[k];
        largest = std::max(largest, moment[k]);
      }
      for (int k = 0; k < 3; ++k)
        require(sum - 2 * moment[k] >= -kTriangleTolerance * largest, Field::body_inertia,
                3 * b + k, "must be at most the sum of the other two moments");
    }
  }

  void unit(Field f, int i, int n) const {
    double norm2 = 0;
    for (int k = 0; k < n; ++k) norm2 += value(f, i + k) * value(f, i + k);
    require(std::fabs(std::sqrt(norm2) - 1) <= kUnitTolerance, f, i,
            n == 4 ? "begins a quaternion that must have length 1"
                   : "begins a vector that must have length 1");
  }
  void units(Field f, int n) const {
    for (int i = 0; i < impl_.spec(f).size() && owns(f); i += n) unit(f, i, n);
  }

  void geoms() const {
    for (int g = 0; g < model_.ngeom && owns(Field::geom_size); ++g)
      for (int k = 0; k < sizes_used(model_.geom_type[at(g)]); ++k) {
        const double most = model_.geom_size[at(3 * g + k)];
        std::ostringstream what;
        what << "must be > 0 and at most the model's " << most;
        const double x = value(Field::geom_size, 3 * g + k);
        require(x > 0 && x <= most, Field::geom_size, 3 * g + k, what.str());
      }
  }

  void ordered(Field f, const Ints& limited) const {
    for (std::size_t i = 0; i < limited.size() && owns(f); ++i) {
      const int k = static_cast<int>(2 * i);
      require(limited[i] == 0 || value(f, k) <= value(f, k + 1), f, k,
              "must be at most the upper bound");
    }
  }
  // (time constant, damping ratio) or (−stiffness, −damping), no mixture
  void recovery() const {
    constexpr Field f = Field::jnt_solref;
    for (int i = 0; i < impl_.spec(f).size() && owns(f); i += 2)
      require((value(f, i) > 0) == (value(f, i + 1) > 0), f, i,
              "must be > 0 like the number after it, or both must be <= 0");
  }
  void ranges() const {
    ordered(Field::jnt_range, model_.jnt_limited);
    ordered(Field::jnt_actfrcrange, model_.jnt_actfrclimited);
    ordered(Field::actuator_ctrlrange, model_.actuator_ctrllimited);
    ordered(Field::actuator_forcerange, model_.actuator_forcelimited);
  }

  void pose(Field f) const {
    for (std::size_t i = 0; i < impl_.quaternions.size() && owns(f); ++i)
      unit(f, impl_.quaternions[i], 4);
  }

  const Batch::Impl& impl_;
  const Model& model_;
  int env_;
};

void Batch::Impl::check_params(int env) const {
  ParamCheck(*this, env).run();
}

void Batch::check_params() const {
  const Visit visit(impl_->guard);
  impl_->fetch_all(kParamRows);
  for (int env = 0; env < num_envs(); ++env) impl_->check_params(env);
}

}  // namespace stiction
