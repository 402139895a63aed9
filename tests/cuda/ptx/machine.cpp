#include "cuda/ptx/machine.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "cuda/ptx/races.h"

namespace stiction::ptx {

Machine::Machine() = default;
Machine::~Machine() = default;

std::pair<Module*, const Function*> Machine::find(const std::string& kernel) {
  for (const auto& m : modules_)
    if (const Function* const f = m->entry(kernel); f != nullptr) return {m.get(), f};
  throw Fault("PTX: no kernel " + kernel);
}

// Of the entry, and of the functions that it may call.
void Machine::set_constants(const Launched& l, const Block& block, int warp,
                            std::uint32_t* registers) {
  const auto fill = [&](int row, int words, std::uint64_t value) {
    std::uint32_t* const to = registers + static_cast<std::ptrdiff_t>(row) * kLanes;
    if (words == 0) to[0] = static_cast<std::uint32_t>(value);
    if (words == 1) std::fill_n(to, kLanes, static_cast<std::uint32_t>(value));
    if (words == 2) std::fill_n(reinterpret_cast<std::uint64_t*>(to), kLanes, value);
  };
  const auto of = [&](const Function& f) {
    for (const Constant& c : f.constants) fill(c.row, c.words, c.value);
    for (const SpecialRow& s : f.specials) {
      switch (s.what) {
        case Special::tid:
        case Special::laneid:
          for (int lane = 0; lane < kLanes; ++lane)
            registers[static_cast<std::ptrdiff_t>(s.row) * kLanes + lane] =
                static_cast<unsigned>(lane + (s.what == Special::tid ? warp * kLanes : 0));
          break;
        case Special::ntid: fill(s.row, 1, block.threads); break;
        case Special::ctaid_x: fill(s.row, 1, block.index[0]); break;
        case Special::ctaid_y: fill(s.row, 1, block.index[1]); break;
        case Special::nctaid_x: fill(s.row, 1, block.blocks); break;
      }
    }
  };
  of(l.entry);
  for (const Function* f : l.module.callees()) of(*f);
}

void Machine::run_block(const Launched& l, Worker& worker, unsigned number) const {
  Block block;
  block.module = &l.module, block.entry = &l.entry;
  block.index[0] = number % l.size.blocks[0], block.index[1] = number / l.size.blocks[0];
  block.threads = l.size.threads, block.blocks = l.size.blocks[0];
  block.global = memory.region(), block.parameters = l.parameters;
  block.shared = worker.shared.resized(launch_shared(l.entry) + l.size.shared);
  block.races = l.races, block.counter = counter;
  worker.shared.forget();

  const unsigned warps = (l.size.threads + kLanes - 1) / kLanes;
  const auto rows = static_cast<std::size_t>(l.entry.end_row);
  const std::uint32_t local_bytes = (l.entry.local_end + 63) / 64 * 64;
  worker.registers.resize(std::max(worker.registers.size(), warps * rows * kLanes));
  worker.unwritten.assign(warps * rows, 0);
  const Region& local = worker.local.resized(std::uint64_t{warps} * kLanes * local_bytes);
  worker.local.forget();

  std::vector<Warp> all;
  for (unsigned w = 0; w < warps; ++w) {
    const unsigned lanes = std::min<unsigned>(kLanes, l.size.threads - w * kLanes);
    std::uint32_t* const registers = worker.registers.data() + w * rows * kLanes;
    set_constants(l, block, static_cast<int>(w), registers);
    all.emplace_back(block, static_cast<int>(w), registers, worker.unwritten.data() + w * rows,
                     local.data + std::size_t{w} * kLanes * local_bytes,
                     local.marks + std::size_t{w} * kLanes * (local_bytes / 4), local_bytes,
                     lanes == kLanes ? kAll : (Lanes{1} << lanes) - 1);
  }
  if (l.races != nullptr) l.races->begin_block(static_cast<int>(warps));
  if (counter != nullptr) counter->begin_block();
  std::vector<Warp*> running;
  for (Warp& w : all) running.push_back(&w);
  while (!running.empty()) {
    std::erase_if(running, [](Warp* w) { return w->run() == Warp::Stop::left; });
    for (Warp* w : running) w->pass_barrier();
    if (l.races != nullptr) l.races->pass_barrier();
  }
  for (const Warp& w : all) {
    worker.instructions += w.instructions, worker.lane_instructions += w.lane_instructions;
    worker.splits += w.splits;
  }
}

void Machine::launch(const std::string& kernel, const LaunchSize& size,
                     const void* const* arguments) {
  const auto [module, entry] = find(kernel);
  Buffer parameters;
  const Region& values = parameters.resized(std::max(entry->parameter_bytes, 1u));
  parameters.forget();
  for (std::size_t k = 0; k < entry->parameters.size(); ++k) {
    const Parameter& p = entry->parameters[k];
    std::memcpy(values.data + p.offset, arguments[k], p.bytes);
    values.mark(p.offset, p.bytes, true);
  }
  Races found;
  const Launched l{*module, *entry, size, values, races ? &found : nullptr};
  const unsigned blocks = size.blocks[0] * size.blocks[1];
  const unsigned workers = races || counter != nullptr
                               ? 1u
                               : std::min(blocks, static_cast<unsigned>(std::max(1, threads)));
  while (workers_.size() < workers) workers_.push_back(std::make_unique<Worker>());

  std::atomic<unsigned> next = 0;
  std::mutex mutex;
  unsigned first_failed = blocks;
  std::exception_ptr failure;  // of the first block that failed
  const auto work = [&](Worker& worker) {
    worker.instructions = worker.lane_instructions = worker.splits = 0;
    for (unsigned b = next++; b < blocks; b = next++) {
      try {
        run_block(l, worker, b);
      } catch (...) {
        const std::lock_guard lock(mutex);
        if (b < first_failed) first_failed = b, failure = std::current_exception();
        next = blocks;
      }
    }
  };
  std::vector<std::thread> others;
  for (unsigned k = 1; k < workers; ++k) others.emplace_back(work, std::ref(*workers_[k]));
  work(*workers_[0]);
  for (std::thread& t : others) t.join();
  if (failure) std::rethrow_exception(failure);
  if (counter != nullptr) {
    Counts& c = counter->counts;
    ++c.launches, c.warp_instructions += workers_[0]->instructions;
    c.lane_instructions += workers_[0]->lane_instructions, c.divergent += workers_[0]->splits;
  }
  if (launched) launched(*module, *entry, size);
}

}  // namespace stiction::ptx
