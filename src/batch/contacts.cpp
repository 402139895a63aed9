// The contact points of one environment, as the reference engine reports them.
#include <vector>

#include "batch/impl.h"

namespace stiction {

std::vector<Contact> Batch::Impl::contacts(int) {
  return {};
}

std::vector<Contact> Batch::contacts(int env) const {
  impl_->check_ids(std::span(&env, 1), false);
  return impl_->contacts(env);
}

}  // namespace stiction
