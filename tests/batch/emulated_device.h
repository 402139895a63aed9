// A device without a card: memory of its own on the host, and the kernels' bodies by one lane.
#pragma once

namespace stiction::test {

// Makes device = "emulated" known. A batch on it steps as a batch on a card does; what the batch's
// code on the host forgets to fetch or send shows, for none of it is in the batch's own rows.
void register_emulated_device();

}  // namespace stiction::test
