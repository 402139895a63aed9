// Values that a user must not write into per-environment parameters.
#include "batch/check.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <sstream>

namespace stiction {
namespace {

// Rules for single numbers.
struct Rule {
  double lower;
  Field field;
  bool open;  // the bound itself is not allowed
};
constexpr Rule kRules[] = {
    {0, Field::body_mass, false},          {0, Field::body_inertia, false},
    {0, Field::jnt_stiffness, false},      {0, Field::dof_armature, false},
    {0, Field::dof_damping, false},        {0, Field::dof_frictionloss, false},
    {0, Field::jnt_margin, false},         {0, Field::geom_friction, false},
    {0, Field::pair_friction, false},      {0, Field::pair_torsion, false},
    {0, Field::pair_rolling, false},       {0, Field::pair_stiffness, true},
    {0, Field::pair_dissipation, false},   {0, Field::pair_relaxation_time, false},
    {0, Field::pair_weight, false},        {0, Field::eq_stiffness, false},
    {0, Field::pair_restitution, false},   {0, Field::eq_relaxation_time, false},
    {0, Field::tendon_margin, false},      {0, Field::tendon_stiffness, false},
    {0, Field::tendon_damping, false},     {0, Field::tendon_armature, false},
    {0, Field::tendon_frictionloss, false}};
constexpr Field kUnit4[] = {Field::body_quat, Field::body_iquat, Field::geom_quat,
                            Field::site_quat};
constexpr double kUnitTolerance = 1e-6;
// Tolerance of the triangle inequality of moments, relative to the largest: float round-off of three moments.
constexpr double kTriangleTolerance = 1e-6;

// Returns how many numbers of a size are used: radius | radius, half length | three half sizes.
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

// Checks the per-environment parameters of one environment, whose rows begin at `rows`: null if shared.
class ParamCheck {
 public:
  using Rows = std::array<const std::byte*, kFields>;
  ParamCheck(const Batch::Impl& impl, const Rows& rows, int env)
      : impl_(impl), model_(*impl.model), rows_(rows), env_(env) {}

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
    shares();
    bodies();
    for (const Field f : kUnit4) units(f, 4);
    units(Field::jnt_axis, 3);
    for (int i = 0; i < model_.neq && owns(Field::eq_data); ++i)
      if (model_.eq_type[at(i)] == EqualityType::weld &&
          model_.eq_objtype[at(i)] == ObjectType::body)
        unit(Field::eq_data, 11 * i + 6, 4);
    geoms();
    recovery();
    ranges();
    muscles();
    pose(Field::qpos0), pose(Field::qpos_spring);
  }

 private:
  bool owns(Field f) const { return rows_[at(f)] != nullptr; }
  double value(Field f, int i) const {
    const FieldSpec& s = impl_.spec(f);
    return impl_.get(rows_[at(f)] + impl_.row_bytes(s) * at(env_), s, i);
  }

  void require(bool ok, Field f, int i, const std::string& what) const {
    if (ok) return;
    std::ostringstream message;
    message << impl_.describe(f, env_, i) << " = " << value(f, i) << ": " << what;
    throw ArgumentError(message.str());
  }

  void shares() const {
    for (const Field f : {Field::pair_weight, Field::pair_restitution})
      for (int i = 0; i < impl_.spec(f).size() && owns(f); ++i)
        require(value(f, i) <= 1, f, i, "must be in [0, 1]");
  }

  // Masses and moments that are positive in the model stay positive; moments must be those of a physical body.
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
    for (int i = 0; i < 3 * model_.ngeom && owns(Field::geom_size); ++i) {
      const bool same = value(Field::geom_size, i) == model_.geom_size[at(i)];
      require(model_.geom_type[at(i / 3)] != GeomType::hfield || same, Field::geom_size, i,
              "must be the model's: a height field has the size of its asset");
    }
    for (int g = 0; g < model_.ngeom; ++g) mesh(g);
  }

  // The mesh must be among the geom's choices, and its sizes must be those of its vertices.
  void mesh(int g) const {
    const int file = model_.geom_dataid[at(g)];
    int chosen = file;
    if (owns(Field::geom_dataid)) {
      const double given = value(Field::geom_dataid, g);
      const std::span<const int> choice = mesh_choice(model_, g);
      require(given == file || std::find(choice.begin(), choice.end(), given) != choice.end(),
              Field::geom_dataid, g,
              choice.empty() ? "must be the model's: the geom has no choice"
                             : "must be a mesh of the geom's choice, Model.geom_mesh");
      chosen = static_cast<int>(given);
    }
    if (model_.geom_type[at(g)] != GeomType::mesh) return;
    const bool sized = owns(Field::geom_size);
    for (int i = 3 * g; i < 3 * g + 3; ++i) {
      const double size =
          chosen == file ? model_.geom_size[at(i)] : model_.mesh_size[at(3 * (chosen - g) + i)];
      require((sized ? value(Field::geom_size, i) : model_.geom_size[at(i)]) == size,
              sized ? Field::geom_size : Field::geom_dataid, sized ? i : g,
              "a mesh is as large as its vertices say: choose_mesh writes mesh and size");
    }
  }

