#include "cuda/ptx/parser.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace stiction::ptx {
namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view trimmed(std::string_view s) {
  const std::size_t begin = s.find_first_not_of(kBlank);
  if (begin == s.npos) return {};
  return s.substr(begin, s.find_last_not_of(kBlank) - begin + 1);
}

// At commas outside of brackets.
std::vector<std::string_view> split(std::string_view s) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t k = 0; k <= s.size(); ++k) {
    const char c = k < s.size() ? s[k] : ',';
    if (c == '{' || c == '[' || c == '(') ++depth;
    if (c == '}' || c == ']' || c == ')') --depth;
    if (c != ',' || depth != 0) continue;
    if (const std::string_view part = trimmed(s.substr(begin, k - begin)); !part.empty())
      parts.push_back(part);
    begin = k + 1;
  }
  return parts;
}

bool starts(std::string_view s, std::string_view with) {
  return s.substr(0, with.size()) == with;
}

std::string_view last_type(std::string_view opcode) {
  const std::size_t dot = opcode.rfind('.');
  return dot == opcode.npos ? std::string_view{} : opcode.substr(dot + 1);
}

int bytes_of(std::string_view type) {
  if (type == "pred") return 0;
  int bits = 0;
  std::from_chars(type.data() + 1, type.data() + type.size(), bits);
  return bits / 8;
}
int words_of(std::string_view type) {
  const int bytes = bytes_of(type);
  return bytes == 0 ? 0 : bytes <= 4 ? 1 : 2;
}

std::uint32_t aligned(std::uint32_t n, std::uint32_t to) {
  return (n + to - 1) / to * to;
}

}  // namespace

// Behind the function's own.
std::uint32_t launch_shared(const Function& f) {
  return aligned(f.shared_bytes, 16);
}

void Parser::fail(const std::string& what) const {
  throw Fault("PTX line " + std::to_string(line_) + ": " + what + "\n  " + m_.line(line_));
}

int Parser::new_row(int words) {
  const int row = f_.end_row;
  f_.end_row += std::max(1, words);
  return row;
}

int Parser::constant(std::uint64_t value, int words) {
  const auto [at, is_new] = constants_.try_emplace({value, words}, 0);
  if (is_new) {
    at->second = new_row(words);
    f_.constants.push_back({at->second, words, value});
  }
  return at->second;
}

// `name[12]`, `.param .align 8 .b8 name[12]`, `.param .b32 name`
Parameter Parser::parameter(std::string_view text) const {
  std::uint32_t bytes = 0, count = 1, align = 0;
  std::string_view name = text.substr(text.find_last_of(kBlank) + 1);
  if (const std::size_t open = name.find('['); open != name.npos) {
    std::from_chars(name.data() + open + 1, name.data() + name.size(), count);
    name = name.substr(0, open);
  }
  for (std::size_t dot = text.find('.'); dot != text.npos; dot = text.find('.', dot + 1)) {
    const std::string_view word = text.substr(dot + 1, text.find_first_of(kBlank, dot) - dot - 1);
    if (word == "align")
      std::from_chars(text.data() + dot + 7, text.data() + text.size(), align);
    else if (word.size() >= 2 && word[1] >= '0' && word[1] <= '9')
      bytes = static_cast<std::uint32_t>(bytes_of(word));
  }
  if (bytes == 0) fail("a parameter without a type");
  // the alignment, where an offset will be
  return {std::string(name), std::max(align, bytes), bytes * count};
}

void Parser::parse_head() {
  const std::size_t brace = m_.text_.find('{', f_.begin_text);
  std::string head = m_.text_.substr(f_.begin_text, std::min(brace, f_.end_text) - f_.begin_text);
  std::replace(head.begin(), head.end(), '\n', ' ');
  line_ = f_.line;
  // brackets in front of the name hold results, those behind it parameters
  const std::size_t name = head.find(f_.name);
  const auto inside = [&](std::size_t from, std::size_t to) {
    const std::size_t open = head.find('(', from);
    if (open >= to) return std::vector<std::string_view>{};
    const std::size_t close = head.find(')', open);
    return split(std::string_view(head).substr(open + 1, close - open - 1));
  };
  const auto take = [&](const std::vector<std::string_view>& list, std::vector<Parameter>& to) {
    for (const std::string_view text : list) {
      Parameter p = parameter(text);
      std::uint32_t& end = f_.entry ? f_.parameter_bytes : f_.local_end;
      end = aligned(end, p.offset);
      p.offset = end;
      end += p.bytes;
      to.push_back(p);
    }
  };
  take(inside(0, name), f_.results);
  take(inside(name, head.npos), f_.parameters);
}

