// Where the data of the tests are: in the source tree, or where STICTION_TEST_DATA says.
#pragma once

#include <cstdlib>
#include <string>

namespace stiction::test {

inline std::string test_data() {
  const char* moved = std::getenv("STICTION_TEST_DATA");
  return moved != nullptr ? moved : STICTION_TEST_DATA;
}

}  // namespace stiction::test
