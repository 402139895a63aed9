#include "model/spec/key_numbers.h"

namespace stiction::model {

void check_key_numbers(const Element& key, std::size_t numbers) {
  constexpr std::size_t kMost = 50'000'000;
  if (numbers > kMost)
    fail(key, std::to_string(numbers) + " numbers in the keyframes up to this one; the limit is " +
                  std::to_string(kMost) + ": write fewer keyframes");
}

}  // namespace stiction::model
