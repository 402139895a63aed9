// Which tasks a thread of a card has.
#include <gmock/gmock.h>

#include "batch/devices.h"
#include "batch/impl.h"
#include "cuda/episodes.h"
#include "env/registry.h"

namespace stiction::test {
namespace {

template <class... Tasks>
bool runs_by_thread(envs::TaskList<Tasks...>, int kind) {
  constexpr bool kByThread[] = {cuda::kTaskByThread<Tasks>...};
  return kByThread[kind];
}

// Those whose models it can have, and no others.
TEST(ThreadTasks, AreThoseWhoseModelsFit) {
  int fitting = 0;
  for (const env::TaskEntry& e : env::registry()) {
    const env::TaskOptions defaults(e.id, e.options, {});
    const ModelPtr model = load_model_from_string(std::string(env::asset(e.asset(defaults))));
    const bool fits = cuda::fits_thread(cpu::HostModel(*model, resolved(*model, {})).view());
    EXPECT_EQ(runs_by_thread(envs::AllTasks(), e.make(defaults, *model)->kind), fits) << e.id;
    use_device("emulated");
    EnvOptions o;
    o.device = "emulated";
    Env there(e.id, o);
    EXPECT_THAT(there.batch().device_description(),
                testing::HasSubstr(fits ? "by a thread" : "by one lane"))
        << e.id;
    use_device("cpu");
    fitting += fits ? 1 : 0;
  }
  EXPECT_EQ(fitting, 4);
}

}  // namespace
}  // namespace stiction::test
