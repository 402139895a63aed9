// The text of a function, line by line, to instructions.
#pragma once

#include "cuda/ptx/program.h"

namespace stiction::ptx {

class Parser {
 public:
  Parser(Module& module, Function& function) : m_(module), f_(function) {}
  void parse();
  // Parameters and results of the head, in front of the first brace.
  void parse_head();

 private:
  struct Register {
    int row, words;  // words: 0 of a predicate
  };
  struct Symbol {
    Space space;
    std::uint32_t offset;
  };

  void statement(std::string_view text, int line);
  void declare(std::string_view text);
  void declare_registers(std::string_view text);
  void declare_memory(std::string_view text);
  void instruction(std::string_view text, int line);
  void call(std::string_view operands, Instruction& i);
  void address(std::string_view operand, Instruction& i);
  void values(std::string_view operand, std::string_view type, Instruction& i);
  int operand(std::string_view text, std::string_view type);
  int constant(std::uint64_t value, int words);
  int new_row(int words);
  const Register* find(std::string_view name) const;
  const Symbol* symbol(std::string_view name) const;
  Parameter parameter(std::string_view declaration) const;
  [[noreturn]] void fail(const std::string& what) const;

  Module& m_;
  Function& f_;
  int line_ = 0;
  std::unordered_map<std::string, Register> registers_;
  std::map<std::pair<std::uint64_t, int>, int> constants_;
  std::unordered_map<std::string, Symbol> symbols_;
  std::unordered_map<std::string, int> labels_;
  std::vector<std::pair<int, std::string>> branches_;
};

}  // namespace stiction::ptx