void Parser::parse() {
  for (const auto* list : {&f_.parameters, &f_.results})
    for (const Parameter& p : *list)
      symbols_[p.name] = {f_.entry ? Space::param : Space::local, p.offset};
  f_.begin = static_cast<int>(m_.code_.size());
  f_.end_row = f_.first_row;

  const std::size_t open = m_.text_.find('{', f_.begin_text);
  line_ = f_.line + static_cast<int>(std::count(m_.text_.begin() + std::ptrdiff_t(f_.begin_text),
                                                m_.text_.begin() + std::ptrdiff_t(open), '\n'));
  const std::string_view body = std::string_view(m_.text_).substr(open + 1, f_.end_text - open - 1);
  std::string joined;  // a statement of several lines
  for (std::size_t at = 0; at < body.size(); ++line_) {
    const std::size_t end = std::min(body.find('\n', at), body.size());
    std::string_view text = body.substr(at, end - at);
    at = end + 1;
    text = trimmed(text.substr(0, text.find("//")));
    if (text.empty()) continue;
    if (joined.empty() && (text == "{" || text == "}" || starts(text, ".loc\t"))) continue;
    if (joined.empty() && text.back() == ':') {
      labels_[std::string(text.substr(0, text.size() - 1))] = static_cast<int>(m_.code_.size());
    } else if (text.back() != ';' && text.back() != '}') {
      joined.append(text).push_back(' ');
    } else if (joined.empty()) {
      statement(text, line_);
    } else {
      joined.append(text);
      statement(joined, line_);
      joined.clear();
    }
  }
  for (const auto& [at, label] : branches_) {
    const auto found = labels_.find(label);
    if (found == labels_.end()) fail("no label " + label);
    m_.code_[static_cast<std::size_t>(at)].target = found->second;
  }
  f_.end = static_cast<int>(m_.code_.size());
  f_.parsed = true;
}

// One or several on a line: `{.reg .b32 %temp;` is written that way.
void Parser::statement(std::string_view text, int line) {
  line_ = line;
  while (!text.empty()) {
    if (text[0] == '{' || text[0] == '}') {
      text = trimmed(text.substr(1));
      continue;
    }
    const std::size_t end = text.find(';');
    const std::string_view one = trimmed(text.substr(0, end));
    if (!one.empty()) {
      if (one[0] == '.')
        declare(one);
      else
        instruction(one, line);
    }
    if (end == text.npos) break;
    text = trimmed(text.substr(end + 1));
  }
}

void Parser::declare(std::string_view text) {
  if (starts(text, ".reg"))
    declare_registers(trimmed(text.substr(4)));
  else if (starts(text, ".local") || starts(text, ".shared") || starts(text, ".param"))
    declare_memory(text);
  else if (!starts(text, ".pragma"))
    fail("unknown declaration");
}

// `.b32 %r<12>` or `.b32 %temp`
void Parser::declare_registers(std::string_view text) {
  const int words = words_of(text.substr(1, text.find_first_of(kBlank) - 1));
  for (std::string_view name : split(trimmed(text.substr(text.find_first_of(kBlank))))) {
    const std::size_t open = name.find('<');
    if (open == name.npos) {
      registers_[std::string(name)] = {new_row(words), words};
      continue;
    }
    int count = 0;
    std::from_chars(name.data() + open + 1, name.data() + name.size(), count);
    for (int k = 0; k < count; ++k)
      registers_[std::string(name.substr(0, open)) + std::to_string(k)] = {new_row(words), words};
  }
}

void Parser::declare_memory(std::string_view text) {
  const Parameter p = parameter(text);
  const bool shared = starts(text, ".shared");
  std::uint32_t& end = shared ? f_.shared_bytes : f_.local_end;
  end = aligned(end, p.offset);
  symbols_[p.name] = {shared ? Space::shared : Space::local, end};
  end += p.bytes;
}

