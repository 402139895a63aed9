// An environment variable for as long as this lives.
#pragma once

#include <cstdlib>

namespace stiction::test {

class Switch {
 public:
  Switch(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Switch() { unsetenv(name_); }
  Switch(const Switch&) = delete;
  Switch& operator=(const Switch&) = delete;

 private:
  const char* name_;
};

}  // namespace stiction::test
