// Implementation of StepDerivative (stiction/gradient.h): which numbers are seeded and which are read, one environment
// at a time. Jacobians use forward mode, gradient.cpp, products reverse mode, gradient_reverse.cpp.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "batch/gradient_worker.h"
#include "stiction/gradient.h"
#include "stiction/reference.h"

namespace stiction {

struct StepDerivative::Impl {
  using Worker = gradient::Worker;
  struct Part {
    Field field;
    int first, size;
  };

  Impl(Batch& b, const std::vector<std::string>& of_names,
       const std::vector<std::string>& wrt_names);

  // If the friction bounds follow the impulses, there is a single solve.
  int solves() const { return std::max(1, batch.options.friction_iterations); }
  int nrows() const { return of.empty() ? 0 : of.back().first + of.back().size; }
  int ncolumns() const { return wrt.empty() ? 0 : wrt.back().first + wrt.back().size; }
  std::vector<Part> parts(const std::vector<std::string>& names,
                          std::initializer_list<FieldKind> kinds, const char* argument,
                          std::vector<DerivativeBlock>& blocks);
  bool has_rows(Field f) const { return has(rows, f); }
  bool has_columns(Field f) const { return has(columns, f); }
  static bool has(const std::vector<Part>& list, Field f) {
    return std::any_of(list.begin(), list.end(), [&](const Part& p) { return p.field == f; });
  }

  // ---- one environment

  // Loads an environment and makes its step in plain numbers; sets the bits of Status. false: the step keeps the state.
  bool begin(Worker& w, int env);
  void load(const Worker& w, int env) const;
  std::uint32_t solve(Worker& w) const;
  // Copies per-environment fields from plain numbers to others; every slot may have an anchor.
  template <class Copy>
  void for_own(const Copy& copy) const {
    for_fields(batch.host.specs(), {FieldKind::state, FieldKind::input, FieldKind::param},
               [&](Field f, const FieldSpec&) {
                 if (batch.rows[at(f)] != nullptr) copy(f);
               });
  }
  void list_anchors(const gradient::Blocks& b) const;
  bool has_own_numbers(int env) const;
  // If a point computed by a search acts: the columns of qpos in the rows of qpos and qvel, (2 nv, 2 nv); else
  // empty.
  std::vector<double> ask_reference(const Worker& w, int env);
  std::vector<double> by_reference(const Worker& w) const;
  bool moves_more() const;

  // ---- forward: use(first column, count) after each chunk of directions, whose tangents are in the worker

  void prepare_jacobian();
  template <class Use>
  void differentiate(Worker& w, int env, const Use& use);
  void to_dual(const Worker& w, Field f) const;
  std::pair<const Part*, int> column(int c) const;
  template <class F>
  void for_seeds(const Worker& w, int c, const F& f) const;
  void read(Worker& w, const Part& part) const;
  void replace(Worker& w, const std::vector<double>& state, int c, int d) const;
  void stay(Worker& w, int first, int count) const;

  // ---- reverse: from weights of the rows to those of the columns

  void prepare_product();
  void pull(Worker& w, int env, const double* weights, double* out);
  void to_tape(const Worker& w, Field f) const;
  int plant_leaves(const Worker& w) const;
  template <class Rows, class Columns>
  void sweep(Worker& w, int leaves, const double* weights, double* out, const Rows& of_rows,
             const Columns& to_columns) const;
  void seed(const Worker& w, const Part& row, const double* weights) const;
  void harvest(const Worker& w, const Part& part, std::uint32_t first_leaf, double* out) const;
  void stay(const double* weights, double* out) const;

  // Calls f(worker, env) for all environments.
  template <class F>
  void each(const F& f) {
    batch.pool->run(batch.num_envs(), batch.pool->size(),
                    [&](int worker, int env) { f(workers[at(worker)], env); });
  }

  Batch::Impl& batch;
  std::vector<Part> rows, columns;
  std::vector<DerivativeBlock> of, wrt;
  std::vector<Worker> workers;
  std::vector<std::uint32_t> status;
  std::vector<std::uint8_t> exact;
  std::unique_ptr<Reference> reference;  // for pairs whose points are computed by a search
};

}  // namespace stiction
