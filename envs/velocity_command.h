// Commands of velocity-tracking tasks: planar velocity in the robot's own axes, drawn anew from time
// to time.
#pragma once

#include "envs/task.h"

namespace stiction::envs {

// How commands are drawn.
struct CommandLaw {
  double x[2], y[2], yaw[2];  // ranges, m/s, m/s, rad/s
  double interval[2];         // s between draws
  double least = 0;           // planar commands up to this are 0, m/s
  double p_stand = 0, p_heading = 0, p_forward = 0;
  double heading_stiffness = 0.5;  // yaw rate = stiffness times heading error, in range
  double least_forward = 0.3;      // m/s, of commands that only go forward
};

// In the memory of a task.
template <class S>
struct Command {
  S x, y, yaw;
  S heading;  // to hold, world, rad
  S follows;  // 1: yaw comes from the heading
  S left;     // s until the next draw
};
inline constexpr int kCommandNumbers = 6;

template <class S>
STICTION_FN Command<S> load_command(const S* memory) {
  return {memory[0], memory[1], memory[2], memory[3], memory[4], memory[5]};
}
template <class S>
STICTION_FN void store_command(S* memory, const Command<S>& c) {
  memory[0] = c.x, memory[1] = c.y, memory[2] = c.yaw;
  memory[3] = c.heading, memory[4] = c.follows, memory[5] = c.left;
}

template <class S>
STICTION_FN Command<S> draw_command(const CommandLaw& law, Draw draw) {
  double x = draw.uniform(law.x[0], law.x[1]), y = draw.uniform(law.y[0], law.y[1]);
  double yaw = draw.uniform(law.yaw[0], law.yaw[1]);
  const double heading = draw.uniform(-kPi, kPi),
               left = draw.uniform(law.interval[0], law.interval[1]);
  const bool forward = draw.uniform() < law.p_forward;
  bool follows = draw.uniform() < law.p_heading;
  const bool stands = draw.uniform() < law.p_stand;
  if (forward) x = physics::vmax(std::fabs(x), law.least_forward), y = yaw = 0, follows = false;
  if (stands) x = y = yaw = 0, follows = false;
  if (x * x + y * y <= law.least * law.least) x = y = 0;
  return {S(x), S(y), S(yaw), S(heading), S(follows ? 1 : 0), S(left)};
}

// The yaw rate of a command that follows a heading.
template <class S>
STICTION_FN S yaw_to_heading(const CommandLaw& law, const Command<S>& c, double heading) {
  const double error = static_cast<double>(c.heading) - heading;
  const double rate = law.heading_stiffness * wrapped_angle(error);
  return S(physics::clamp(rate, law.yaw[0], law.yaw[1]));
}

}  // namespace stiction::envs
