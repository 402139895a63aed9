// Where the data of the tests are: in the source tree, or where the environment variable
// STICTION_TEST_DATA says.
#pragma once

#include <string>

namespace stiction::test {

std::string test_data();

}  // namespace stiction::test
