// Rolls back a step around a user's function that raised: it is as if the step had not happened.
#include "env/impl.h"

namespace stiction {

void Env::Impl::remember() {
  engine().remember(before.batch);
  // results alternate between two sets: a step has not overwritten the last one
  before.episodes.resize(layout.results(0));
  read(before.episodes.data(), device != nullptr ? device->memory() : memory.data(),
       before.episodes.size());
  before.now = now, before.begun = begun, before.steps = steps;
}

void Env::Impl::put_back() {
  engine().put_back(before.batch);
  write(device != nullptr ? device->memory() : memory.data(), before.episodes.data(),
        before.episodes.size());
  now = before.now, begun = before.begun, steps = before.steps;
}

}  // namespace stiction
