// The functions of one instruction set and number type: a plain table of functions on blocked fields.
// `fields` are the addresses of all fields of a pack, in the order of fields.def.
#pragma once

#include <cstddef>
#include <cstdint>

#include "physics/base/views.h"

namespace stiction::cpu {

// Report of a step about the environment in one lane.
struct LaneReport {
  std::uint32_t flags;  // bits of Status
  int iterations, linesearch_evaluations, contacts, solves;
};

struct Kernels {
  const char* name;  // "avx512", "avx2", "baseline", "scalar"; "float64": one lane of doubles
  int lanes;
  std::size_t real_bytes, wide_bytes;  // of one number of all lanes

  // physics/step.h
  void (*step)(const physics::ModelView& m, void* const* fields, bool last, int left);
  // The same for two packs side by side, with a block of all fields that they share. nullptr if lanes is 1.
  void (*step_two)(const physics::ModelView& m, void* const* first, void* const* second,
                   void* const* shared, bool last, int left);
  void (*forces)(const physics::ModelView& m, void* const* fields);  // and interval sensors
  void (*refresh)(const physics::ModelView& m, void* const* fields);
  // dynamics: kinematics, velocities, inertia and bias of the current state; then quantity computes one of
  // quantities.h into a block of wide numbers. point: a block of three, or null: the origin of the object.
  void (*dynamics)(const physics::ModelView& m, void* const* fields);
  void (*quantity)(const physics::ModelView& m, void* const* fields, physics::Quantity which,
                   void* out);
  void (*jacobian)(const physics::ModelView& m, void* const* fields, int objtype, int id,
                   const void* point, void* out);
  // Casts n rays of six wide numbers, in the frame of a body, to n hits of five: physics/rays/rays.h. scan: heights of
  // the ground, wide: physics/rays/height_scan.h. Both after `dynamics`.
  void (*rays)(const physics::ModelView& m, void* const* fields, const RayOptions& options,
               int frame, int n, const void* rays, void* hits);
  void (*scan)(const physics::ModelView& m, void* const* fields, const HeightScan& scan, int body,
               void* out);
  // Sets qfrc_applied to the force that makes a step end with the acceleration in qacc, in addition to the inputs and
  // actuators as they are; its initial value counts as a part of it (physics/solver/inverse.h).
  void (*inverse)(const physics::ModelView& m, void* const* fields);
  void (*set_active)(void* const* fields, const bool* active);  // (lanes)
  void (*report)(void* const* fields, LaneReport* lanes);       // (lanes)

  // Transfer n numbers of each lane between its dense row and the block; a null row is not stored.
  void (*load)(bool wide, int n, const void* const* rows, void* block);
  void (*store)(bool wide, int n, const void* block, void* const* rows);
  void (*broadcast)(bool wide, int n, const double* values, void* block);
  // Replaces numbers that are not finite by zero; sets bad[lane] in lanes that had any.
  void (*clean)(bool wide, int n, void* block, bool* bad);
};

}  // namespace stiction::cpu
