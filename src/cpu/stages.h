// The stages for the number type of this translation unit as plain functions, defined in
// stages_*.cpp. They match exactly, so overload resolution in physics/step.h prefers them to the
// templates, which then need not be compiled again.
//
// Compiled once per instruction set with STICTION_ISA naming it, and once each with
// STICTION_PLAIN_FLOAT and STICTION_PLAIN_DOUBLE for packs of one environment.
#pragma once

#include "cpu/pack.h"
#include "physics/base/team.h"
#include "physics/base/views.h"

STICTION_PHYSICS_BEGIN

#if defined(STICTION_PLAIN_DOUBLE)
using Number = double;
#elif defined(STICTION_PLAIN_FLOAT)
using Number = float;
#else
using Number = Pack<float, kNativeLanes>;
#endif

#define STICTION_STAGE(stage) \
  void stage(const TeamOfOne& team, const ModelView& m, EnvView<Number>& e)
STICTION_STAGE(kinematics);
STICTION_STAGE(velocities);
STICTION_STAGE(tendons);
STICTION_STAGE(bias);
STICTION_STAGE(inertia);
STICTION_STAGE(fluid);
STICTION_STAGE(activation_dynamics);
STICTION_STAGE(actuation);
STICTION_STAGE(gyroscopic_start);
STICTION_STAGE(gyroscopic_end);
STICTION_STAGE(rows);
STICTION_STAGE(collide);
STICTION_STAGE(solve);
STICTION_STAGE(inverse);
STICTION_STAGE(integrate);
STICTION_STAGE(interval_sensors);
STICTION_STAGE(state_sensors);

// From solve_two.h; packs only.
void solve_two(const ModelView& m, EnvView<Number>& first, EnvView<Number>& second,
               EnvView<Number>& shared);

// From quantities.h; point: null, or three wide numbers that replace the object's origin.
void store_quantity(const ModelView& m, const EnvView<Number>& e, Quantity which,
                    Wide<Number>* out);
void store_jacobian(const ModelView& m, const EnvView<Number>& e, int objtype, int id,
                    const Wide<Number>* point, Wide<Number>* out);

// From rays.h and height_scan.h.
void store_hits(const ModelView& m, const EnvView<Number>& e, const RayOptions& options, int frame,
                int n, const Wide<Number>* rays, Wide<Number>* hits);
void store_heights(const ModelView& m, const EnvView<Number>& e, const HeightScan& scan, int body,
                   Wide<Number>* out);

// Defines a stage by its template.
#define STICTION_DEFINE_STAGE(stage)                 \
  STICTION_STAGE(stage) {                            \
    /* NOLINTNEXTLINE(bugprone-macro-parentheses) */ \
    stage<TeamOfOne, Number>(team, m, e);            \
  }

STICTION_PHYSICS_END
