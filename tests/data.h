// Where the robots of stiction.assets are: in the source tree, or where the environment variable
// STICTION_ROBOTS says.
#pragma once

#include <string>

namespace stiction::test {

std::string test_robots();
// PTX for the tests of the interpreter.
std::string small_ptx();

}  // namespace stiction::test
