#include "data.h"

#include <cstdlib>

namespace stiction::test {

std::string test_data() {
  const char* moved = std::getenv("STICTION_TEST_DATA");
  return moved != nullptr ? moved : STICTION_TEST_DATA;
}

}  // namespace stiction::test
