#include "batch/devices.h"

#include <cstring>

#include "batch/emulated_device.h"

namespace stiction::test {

std::string& device() {
  static std::string name = "cpu";
  return name;
}

std::vector<std::string> device_names(bool with_cpu) {
  std::vector<std::string> names = {"emulated"};
  if (with_cpu) names.insert(names.begin(), "cpu");
  return names;
}

void use_device(const std::string& name) {
  if (name == "emulated") register_emulated_device();
  device() = name;
}

std::string missing_device() {
  return "";
}

void copy_memory(const std::string&, void* to, const void* from, std::size_t bytes) {
  std::memcpy(to, from, bytes);
}

}  // namespace stiction::test