  void ordered(Field f, const Ints& limited) const {
    for (std::size_t i = 0; i < limited.size() && owns(f); ++i) {
      const int k = static_cast<int>(2 * i);
      require(limited[i] == 0 || value(f, k) <= value(f, k + 1), f, k,
              "must be at most the upper bound");
    }
  }
  // (time constant, damping ratio) or (−stiffness, −damping), not mixed
  void recovery() const {
    for (const Field f : {Field::jnt_solref, Field::tendon_solref})
      for (int i = 0; i < impl_.spec(f).size() && owns(f); i += 2)
        require((value(f, i) > 0) == (value(f, i + 1) > 0), f, i,
                "must be > 0 like the number after it, or both must be <= 0");
  }
  void ranges() const {
    ordered(Field::jnt_range, model_.jnt_limited);
    ordered(Field::jnt_actfrcrange, model_.jnt_actfrclimited);
    ordered(Field::tendon_range, model_.tendon_limited);
    ordered(Field::tendon_actfrcrange, model_.tendon_actfrclimited);
    ordered(Field::tendon_lengthspring, Ints(at(model_.ntendon), 1));
    ordered(Field::actuator_ctrlrange, model_.actuator_ctrllimited);
    ordered(Field::actuator_actrange, model_.actuator_actlimited);
    ordered(Field::actuator_forcerange, model_.actuator_forcelimited);
  }

  // Divisors must not be zero; filterexact without a time constant is not a filter.
  void muscles() const {
    for (int a = 0; a < model_.nu && owns(Field::actuator_dynprm); ++a) {
      const ActuatorDynamics dynamics = model_.actuator_dyntype[at(a)];
      const int divisors = dynamics == ActuatorDynamics::filter   ? 1
                           : dynamics == ActuatorDynamics::muscle ? 2
                                                                  : 0;
      for (int k = 0; k < divisors; ++k)
        require(value(Field::actuator_dynprm, 3 * a + k) > 0, Field::actuator_dynprm, 3 * a + k,
                "must be > 0: a time constant");
    }
    for (int a = 0; a < model_.nu; ++a) {
      const int laws[] = {model_.actuator_gainmuscle[at(a)], model_.actuator_biasmuscle[at(a)]};
      for (int law = 0; law < 2; ++law) {
        if (laws[law] == 0) continue;
        const int i = 18 * a + 9 * law;
        const auto number = [&](int k) { return value(Field::actuator_muscle, i + k); };
        const auto need = [&](int k, bool ok, const char* what) {
          require(ok, Field::actuator_muscle, i + k, what);
        };
        if (owns(Field::actuator_muscle)) {
          need(0, number(0) < number(1), "must be below the upper end of the range");
          need(4, number(4) < 1, "lmin must be < 1");
          need(5, number(5) > 1, "lmax must be > 1");
          need(6, number(6) > 0, "vmax must be > 0");
        }
        if (owns(Field::actuator_lengthrange))
          require(value(Field::actuator_lengthrange, 2 * a) <
                      value(Field::actuator_lengthrange, 2 * a + 1),
                  Field::actuator_lengthrange, 2 * a, "must be below the upper end of the range");
      }
    }
  }

  void pose(Field f) const {
    for (std::size_t i = 0; i < impl_.quaternions.size() && owns(f); ++i)
      unit(f, impl_.quaternions[i], 4);
  }

  const Batch::Impl& impl_;
  const Model& model_;
  const Rows& rows_;
  int env_;
};

void Batch::Impl::check_params(int env) {
  ParamCheck::Rows own_rows{};
  for (const RowSpec& r : loaded)
    if (owns(r.field)) own_rows[at(r.field)] = rows[at(r.field)];
  ParamCheck(*this, own_rows, env).run();
  for (const RowSpec& r : loaded)
    if (device == nullptr && owns(r.field))
      std::copy_n(row(r.field, env), r.bytes, checked[at(r.field)].data() + r.bytes * at(env));
}

bool Batch::Impl::params_differ(int first, int last) const {
  for (const RowSpec& r : loaded)
    if (owns(r.field) &&
        std::memcmp(row(r.field, first), checked[at(r.field)].data() + r.bytes * at(first),
                    r.bytes * at(last - first)) != 0)
      return true;
  return false;
}

// Writes into a view are not signalled: rows that differ from the last version that passed the check are
// checked again.
void Batch::Impl::check_written_params() {
  if (device != nullptr || !any_own) return;
  constexpr int kChunk = 256;
  const int n = num_envs();
  std::atomic<bool> differ = false;
  pool->run((n - 1) / kChunk + 1, pace.threads(), [&](int, int chunk) {
    if (params_differ(chunk * kChunk, std::min(n, (chunk + 1) * kChunk))) differ = true;
  });
  for (int env = 0; env < n && differ; ++env)
    if (params_differ(env, env + 1)) check_params(env);
}

void check_saved_params(const Batch::Impl& impl, std::span<const std::byte> saved,
                        const std::vector<char>& own, const std::string& source) {
  ParamCheck::Rows rows{};
  std::vector<cpu::Buffer> aligned;
  for_fields(impl.host.specs(), {FieldKind::state, FieldKind::input, FieldKind::param},
             [&](Field f, const FieldSpec& s) {
               const bool param = s.kind == FieldKind::param;
               if (param && own[at(f)] == 0) return;
               const std::size_t bytes = at(impl.num_envs()) * impl.row_bytes(s);
               if (param && bytes > 0) {
                 aligned.emplace_back(bytes);
                 std::copy_n(saved.data(), bytes, aligned.back().data());
                 rows[at(f)] = aligned.back().data();
               }
               saved = saved.subspan(bytes);
             });
  try {
    for (int env = 0; env < impl.num_envs(); ++env) ParamCheck(impl, rows, env).run();
  } catch (const ArgumentError& e) {
    throw Error(source + ": is damaged: " + e.what());
  }
}

void Batch::check_params() const {
  const Visit visit(impl_->guard);
  impl_->fetch_all(kParamRows);
  for (int env = 0; env < num_envs(); ++env) impl_->check_params(env);
}

}  // namespace stiction
