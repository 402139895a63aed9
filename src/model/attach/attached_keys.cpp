// Keyframes of attached models, moved number by number to the new indices of joints, actuators and mocap bodies.
#include <limits>

#include "model/attach/assemble.h"
#include "model/read/read.h"
#include "model/spec/key_numbers.h"

namespace stiction::model {
namespace {

int position_count(JointType type) {
  return type == JointType::free ? 7 : type == JointType::ball ? 4 : 1;
}

// Every joint in the order of the model.
template <class F>
void each_joint(Spec& spec, const F& use) {
  for (BodySpec& b : spec.bodies)
    for (JointSpec& j : b.joints) use(j);
}

template <class F>
void each_mocap(Spec& spec, const F& use) {
  for (BodySpec& b : spec.bodies)
    if (b.mocap) use(*b.element);
}

void require_size(const KeySpec& k, const char* attribute, const std::vector<double>& given,
                  std::size_t n) {
  if (given.empty() || given.size() == n) return;
  fail(*k.element, attribute,
       "expected " + std::to_string(n) + " numbers, found " + std::to_string(given.size()) +
           ": a keyframe of an attached model is complete");
}

// Copies `n` numbers of `from` into `to`, if there are any.
void take(const std::vector<double>& from, int adr, std::vector<double>& to, std::size_t at,
          int n) {
  if (from.empty()) return;
  for (int i = 0; i < n; ++i)
    to[at + static_cast<std::size_t>(i)] = from[static_cast<std::size_t>(adr + i)];
}

}  // namespace

std::shared_ptr<const KeySource> key_source(Spec& spec) {
  auto source = std::make_shared<KeySource>();
  int nq = 0, nv = 0, na = 0, place = 0;
  each_joint(spec, [&](JointSpec& j) {
    j.element->place = place++;
    source->qposadr.push_back(nq), source->dofadr.push_back(nv);
    nq += position_count(j.type), nv += dof_count(j.type);
  });
  place = 0;
  for (ActuatorSpec& a : spec.actuators) {
    a.element->place = place++;
    source->actadr.push_back(a.has_state() ? na++ : -1);
  }
  int nmocap = 0;
  each_mocap(spec, [&](Element& e) { e.place = nmocap++; });
  source->keys = spec.keys;
  for (const KeySpec& k : source->keys) {
    require_size(k, "qpos", k.qpos, static_cast<std::size_t>(nq));
    require_size(k, "qvel", k.qvel, static_cast<std::size_t>(nv));
    require_size(k, "ctrl", k.ctrl, spec.actuators.size());
    require_size(k, "act", k.act, static_cast<std::size_t>(na));
    require_size(k, "mpos", k.mpos, static_cast<std::size_t>(3 * nmocap));
    require_size(k, "mquat", k.mquat, static_cast<std::size_t>(4 * nmocap));
  }
  return source;
}

void add_attached_keys(const Assembly& assembly, Spec& spec) {
  constexpr double kReference = std::numeric_limits<double>::quiet_NaN();
  std::size_t numbers = 0;
  for (std::size_t owner = 0; owner < assembly.keys.size(); ++owner) {
    const AttachedKeys& attached = assembly.keys[owner];
    const KeySource& source = *attached.source;
    for (const KeySpec& key : source.keys) {
      KeySpec k = key;
      if (!k.name.empty()) k.name = attached.prefix + k.name;
      if (!k.name.empty() && !spec.names["key"].try_emplace(k.name, k.element).second)
        fail(*k.element, "name", "\"" + shown(k.name) + "\" is the name of another keyframe");
      k.qpos.clear(), k.qvel.clear(), k.ctrl.clear(), k.act.clear(), k.mpos.clear(),
          k.mquat.clear();
      each_joint(spec, [&](JointSpec& j) {
        const int nq = position_count(j.type), nv = dof_count(j.type);
        const std::size_t q = k.qpos.size(), v = k.qvel.size();
        if (!key.qpos.empty()) k.qpos.resize(q + static_cast<std::size_t>(nq), kReference);
        if (!key.qvel.empty()) k.qvel.resize(v + static_cast<std::size_t>(nv), kReference);
        if (j.element->owner != static_cast<int>(owner)) return;
        const auto place = static_cast<std::size_t>(j.element->place);
        take(key.qpos, source.qposadr[place], k.qpos, q, nq);
        take(key.qvel, source.dofadr[place], k.qvel, v, nv);
      });
      for (const ActuatorSpec& a : spec.actuators) {
        const bool state = a.has_state() && !key.act.empty();
        if (!key.ctrl.empty()) k.ctrl.push_back(kReference);
        if (state) k.act.push_back(kReference);
        if (a.element->owner != static_cast<int>(owner)) continue;
        const int place = a.element->place;
        if (!key.ctrl.empty()) take(key.ctrl, place, k.ctrl, k.ctrl.size() - 1, 1);
        if (state)
          take(key.act, source.actadr[static_cast<std::size_t>(place)], k.act, k.act.size() - 1, 1);
      }
      each_mocap(spec, [&](Element& e) {
        for (const auto& [from, to, n] :
             {std::tuple(&key.mpos, &k.mpos, 3), std::tuple(&key.mquat, &k.mquat, 4)}) {
          if (from->empty()) continue;
          const std::size_t end = to->size();
          to->resize(end + static_cast<std::size_t>(n), kReference);
          if (e.owner == static_cast<int>(owner)) take(*from, n * e.place, *to, end, n);
        }
      });
      numbers += k.qpos.size() + k.qvel.size() + k.ctrl.size() + k.act.size() + k.mpos.size() +
                 k.mquat.size();
      check_key_numbers(*k.element, numbers);
      spec.keys.push_back(std::move(k));
    }
  }
}

}  // namespace stiction::model
