// Exceptions thrown at the API boundary (model load, construction, wrong shapes); never inside a step.
#pragma once

#include <stdexcept>
#include <string>

namespace stiction {

// Base of everything the library throws on purpose.
// Its text is safe to print on a terminal: control sequences are escaped.
struct Error : std::runtime_error {
  explicit Error(const std::string& message);
};

// A model that cannot be read or is physically impossible. The message names file, line, element,
// attribute and value, and says what to do.
struct ModelError : Error {
  using Error::Error;
};

// A wrong argument: shape, range or non-finite value. The message shows what was given.
struct ArgumentError : Error {
  using Error::Error;
};

}  // namespace stiction
