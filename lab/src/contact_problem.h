// The contact problem of one step, which every solver of the laboratory gets, and what they share:
// Delassus matrix, projections on the cones, de Saxcé's correction, residuals.
//
// Contacts are rows 3i, 3i + 1, 3i + 2 of J: two tangents and the normal, which points into the
// second body. Impulses λ in N s, velocities u = J v in m/s; Coulomb's cone of a contact is
// K = {|λ_t| <= μ λ_n}, its dual K* = {μ |u_t| <= u_n}.
#pragma once

#include <vector>

#include "math.h"
#include "reference/solver/problem.h"

namespace stiction::lab {

struct ContactProblem {
  double dt = 0;     // s
  MatX A;            // (nv,nv)  SPD; A (v − v*) = Jᵀ λ
  VecX v_star, v0;   // (nv)     velocity without contacts, velocity at the start of the step
  MatX J;            // (3n,nv)
  VecX mu;           // (n)
  VecX gap;          // (n)      m, at the start
  VecX R;            // (3n)     compliance of the dual solvers and of `sap`, 1/kg; 0: rigid
  VecX bias;         // (3n)     u = J v + bias, m/s: gap/δt of the normals, speed of a conveyor
  VecX stiffness;    // (n)      N/m, of the compliant laws, like the next three
  VecX dissipation;  // (n)      s/m
  VecX relaxation_time;                        // (n)      s
  VecX weight;                                 // (n)      w, 1/kg
  std::vector<reference::RowConstraint> rows;  // limits, servos, dry friction of the joints

  int contacts() const { return static_cast<int>(mu.size()); }
};

// Throws ArgumentError naming the array whose size, sign or value is wrong.
void check(const ContactProblem& problem);

// In the space of the contacts: u = G λ + R λ + g with G = J A⁻¹ Jᵀ and g = J v* + bias. Servos whose
// force is inside its range are part of A and v*; limits and dry friction of joints are not in here.
struct DualProblem {
  double dt = 0;
  MatX G;         // (3n,3n)
  VecX g, R, mu;  // (3n) (3n) (n)
  MatX response;  // (nv,3n)  A⁻¹ Jᵀ
  VecX free;      // (nv)     v without contact impulses

  int contacts() const { return static_cast<int>(mu.size()); }
  VecX velocity(const VecX& lambda) const { return G * lambda + R.cwiseProduct(lambda) + g; }
  Mat3 block(int i) const;  // G_ii + R_i
};
DualProblem dual(const ContactProblem& problem);

// The solution nearest to x, in the Euclidean norm.
Vec3 project_cone(const Vec3& x, double mu);       // K
Vec3 project_dual_cone(const Vec3& x, double mu);  // K*
Vec2 project_disk(const Vec2& x, double radius);

// de Saxcé: u + Γ(u) = u + (0, 0, μ |u_t|); with it Signorini, Coulomb and maximum dissipation are
// one complementarity K ∋ λ ⟂ u + Γ(u) ∈ K*.
Vec3 de_saxce(const Vec3& u, double mu);

// How far impulses are from Coulomb's law, the largest of all contacts (Le Lidec et al., eq. 15,
// with forces in the place of impulses).
struct Residual {
  double primal = 0;           // N    dist(λ, K)/δt
  double dual = 0;             // m/s  dist(u + Γ(u), K*)
  double complementarity = 0;  // W    |λ · (u + Γ(u))|/δt
};
Residual ncp_residual(const DualProblem& p, const VecX& lambda, const VecX& u);

// The three laws one by one, at all contacts.
struct Laws {
  double signorini = 0;  // N    max over contacts of min(|λ_n|, |u_n|/w)/δt and of what is negative
  double coulomb = 0;    // N    (|λ_t| − μ λ_n)₊/δt
  double dissipation = 0;  // W    (λ_t · u_t + μ λ_n |u_t|)₊/δt
};
Laws laws(const DualProblem& p, const VecX& lambda, const VecX& u);

// What a solver wants to be zero. pyramid: |λ_x|, |λ_y| <= μ λ_n each with maximum dissipation;
// convex: K ∋ λ ⟂ u ∈ K*; coulomb: K ∋ λ ⟂ u + Γ(u) ∈ K*.
enum class Law { pyramid, convex, coulomb };

// Natural map of a law: the largest L_i |λ_i − Π(λ_i − û_i/L_i)| with the norm L_i of G_ii + R_i, m/s. It is
// zero exactly at the solutions.
double natural_residual(const DualProblem& p, Law law, const VecX& lambda, const VecX& u);

// Largest eigenvalue of a symmetric block.
double largest_eigenvalue(const MatX& block);

}  // namespace stiction::lab
