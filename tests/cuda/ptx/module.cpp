#include <algorithm>
#include <map>

#include "cuda/ptx/parser.h"

namespace stiction::ptx {

namespace {

// Of the brace at `open`.
std::size_t closing_brace(const std::string& text, std::size_t open) {
  int depth = 0;
  for (std::size_t at = open; at != text.npos; at = text.find_first_of("{}", at + 1)) {
    depth += text[at] == '{' ? 1 : -1;
    if (depth == 0) return at;
  }
  throw Fault("PTX: a function without an end");
}

// A card gives a kernel the stack that ptxas has counted along its calls. A function that calls itself is
// counted once, and a second call of it writes beyond the stack.
enum class Visit : std::uint8_t { none, open, done };
void refuse_recursion(const Module& m, int k, std::vector<Visit>& visits) {
  Visit& visit = visits[static_cast<std::size_t>(k)];
  if (visit == Visit::done) return;
  const Function& f = m.function(k);
  if (visit == Visit::open)
    throw Fault("PTX: " + f.name + " calls itself; ptxas counts its stack once");
  visit = Visit::open;
  for (int i = f.begin; i < f.end; ++i)
    if (const Instruction& one = m.code()[static_cast<std::size_t>(i)]; one.kind == Kind::call)
      refuse_recursion(m, one.target, visits);
  visit = Visit::done;
}

// ptxas 12.9 and 13.0 make one instruction of `max(x, C) == C` in 16 bits, VIMNMX.U16x2 of two halves, whose
// predicate is another (cuda/README.md): sm_90 and sm_100 alike, from -O1 on.
void refuse_extreme_equal_to_its_constant(const Module& m, const Function& f) {
  const auto opcode = [&](const Instruction& i) -> const std::string& {
    return m.opcodes()[static_cast<std::size_t>(i.opcode)];
  };
  const auto of_16_bits = [](const std::string& name, const char* head) {
    return name.starts_with(head) && (name.ends_with(".s16") || name.ends_with(".u16"));
  };
  const auto is_constant = [&](int row) {
    return std::any_of(f.constants.begin(), f.constants.end(),
                       [&](const Constant& c) { return c.row == row; });
  };
  std::map<int, int> constant_of;  // by the row of an extreme
  for (int k = f.begin; k < f.end; ++k) {
    const Instruction& i = m.code()[static_cast<std::size_t>(k)];
    if (!of_16_bits(opcode(i), "max.") && !of_16_bits(opcode(i), "min.")) continue;
    for (const int row : {i.from[0], i.from[1]})
      if (is_constant(row)) constant_of[i.to] = row;
  }
  for (int k = f.begin; k < f.end; ++k) {
    const Instruction& i = m.code()[static_cast<std::size_t>(k)];
    if (!of_16_bits(opcode(i), "setp.eq.")) continue;
    for (const int side : {0, 1})
      if (const auto found = constant_of.find(i.from[side]);
          found != constant_of.end() && found->second == i.from[1 - side])
        throw Fault("PTX: " + f.name + ", '" + m.line(i.line) +
                    "' compares an extreme of 16 bits with its own constant; ptxas gets it wrong");
  }
}

}  // namespace

// Heads of functions are at the beginnings of lines.
Module::Module(std::string text) : text_(std::move(text)) {
  int line = 1;
  std::vector<std::pair<std::size_t, int>> heads;
  for (std::size_t at = 0; at < text_.size(); ++line) {
    const std::size_t end = std::min(text_.find('\n', at), text_.size());
    const std::string_view l = std::string_view(text_).substr(at, end - at);
    if (!l.empty() && l[0] == '.') {
      if (l.find(".entry") != l.npos || l.find(".func") != l.npos) heads.emplace_back(at, line);
      if (l.starts_with(".extern .shared")) {
        const std::size_t name = l.rfind(' ') + 1;
        launch_shared_.emplace(l.substr(name, l.find('[', name) - name));
      }
    }
    at = end + 1;
  }
  functions_.reserve(heads.size());
  for (const auto& [begin, number] : heads) {
    const std::size_t body = text_.find_first_of("{;", begin);
    if (body == text_.npos || text_[body] == ';') continue;  // declared only
    Function f;
    f.entry = text_.substr(begin, body - begin).find(".entry") != text_.npos;
    f.begin_text = begin, f.line = number;
    f.end_text = closing_brace(text_, body);
    // results stand in front of the name
    std::size_t name = text_.find(f.entry ? ".entry" : ".func", begin) + (f.entry ? 6 : 5);
    name = text_.find_first_not_of(" \t\n", name);
    if (text_[name] == '(') name = text_.find_first_not_of(" \t\n", text_.find(')', name) + 1);
    f.name = text_.substr(name, text_.find_first_of(" \t\n({", name) - name);
    by_name_[f.name] = static_cast<int>(functions_.size());
    functions_.push_back(std::move(f));
  }
  for (Function& f : functions_) {
    if (f.entry) continue;
    f.local_begin = f.local_end = callee_local_;
    Parser(*this, f).parse_head();
    callee_local_ = f.local_end;
  }
  for (Function& f : functions_) {
    if (f.entry) continue;
    f.first_row = callee_rows_;
    // what its head has lies with all heads; the rest follows
    f.local_end = callee_local_;
    Parser(*this, f).parse();
    refuse_extreme_equal_to_its_constant(*this, f);
    callee_rows_ = f.end_row, callee_local_ = f.local_end = (f.local_end + 15) / 16 * 16;
    callees_.push_back(&f);
  }
  std::vector<Visit> visits(functions_.size(), Visit::none);
  for (std::size_t k = 0; k < functions_.size(); ++k)
    if (!functions_[k].entry) refuse_recursion(*this, static_cast<int>(k), visits);
}

const Function* Module::entry(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found == by_name_.end()) return nullptr;
  Function& f = functions_[static_cast<std::size_t>(found->second)];
  if (!f.entry) return nullptr;
  if (!f.parsed) {
    f.local_begin = f.local_end = callee_local_;
    f.first_row = callee_rows_;
    Parser p(*this, f);
    p.parse_head();
    p.parse();
    refuse_extreme_equal_to_its_constant(*this, f);
  }
  return &f;
}

std::string Module::line(int number) const {
  std::size_t at = 0;
  for (int k = 1; k < number && at != text_.npos; ++k) at = text_.find('\n', at) + 1;
  const std::size_t begin = text_.find_first_not_of(" \t", at);
  return text_.substr(begin, text_.find('\n', begin) - begin);
}

}  // namespace stiction::ptx