const Parser::Register* Parser::find(std::string_view name) const {
  const auto found = registers_.find(std::string(name));
  return found == registers_.end() ? nullptr : &found->second;
}
const Parser::Symbol* Parser::symbol(std::string_view name) const {
  const auto found = symbols_.find(std::string(name));
  return found == symbols_.end() ? nullptr : &found->second;
}

// The row of a register, of a number or of an address.
int Parser::operand(std::string_view text, std::string_view type) {
  if (const Register* r = find(text)) return r->row;
  const int words = words_of(type);
  if (text[0] == '%') {
    static const std::map<std::string_view, Special> kSpecial = {
        {"%tid.x", Special::tid},         {"%ntid.x", Special::ntid},
        {"%ctaid.x", Special::ctaid_x},   {"%ctaid.y", Special::ctaid_y},
        {"%nctaid.x", Special::nctaid_x}, {"%laneid", Special::laneid}};
    const auto special = kSpecial.find(text);
    if (special == kSpecial.end()) fail("unknown register " + std::string(text));
    f_.specials.push_back({new_row(1), special->second});
    return f_.specials.back().row;
  }
  std::uint64_t value = 0;
  if (starts(text, "0f") || starts(text, "0d")) {
    std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  } else if (starts(text, "0x")) {
    std::from_chars(text.data() + 2, text.data() + text.size(), value, 16);
  } else if (text[0] == '-' || (text[0] >= '0' && text[0] <= '9')) {
    std::int64_t number = 0;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), number).ptr;
    if (end != text.data() + text.size()) fail("unknown number " + std::string(text));
    value = static_cast<std::uint64_t>(number);
  } else if (const Symbol* s = symbol(text)) {
    value = s->offset;
  } else if (m_.launch_shared_.contains(std::string(text))) {
    value = launch_shared(f_);
  } else {
    fail("unknown name " + std::string(text));
  }
  if (words == 0) return constant(value != 0 ? kAll : 0, 0);
  const int bytes = bytes_of(type);
  if (bytes < 8) value &= (std::uint64_t{1} << (8 * bytes)) - 1;
  return constant(value, words);
}

// `[%rd1+8]`, `[name]`
void Parser::address(std::string_view text, Instruction& i) {
  text = trimmed(text.substr(1, text.size() - 2));
  const std::size_t plus = text.find('+');
  const std::string_view base = trimmed(text.substr(0, plus));
  std::int64_t offset = 0;
  if (plus != text.npos) std::from_chars(text.data() + plus + 1, text.data() + text.size(), offset);
  if (const Register* r = find(base)) {
    i.from[0] = r->row, i.wide_address = r->words == 2;
  } else {
    if (const Symbol* s = symbol(base)) {
      // parameters of functions and of calls lie in the lane's own memory
      if (i.space == Space::param && s->space == Space::local) i.space = Space::local;
    }
    i.from[0] = operand(base, "u64"), i.wide_address = true;
  }
  i.offset = static_cast<std::uint64_t>(offset) + window(i.space);
}

// `%f1` or `{%f1, %f2}`
void Parser::values(std::string_view text, std::string_view type, Instruction& i) {
  if (text[0] != '{') {
    const Register* const r = find(text);
    i.wide_values = r != nullptr && r->words == 2 && bytes_of(type) <= 4;
    i.vector[0] = operand(text, type);
    return;
  }
  const std::vector<std::string_view> parts = split(text.substr(1, text.size() - 2));
  i.count = static_cast<std::uint8_t>(parts.size());
  for (std::size_t k = 0; k < parts.size(); ++k) i.vector[k] = operand(parts[k], type);
}

// `(retval0), name, (param0, param1)`, results and arguments may be left out
void Parser::call(std::string_view operands, Instruction& i) {
  std::vector<std::string_view> parts = split(operands), results, arguments;
  const auto listed = [](std::string_view s) { return split(s.substr(1, s.size() - 2)); };
  if (!parts.empty() && parts[0][0] == '(') {
    results = listed(parts[0]);
    parts.erase(parts.begin());
  }
  if (parts.size() > 1) arguments = listed(parts[1]);
  const auto found = m_.by_name_.find(std::string(parts.empty() ? "" : parts[0]));
  if (found == m_.by_name_.end()) fail("a call of an unknown function");
  const Function& callee = m_.functions_[static_cast<std::size_t>(found->second)];
  if (results.size() != callee.results.size() || arguments.size() != callee.parameters.size())
    fail("a call with other parameters than " + callee.name);
  Call c{found->second, {}, {}};
  for (std::size_t k = 0; k < arguments.size(); ++k)
    c.arguments.push_back(
        {symbol(arguments[k])->offset, callee.parameters[k].offset, callee.parameters[k].bytes});
  for (std::size_t k = 0; k < results.size(); ++k)
    c.results.push_back(
        {callee.results[k].offset, symbol(results[k])->offset, callee.results[k].bytes});
  i.target = found->second;
  i.call = static_cast<int>(m_.calls_.size());
  m_.calls_.push_back(std::move(c));
}

