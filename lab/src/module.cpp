// stiction_lab._lab: the solvers for Python. Arrays are copied; names are those of contact_problem.h.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "lab/src/scene.h"
#include "lab/src/solver.h"
#include "stiction/error.h"
#include "stiction/model.h"

namespace nb = nanobind;
using namespace nb::literals;
using namespace stiction;
using namespace stiction::lab;

namespace {

VecX or_empty(const std::optional<VecX>& v) {
  return v.value_or(VecX());
}

VecX or_filled(const std::optional<VecX>& v, Eigen::Index n, double value) {
  return v.value_or(VecX(VecX::Constant(n, value)));
}

// The quantities of one contact, as rows of (n,3) arrays, are three in a row.
ContactProblem make_problem(double dt, const MatX& A, const VecX& v_star, const MatX& J,
                            const VecX& mu, const std::optional<VecX>& v0,
                            const std::optional<VecX>& gap, const std::optional<VecX>& bias,
                            const std::optional<VecX>& R, const std::optional<VecX>& stiffness,
                            const std::optional<VecX>& dissipation,
                            const std::optional<VecX>& relaxation_time,
                            const std::optional<VecX>& weight) {
  const Eigen::Index n = mu.size();
  ContactProblem p{dt, A,  v_star, v0.value_or(v_star), J, mu, or_filled(gap, n, 0), {}, {}, {}, {},
                   {}, {}, {}};
  p.R = or_filled(R, 3 * n, 0);
  p.bias = or_filled(bias, 3 * n, 0);
  if (!bias && p.gap.size() == n)
    for (int i = 0; i < p.contacts(); ++i) p.bias[3 * i + 2] = p.gap[i] / dt;
  p.stiffness = or_filled(stiffness, n, 1e7);
  p.dissipation = or_filled(dissipation, n, 0);
  p.relaxation_time = or_filled(relaxation_time, n, 0);
  p.weight = or_filled(weight, n, 0);
  check(p);
  if (!weight) {
    const MatX response = A.llt().solve(J.transpose());
    for (int i = 0; i < p.contacts(); ++i)
      p.weight[i] = (J.middleRows<3>(3 * i) * response.middleCols<3>(3 * i)).norm() / 3;
  }
  return p;
}

ModelPtr model_of(const std::string& xml,
                  const std::optional<std::tuple<double, double, double, double>>& material) {
  ModelPtr model = load_model_from_string(xml);
  if (!material) return model;
  const auto [k, d, mu, tau] = *material;
  for (int g = 0; g < model->ngeom; ++g)
    if (model->body_dofnum[at(model->body_weldid[at(model->geom_bodyid[at(g)])])] > 0)
      model = with_contact_material(*model, g, {k, d, mu, tau});
  return model;
}

Actions actions(const std::optional<VecX>& ctrl, const std::optional<VecX>& qfrc,
                const std::optional<VecX>& xfrc, const std::optional<VecX>& pos,
                const std::optional<VecX>& quat) {
  return {or_empty(ctrl), or_empty(qfrc), or_empty(xfrc), or_empty(pos), or_empty(quat)};
}

MatX triples(const std::vector<Record>& history) {
  MatX table(history.size(), 4);
  for (std::size_t k = 0; k < history.size(); ++k) {
    const Record& r = history[k];
    table.row(static_cast<int>(k)) << r.own, r.ncp.primal, r.ncp.dual, r.ncp.complementarity;
  }
  return table;
}

void bind_problem(nb::module_& m) {
  nb::class_<ContactProblem> c(
      m, "Problem",
      "The contact problem of one step. A: (nv, nv); v_star, v0: (nv,) m/s; J: "
      "(3 n, nv) rows t1, t2, normal of every contact; mu: (n,); gap: (n,) m; bias: "
      "(3 n,) m/s, added to J v, gap/dt of the normals by default; R: (3 n,) 1/kg.");
  c.def(
      "__init__",
      [](ContactProblem* self, double dt, const MatX& A, const VecX& v_star, const MatX& J,
         const VecX& mu, const std::optional<VecX>& v0, const std::optional<VecX>& gap,
         const std::optional<VecX>& bias, const std::optional<VecX>& R,
         const std::optional<VecX>& stiffness, const std::optional<VecX>& dissipation,
         const std::optional<VecX>& relaxation_time, const std::optional<VecX>& weight) {
        new (self) ContactProblem(make_problem(dt, A, v_star, J, mu, v0, gap, bias, R, stiffness,
                                               dissipation, relaxation_time, weight));
      },
      "dt"_a, "A"_a, "v_star"_a, "J"_a, "mu"_a, nb::kw_only(), "v0"_a = nb::none(),
      "gap"_a = nb::none(), "bias"_a = nb::none(), "R"_a = nb::none(), "stiffness"_a = nb::none(),
      "dissipation"_a = nb::none(), "relaxation_time"_a = nb::none(), "weight"_a = nb::none());
  c.def_rw("dt", &ContactProblem::dt).def_rw("A", &ContactProblem::A);
  c.def_rw("v_star", &ContactProblem::v_star).def_rw("v0", &ContactProblem::v0);
  c.def_rw("J", &ContactProblem::J).def_rw("mu", &ContactProblem::mu);
  c.def_rw("gap", &ContactProblem::gap).def_rw("bias", &ContactProblem::bias);
  c.def_rw("R", &ContactProblem::R).def_rw("stiffness", &ContactProblem::stiffness);
  c.def_rw("dissipation", &ContactProblem::dissipation);
  c.def_rw("relaxation_time", &ContactProblem::relaxation_time);
  c.def_rw("weight", &ContactProblem::weight);
  c.def_prop_ro("n", &ContactProblem::contacts);
  c.def_prop_ro(
      "delassus", [](const ContactProblem& p) { return dual(p).G; }, "(3 n, 3 n) 1/kg");
  c.def_prop_ro(
      "g", [](const ContactProblem& p) { return dual(p).g; }, "(3 n,) m/s");
  c.def(
      "residual",
      [](const ContactProblem& p, const VecX& impulse) {
        const DualProblem d = dual(p);
        if (impulse.size() != d.g.size()) throw ArgumentError("residual: needs (3 n,) impulses");
        const Residual r = ncp_residual(d, impulse, d.G * impulse + d.g);
        return std::make_tuple(r.primal, r.dual, r.complementarity);
      },
      "impulse"_a, "(primal N, dual m/s, complementarity W) of Coulomb's law");
}

void bind_solution(nb::module_& m) {
  nb::class_<Solution> c(m, "Solution");
  c.def_ro("impulse", &Solution::impulse, "(3 n,) N s");
  c.def_ro("v", &Solution::v, "(nv,)");
  c.def_ro("velocity", &Solution::velocity, "(3 n,) of the contacts, with the bias, m/s");
  c.def_prop_ro(
      "outcome", [](const Solution& s) { return std::string(name(s.outcome)); },
      "converged, stalled, not_converged or failed");
  c.def_ro("iterations", &Solution::iterations);
  c.def_ro("own", &Solution::own, "relative residual of the law that the solver solves");
  c.def_prop_ro(
      "primal", [](const Solution& s) { return s.ncp.primal; }, "N");
  c.def_prop_ro(
      "dual", [](const Solution& s) { return s.ncp.dual; }, "m/s");
  c.def_prop_ro(
      "complementarity", [](const Solution& s) { return s.ncp.complementarity; }, "W");
  c.def_prop_ro(
      "signorini", [](const Solution& s) { return s.laws.signorini; }, "N");
  c.def_prop_ro(
      "coulomb", [](const Solution& s) { return s.laws.coulomb; }, "N");
  c.def_prop_ro(
      "dissipation", [](const Solution& s) { return s.laws.dissipation; }, "W");
  c.def_ro("condition", &Solution::condition,
           "condition number of the Newton solvers' scaled Hessian at the end; 0: not asked for");
  c.def_ro("seconds", &Solution::seconds);
  c.def_ro("delassus_seconds", &Solution::delassus_seconds);
  c.def_prop_ro(
      "history", [](const Solution& s) { return triples(s.history); },
      "(iterations, 4) own residual; primal, dual, complementarity of Coulomb's law");
}

void bind_scene(nb::module_& m) {
  nb::class_<Scene> c(m, "Scene",
                      "An MJCF text and its timestep: makes the contact problem of a state.");
  c.def(
      "__init__",
      [](Scene* self, const std::string& xml, double timestep, double recover,
         const std::optional<std::tuple<double, double, double, double>>& material) {
        new (self) Scene(model_of(xml, material), timestep, recover);
      },
      "xml"_a, "timestep"_a = 0.0, nb::kw_only(), "recover"_a = 0.2, "material"_a = nb::none(),
      "timestep: s, 0: the file's. recover: share of an overlap that rigid contacts take back in "
      "a\n"
      "step. material: (stiffness N/m, dissipation s/m, friction, relaxation time s) of moving "
      "geoms.");
  c.def_prop_ro("timestep", &Scene::timestep);
  c.def_prop_ro("qpos0", [](const Scene& s) {
    return VecX(Eigen::Map<const VecX>(s.model().qpos0.data(), s.model().nq));
  });
  c.def_prop_ro("nv", [](const Scene& s) { return s.model().nv; });
  const auto with_actions = [&c](const char* function, auto method) {
    c.def(
        function,
        [method](const Scene& s, const VecX& qpos, const VecX& qvel,
                 const std::optional<VecX>& ctrl, const std::optional<VecX>& qfrc_applied,
                 const std::optional<VecX>& xfrc_applied, const std::optional<VecX>& mocap_pos,
                 const std::optional<VecX>& mocap_quat, double reach) {
          return (s.*method)({qpos, qvel},
                             actions(ctrl, qfrc_applied, xfrc_applied, mocap_pos, mocap_quat),
                             reach);
        },
        "qpos"_a, "qvel"_a, "ctrl"_a = nb::none(), nb::kw_only(), "qfrc_applied"_a = nb::none(),
        "xfrc_applied"_a = nb::none(), "mocap_pos"_a = nb::none(), "mocap_quat"_a = nb::none(),
        "reach"_a = 0.0);
  };
  with_actions("problem", &Scene::problem);
  with_actions("maximal", &Scene::maximal);
  c.def(
      "advance",
      [](const Scene& s, const VecX& qpos, const VecX& qvel, const VecX& v) {
        const State next = s.advance({qpos, qvel}, v);
        return std::make_tuple(next.qpos, next.qvel);
      },
      "qpos"_a, "qvel"_a, "v"_a, "(qpos, qvel) after a step at v");
  c.def(
      "minimal_velocity",
      [](const Scene& s, const VecX& qpos, const VecX& qvel, const VecX& bodies) {
        return s.minimal_velocity({qpos, qvel}, bodies);
      },
      "qpos"_a, "qvel"_a, "bodies"_a);
}

void bind_maximal(nb::module_& m) {
  nb::class_<ConicProblem>(m, "MaximalProblem")
      .def_ro("M", &ConicProblem::M)
      .def_ro("E", &ConicProblem::E)
      .def_ro("L", &ConicProblem::L)
      .def_ro("h", &ConicProblem::h)
      .def_ro("J", &ConicProblem::J)
      .def_ro("v_star", &ConicProblem::v_star)
      .def_ro("b", &ConicProblem::b)
      .def_ro("mu", &ConicProblem::mu);
  nb::class_<ConicSolution>(m, "MaximalSolution")
      .def_ro("v", &ConicSolution::v)
      .def_ro("joints", &ConicSolution::joints)
      .def_ro("limits", &ConicSolution::limits)
      .def_ro("impulse", &ConicSolution::impulse)
      .def_ro("residual", &ConicSolution::residual)
      .def_ro("complementarity", &ConicSolution::complementarity)
      .def_ro("converged", &ConicSolution::converged)
      .def_ro("iterations", &ConicSolution::iterations);
  m.def(
      "interior_point",
      [](const ConicProblem& p, double tolerance, int max_iterations) {
        return interior_point(p, tolerance, max_iterations,
                              [](const VecX&, const VecX&, double) {});
      },
      "problem"_a, "tolerance"_a = 1e-8, "max_iterations"_a = 100);
}

}  // namespace

