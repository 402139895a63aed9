#include "cuda/ptx/operations.h"

namespace stiction::ptx {

Operation operation(const std::string& opcode) {
  static const Operations all = [] {
    Operations found;
    add_arithmetic(found), add_transfers(found), add_meetings(found);
    return found;
  }();
  if (opcode == "bra" || opcode == "bra.uni") return {nullptr, Kind::branch};
  if (opcode == "ret" || opcode == "exit") return {nullptr, Kind::leave};
  if (opcode == "call" || opcode == "call.uni") return {nullptr, Kind::call};
  if (opcode == "bar.sync" || opcode == "barrier.sync") return {nullptr, Kind::block_sync};
  const auto found = all.find(opcode);
  if (found == all.end()) return {nullptr, Kind::plain};
  const Kind kind = opcode.starts_with("ld.")             ? Kind::load
                    : opcode.starts_with("st.")           ? Kind::store
                    : opcode.find(".sync") != opcode.npos ? Kind::warp_sync
                                                          : Kind::plain;
  return {found->second, kind};
}

}  // namespace stiction::ptx
