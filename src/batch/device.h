// A back end whose fields lie in a memory of its own: what a batch asks of it. The batch keeps a copy
// of the rows on the host, fetched before it reads them and sent after it wrote them, so that
// whatever happens between steps (checks, files, contacts) is one text for all back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "cpu/host_model.h"
#include "stiction/batch.h"

namespace stiction {

// What a device needs of its batch; the references live as long as the batch.
struct DeviceSpec {
  const cpu::HostModel& host;
  const Options& options;  // resolved
  const BatchOptions& given;
};

// Numbers of an environment that are no fields.
enum class Book { status, status_step, steps };  // uint32, int32, int32

class Device {
 public:
  virtual ~Device() = default;

  virtual std::string name() const = 0;         // "cuda:0"
  virtual std::string description() const = 0;  // the card; what its kernels need and how many run
  virtual std::size_t bytes() const = 0;        // allocated on the device
  virtual int number() const = 0;               // of the device, as DLPack has it

  // Dense rows on the device, (num_envs, numbers) as on the host; null where there are none. The
  // address of a field never changes but by make_own and make_shared.
  virtual std::byte* rows(cpu::Field f) const = 0;
  virtual std::byte* book(Book b) const = 0;

  // A parameter gets rows of its own, with the model's numbers in them; or loses them. Throws where
  // memory runs out, with what was needed and what is free.
  virtual void make_own(cpu::Field f) = 0;
  virtual void make_shared(cpu::Field f) = 0;

  // Copies rows of n environments `ids` (null: of all) between the device and `host`, which begins
  // with the row of environment 0. They wait for the work before them on the stream.
  virtual void fetch(cpu::Field f, std::byte* host, const int* ids, int n) = 0;
  virtual void send(cpu::Field f, const std::byte* host, const int* ids, int n) = 0;
  virtual void fetch(Book b, std::byte* host, const int* ids, int n) = 0;
  virtual void send(Book b, const std::byte* host, const int* ids, int n) = 0;

  // Batch::step and the runs of reset: n environments `ids` (null: all), `steps` steps (0: forces
  // that move nothing), then one refresh. Returns before the work is done; allocates nothing.
  virtual void run(const int* ids, int n, int steps, bool store_frozen) = 0;
  // Adds what was counted since the last call.
  virtual void take_counts(SolverCounts& counts) = 0;

  virtual void set_stream(std::uintptr_t stream) = 0;
  virtual std::uintptr_t stream() const = 0;
  // Waits for the stream. Throws Error if the device failed.
  virtual void wait() = 0;
};

// Memory on the device before anything is allocated: dense rows, scratch, books.
std::size_t device_bytes(const DeviceSpec& spec);

// "cuda", "cuda:1". Throws ArgumentError: no such device here, no driver, too old, too little memory;
// without a CUDA back end in this build it says how to get one.
std::unique_ptr<Device> make_device(const DeviceSpec& spec);

// A device by another name, for tests: asked before "cuda" is.
using DeviceMaker = std::function<std::unique_ptr<Device>(const DeviceSpec& spec)>;
void register_device(const std::string& name, DeviceMaker maker);

}  // namespace stiction
