#include "cuda/ptx/costs.h"

#include <algorithm>
#include <unordered_set>

namespace stiction::ptx {
namespace {

bool has(const std::string& opcode, const char* part) {
  return opcode.find(part) != opcode.npos;
}
bool ends(const std::string& opcode, const char* type) {
  return opcode.ends_with(type);
}

// Of what no table has: how ptxas expands an operation, and how long the longest path through that is, in
// latencies of arithmetic.
Cost of_division(const std::string& opcode, bool by_constant) {
  if (ends(opcode, ".f32")) return {Unit::special, 11, 17};
  if (ends(opcode, ".f64")) return {Unit::wide, 16, 32};
  if (by_constant) return {Unit::integer, 4, 4};
  return ends(opcode, "64") ? Cost{Unit::integer, 60, 70} : Cost{Unit::integer, 18, 25};
}

Cost of_conversion(const std::string& opcode) {
  const std::size_t from = opcode.rfind('.'), to = opcode.rfind('.', from - 1);
  const std::string source = opcode.substr(from + 1), target = opcode.substr(to + 1, from - to - 1);
  const bool floats = source[0] == 'f' || target[0] == 'f';
  if (floats) {
    const bool wide = ends(source, "64") || ends(target, "64");
    return wide ? Cost{Unit::special, 1, 4.5f} : Cost{Unit::special, 1, 3.5f};
  }
  if (source == "s32" && target == "s64") return {Unit::integer, 1, 1};
  const bool narrow = ends(target, "8") || ends(target, "16");
  return narrow ? Cost{Unit::integer, 1, 1} : Cost{};
}

Cost of_arithmetic(const std::string& opcode, bool by_constant) {
  const std::string name = opcode.substr(0, opcode.find('.'));
  const bool f32 = ends(opcode, ".f32"), f64 = ends(opcode, ".f64"),
             predicate = ends(opcode, ".pred");
  const bool wide = ends(opcode, "64") && !f64;
  if (name == "mov" || name == "cvta") return {};
  if (name == "cvt") return of_conversion(opcode);
  if (name == "div" || name == "rem") return of_division(opcode, by_constant);
  if (name == "rcp") return f64 ? Cost{Unit::wide, 10, 22} : Cost{Unit::special, 6, 10};
  if (name == "sqrt") return f64 ? Cost{Unit::wide, 14, 32} : Cost{Unit::special, 9, 13};
  if ((name == "neg" || name == "abs") && (f32 || f64)) return {};  // of an operand
  if (name == "popc" || name == "clz" || name == "bfind" || name == "brev")
    return {Unit::special, 1, 3};
  if (f64 && (name == "min" || name == "max")) return {Unit::wide, 4, 4};
  if (name == "selp" && (f64 || wide)) return {Unit::integer, 2, 1.25f};
  if (name == "selp" || name == "copysign") return {Unit::integer, 1, 1};
  if (name == "setp") {
    if (f64) return {Unit::wide, 1, 2.5f};
    return wide ? Cost{Unit::integer, 2, 2.5f} : Cost{Unit::integer, 1, 1.5f};
  }
  if (f64) return {Unit::wide, 1, 2};
  if (f32)
    return name == "min" || name == "max" ? Cost{Unit::integer, 1, 1} : Cost{Unit::single, 1, 1};
  if (predicate) return {Unit::integer, 1, 1.5f};
  if (name == "mul" || name == "mad") {
    if (has(opcode, ".wide.")) return {Unit::integer, 1, 1.25f};
    if (has(opcode, ".hi.")) return {Unit::integer, 2, 2};
    return wide ? Cost{Unit::integer, 4, 3} : Cost{Unit::integer, 1, 1.25f};
  }
  if (name == "bfi") return {Unit::integer, 2, 2};
  if (!wide) return {Unit::integer, 1, 1};
  if (name == "shl" || name == "shr") return {Unit::integer, 3, 2};
  return {Unit::integer, 2, 1.5f};  // add, sub, logic, least and most of 64 bits
}

}  // namespace

MachineCode::MachineCode(const Module& module, const Function& entry)
    : module_(&module), rows_(entry.end_row) {
  const std::size_t n = module.code().size();
  costs_.resize(n), begins_.resize(n), ends_.resize(n), order_.resize(n);
  std::uint32_t address = 0;
  const auto add = [&](const Function& f) {
    find_blocks(f);
    find_costs(f);
    fuse(f);
    for (int k = f.begin; k < f.end; ++k) {
      costs_[static_cast<std::size_t>(k)].address = address;
      address += costs_[static_cast<std::size_t>(k)].issues;
    }
    for (int k = f.begin; k < f.end; k = end(k)) order_block(k, end(k));
  };
  for (const Function* f : module.callees()) add(*f);
  add(entry);
}

void MachineCode::find_blocks(const Function& f) {
  std::unordered_set<int> leaders = {f.begin};
  for (int k = f.begin; k < f.end; ++k) {
    const Instruction& i = module_->code()[static_cast<std::size_t>(k)];
    if (i.kind == Kind::branch) leaders.insert(i.target);
    if (i.kind == Kind::branch || i.kind == Kind::leave || i.kind == Kind::call ||
        i.kind == Kind::block_sync)
      leaders.insert(k + 1);
  }
  for (int k = f.begin; k < f.end;) {
    int last = k + 1;
    while (last < f.end && !leaders.contains(last)) ++last;
    for (; k < last; ++k)
      begins_[static_cast<std::size_t>(k)] = k, ends_[static_cast<std::size_t>(k)] = last;
  }
  for (int k = f.begin + 1; k < f.end; ++k)
    if (!leaders.contains(k))
      begins_[static_cast<std::size_t>(k)] = begins_[static_cast<std::size_t>(k - 1)];
}

void MachineCode::find_costs(const Function& f) {
  std::unordered_set<int> constant;
  for (const Constant& c : f.constants) constant.insert(c.row);
  for (int k = f.begin; k < f.end; ++k) {
    const Instruction& i = module_->code()[static_cast<std::size_t>(k)];
    const std::string& opcode = module_->opcodes()[static_cast<std::size_t>(i.opcode)];
    Cost& c = costs_[static_cast<std::size_t>(k)];
    switch (i.kind) {
      case Kind::plain: c = of_arithmetic(opcode, constant.contains(i.from[1])); break;
      case Kind::load:
      case Kind::store:
        // a parameter of the kernel is an operand, one of a call lies in a register
        if (has(opcode, ".param") && constant.contains(i.from[0])) break;
        c = {i.space == Space::shared ? Unit::shared : Unit::global, 1, 0};
        break;
      // where lanes may part, the machine also says where they meet
      case Kind::branch:
        c = {Unit::branch, static_cast<std::uint8_t>(i.predicate >= 0 ? 2 : 1), 0};
        break;
      case Kind::leave: c = {Unit::branch, 1, 0}; break;
      case Kind::call: c = {Unit::branch, 3, 0}; break;
      case Kind::block_sync: c = {Unit::block_barrier, 1, 0}; break;
      case Kind::warp_sync:
        if (opcode.starts_with("bar")) c = {Unit::warp_barrier, 1, 0};
        if (opcode.starts_with("shfl")) c = {Unit::shuffle, 1, 6};
        if (opcode.starts_with("vote")) c = {Unit::vote, 1, 3};
        break;
    }
  }
}

// A product whose only use is a sum in the same block is a part of it, and so are a shift or a product in
// front of an address, and a comparison in front of the conjunction with another.
void MachineCode::fuse(const Function& f) {
  std::vector<int> uses(static_cast<std::size_t>(f.end_row), 0),
      user(static_cast<std::size_t>(f.end_row), -1);
  for (int k = f.begin; k < f.end; ++k)
    for_sources(module_->code()[static_cast<std::size_t>(k)], [&](int r) {
      ++uses[static_cast<std::size_t>(r)], user[static_cast<std::size_t>(r)] = k;
    });
  for (int k = f.begin; k < f.end; ++k) {
    const Instruction& i = module_->code()[static_cast<std::size_t>(k)];
    if (i.kind != Kind::plain || i.to < 0 || i.predicate >= 0) continue;
    const auto r = static_cast<std::size_t>(i.to);
    if (uses[r] != 1 || user[r] <= k || begin(user[r]) != begin(k)) continue;
    const auto opcode = [&](int at) -> const std::string& {
      return module_->opcodes()[static_cast<std::size_t>(
          module_->code()[static_cast<std::size_t>(at)].opcode)];
    };
    const std::string &first = opcode(k), &second = opcode(user[r]);
    const bool sums = second.starts_with("add") || second.starts_with("sub");
    const bool floats = (first == "mul.f32" && (second == "add.f32" || second == "sub.f32")) ||
                        (first == "mul.f64" && (second == "add.f64" || second == "sub.f64"));
    const bool address = sums && (first.starts_with("mul.wide") ||
                                  first.starts_with("mul.lo.s32") || first == "shl.b32");
    const bool both = first.starts_with("setp") && ends(second, ".pred") && !ends(first, "64");
    if (floats || address || both) costs_[static_cast<std::size_t>(k)] = {};
    // the product of 64 bits brings the sum along
    if (first.starts_with("mul.wide") && address)
      costs_[static_cast<std::size_t>(user[r])] = {Unit::integer, 1, 1.25f};
  }
}

}  // namespace stiction::ptx