NB_MODULE(_lab, m) {
  nb::set_leak_warnings(false);
  m.doc() = "Contact solvers of the literature on one contact problem.";
  bind_problem(m);
  bind_solution(m);
  bind_scene(m);
  bind_maximal(m);

  m.def("solvers", [] {
    std::vector<std::tuple<std::string, std::string, std::string>> all;
    for (const Solver& s : solvers())
      all.emplace_back(std::string(s.name), std::string(s.law), std::string(s.summary));
    return all;
  });
  m.def(
      "solve",
      [](const ContactProblem& p, const std::string& solver, double tolerance, int max_iterations,
         bool history, const std::optional<VecX>& warm, double over_relaxation,
         double stiction_tolerance, double regularization, double near_rigid, bool condition) {
        const nb::gil_scoped_release release;
        return solve(p, solver,
                     {tolerance, max_iterations, history, condition, or_empty(warm),
                      over_relaxation, stiction_tolerance, regularization, near_rigid});
      },
      "problem"_a, "solver"_a, nb::kw_only(), "tolerance"_a = 1e-8, "max_iterations"_a = 10000,
      "history"_a = false, "warm"_a = nb::none(), "over_relaxation"_a = 1.6,
      "stiction_tolerance"_a = 1e-4, "regularization"_a = 1e-3, "near_rigid"_a = 1.0,
      "condition"_a = false,
      "tolerance: of the solver's own residual, relative to the problem's speed (the Newton "
      "solvers:\n"
      "relative momentum residual). warm: (3 n,) impulses.\n\n"
      "Raises stiction.ArgumentError on an unknown solver, a setting out of range, and joint rows "
      "that the "
      "solver\n"
      "does not take.");
  m.def("project_cone", &project_cone, "x"_a, "mu"_a);
  m.def("project_dual_cone", &project_dual_cone, "x"_a, "mu"_a);
}
