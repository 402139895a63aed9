#include "model/spec/sensor_types.h"

namespace stiction::model {
namespace {

struct Named {
  std::string_view name;
  SensorType type;
};
constexpr Named kTypes[] = {
    {"touch", SensorType::touch},
    {"accelerometer", SensorType::accelerometer},
    {"velocimeter", SensorType::velocimeter},
    {"gyro", SensorType::gyro},
    {"force", SensorType::force},
    {"torque", SensorType::torque},
    {"magnetometer", SensorType::magnetometer},
    {"rangefinder", SensorType::rangefinder},
    {"camprojection", SensorType::camprojection},
    {"jointpos", SensorType::jointpos},
    {"jointvel", SensorType::jointvel},
    {"tendonpos", SensorType::tendonpos},
    {"tendonvel", SensorType::tendonvel},
    {"actuatorpos", SensorType::actuatorpos},
    {"actuatorvel", SensorType::actuatorvel},
    {"actuatorfrc", SensorType::actuatorfrc},
    {"jointactuatorfrc", SensorType::jointactuatorfrc},
    {"tendonactuatorfrc", SensorType::tendonactuatorfrc},
    {"tendonlimitpos", SensorType::tendonlimitpos},
    {"tendonlimitvel", SensorType::tendonlimitvel},
    {"tendonlimitfrc", SensorType::tendonlimitfrc},
    {"ballquat", SensorType::ballquat},
    {"ballangvel", SensorType::ballangvel},
    {"jointlimitpos", SensorType::jointlimitpos},
    {"jointlimitvel", SensorType::jointlimitvel},
    {"jointlimitfrc", SensorType::jointlimitfrc},
    {"framepos", SensorType::framepos},
    {"framequat", SensorType::framequat},
    {"framexaxis", SensorType::framexaxis},
    {"frameyaxis", SensorType::frameyaxis},
    {"framezaxis", SensorType::framezaxis},
    {"framelinvel", SensorType::framelinvel},
    {"frameangvel", SensorType::frameangvel},
    {"framelinacc", SensorType::framelinacc},
    {"frameangacc", SensorType::frameangacc},
    {"subtreecom", SensorType::subtreecom},
    {"subtreelinvel", SensorType::subtreelinvel},
    {"subtreeangmom", SensorType::subtreeangmom},
    {"insidesite", SensorType::insidesite},
    {"distance", SensorType::distance},
    {"normal", SensorType::normal},
    {"fromto", SensorType::fromto},
    {"e_potential", SensorType::e_potential},
    {"e_kinetic", SensorType::e_kinetic},
    {"contact", SensorType::contact},
    {"clock", SensorType::clock},
};

}  // namespace

std::optional<SensorType> sensor_type(std::string_view name) {
  for (const Named& n : kTypes)
    if (n.name == name) return n.type;
  return {};
}

}  // namespace stiction::model