void Parser::instruction(std::string_view text, int line) {
  Instruction i;
  i.line = line;
  if (text[0] == '@') {
    const std::size_t end = text.find_first_of(kBlank);
    std::string_view name = text.substr(1, end - 1);
    if (name[0] == '!') i.negated = true, name = name.substr(1);
    i.predicate = operand(name, "pred");
    text = trimmed(text.substr(end));
  }
  const std::size_t end = std::min(text.find_first_of(kBlank), text.size());
  const std::string opcode(text.substr(0, end));
  const std::string_view operands = trimmed(text.substr(end));
  const auto [at, is_new] =
      m_.opcode_numbers_.try_emplace(opcode, static_cast<int>(m_.opcodes_.size()));
  if (is_new) m_.opcodes_.push_back(opcode);
  i.opcode = at->second;
  const std::vector<std::string_view> parts =
      starts(opcode, "call") ? std::vector<std::string_view>{} : split(operands);
  const bool packs =
      starts(opcode, "mov.b") && parts.size() == 2 && (parts[0][0] == '{' || parts[1][0] == '{');
  const Operation op = operation(!packs               ? opcode
                                 : parts[0][0] == '{' ? "unpack." + opcode
                                                      : "pack." + opcode);
  if (op.execute == nullptr && op.kind == Kind::plain) fail("no opcode " + opcode);
  i.execute = op.execute, i.kind = op.kind;
  const std::string_view type = last_type(opcode);

  switch (i.kind) {
    case Kind::branch:
      branches_.emplace_back(static_cast<int>(m_.code_.size()), parts.at(0));
      break;
    case Kind::leave: break;
    case Kind::call: call(operands, i); break;
    case Kind::block_sync: break;
    case Kind::load:
    case Kind::store: {
      for (const auto& [name, space] :
           {std::pair(".shared", Space::shared), std::pair(".param", Space::param),
            std::pair(".local", Space::local), std::pair(".global", Space::global)})
        if (opcode.find(name) != opcode.npos) i.space = space;
      i.bytes = static_cast<std::uint8_t>(bytes_of(type));
      address(parts.at(i.kind == Kind::load ? 1 : 0), i);
      values(parts.at(i.kind == Kind::load ? 0 : 1), type, i);
      break;
    }
    case Kind::warp_sync:
    case Kind::plain: {
      if (packs) {
        const bool apart = parts[0][0] == '{';
        const std::string part = "b" + std::to_string(8 * bytes_of(type) / 2);
        values(parts[apart ? 0 : 1], part, i);
        if (i.count != 2) fail("only halves of a register");
        (apart ? i.from[0] : i.to) = operand(parts[apart ? 1 : 0], type);
        break;
      }
      if (opcode == "bar.warp.sync") {
        i.from[0] = operand(parts.at(0), "b32");
        break;
      }
      std::string_view to = parts.at(0);
      if (const std::size_t bar = to.find('|'); bar != to.npos) {
        i.to_predicate = operand(trimmed(to.substr(bar + 1)), "pred");
        to = trimmed(to.substr(0, bar));
      }
      i.to = operand(to, type);
      if (parts.size() > 5) fail("too many operands");
      for (std::size_t k = 1; k < parts.size(); ++k) {
        // shifts are by 32 bits, whatever they shift
        const bool shift = k == 2 && (starts(opcode, "shl") || starts(opcode, "shr"));
        i.from[k - 1] =
            operand(parts[k], shift || (i.kind == Kind::warp_sync && k > 1) ? "u32" : type);
      }
      break;
    }
  }
  m_.code_.push_back(i);
}

}  // namespace stiction::ptx
