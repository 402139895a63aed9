#include "data.h"

#include <cstdlib>

namespace stiction::test {

std::string test_robots() {
  const char* moved = std::getenv("STICTION_ROBOTS");
  return moved != nullptr ? moved : STICTION_ROBOTS;
}

std::string small_ptx() {
  return STICTION_SMALL_PTX;
}

}  // namespace stiction::test
