// PTX as the interpreter has it: functions of decoded instructions, their registers as rows of a
// value per lane. Grammar and meaning: NVIDIA, "PTX ISA", version 9.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace stiction::ptx {

inline constexpr int kLanes = 32;
using Lanes = std::uint32_t;  // a bit per lane of a warp
inline constexpr Lanes kAll = ~Lanes{0};

// What a program must not do, or the interpreter can't; the message says where.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Where memory lies. The four highest bits of a generic address say which of these it is in; an
// address of a space alone has them clear.
enum class Space : std::uint64_t { global = 0, shared = 1, local = 2, param = 3, generic = 15 };
inline constexpr int kSpaceBit = 60;
constexpr std::uint64_t window(Space s) {
  return s == Space::generic ? 0 : static_cast<std::uint64_t>(s) << kSpaceBit;
}

enum class Kind : std::uint8_t { plain, load, store, branch, leave, call, warp_sync, block_sync };

struct Warp;
struct Instruction;
using Execute = void (*)(Warp&, const Instruction&);

// Registers are numbers of rows; -1: none. A predicate is a word of one row, up to 32 bits take one
// row, 64 bits two.
struct Instruction {
  Execute execute = nullptr;
  Kind kind = Kind::plain;
  bool negated = false;       // of the predicate
  bool wide_address = false;  // the address is in a register of 64 bits
  bool wide_values = false;   // up to 32 bits of memory, and a register of 64
  Space space = Space::generic;
  std::uint8_t count = 1, bytes = 0;  // elements of a vector, and bytes of one
  int predicate = -1;
  int to = -1, to_predicate = -1, from[4] = {-1, -1, -1, -1};
  int vector[4] = {-1, -1, -1, -1};
  std::uint64_t offset = 0;  // of an address, with the window of its space
  int target = -1;           // of a branch: an instruction; of a call: a function
  int call = -1;             // number of Module::calls
  int opcode = 0, line = 0;
};

// A value that a row has before the first instruction.
struct Constant {
  int row, words;  // per lane
  std::uint64_t value;
};
enum class Special : std::uint8_t { tid, ntid, ctaid_x, ctaid_y, nctaid_x, laneid };
struct SpecialRow {
  int row;
  Special what;
};
struct Parameter {
  std::string name;
  std::uint32_t offset, bytes;  // of an entry: in its parameters; of a function: in local memory
};
// What a call copies: from local memory to local memory of the same lane.
struct Copy {
  std::uint32_t from, to, bytes;
};
struct Call {
  int function;
  std::vector<Copy> arguments, results;
};

struct Function {
  std::string name;
  bool entry = false, parsed = false;
  std::size_t begin_text = 0, end_text = 0;  // of the module's text, with the head
  int line = 0;                              // of begin_text
  int begin = -1, end = -1;                  // instructions
  int first_row = 0, end_row = 0;
  std::uint32_t local_begin = 0, local_end = 0, shared_bytes = 0, parameter_bytes = 0;
  std::vector<Parameter> parameters, results;
  std::vector<Constant> constants;
  std::vector<SpecialRow> specials;
};

// Where the shared memory begins whose size a launch gives.
std::uint32_t launch_shared(const Function& f);

// A file of PTX. Functions are parsed when the file is opened, entries when they are asked for.
class Module {
 public:
  explicit Module(std::string text);
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  // The entry of that name, parsed; null: there is none.
  const Function* entry(const std::string& name);
  bool has(const std::string& name) const { return by_name_.contains(name); }
  const std::vector<Instruction>& code() const { return code_; }
  const std::vector<Call>& calls() const { return calls_; }
  const Function& function(int k) const { return functions_[static_cast<std::size_t>(k)]; }
  // All that are no entries: any entry may call them.
  const std::vector<const Function*>& callees() const { return callees_; }
  const std::vector<std::string>& opcodes() const { return opcodes_; }
  const std::string& text() const { return text_; }
  // The line's text, for messages.
  std::string line(int number) const;

 private:
  friend class Parser;
  std::string text_;
  std::vector<Function> functions_;
  std::unordered_map<std::string, int> by_name_;
  std::unordered_set<std::string> launch_shared_;
  std::vector<const Function*> callees_;
  std::vector<Instruction> code_;
  std::vector<Call> calls_;
  std::vector<std::string> opcodes_;
  std::unordered_map<std::string, int> opcode_numbers_;
  int callee_rows_ = 0;
  std::uint32_t callee_local_ = 0;
};

// What executes an opcode, and what kind it is; throws Fault where there is no such opcode.
struct Operation {
  Execute execute;
  Kind kind;
};
Operation operation(const std::string& opcode);

}  // namespace stiction::ptx
