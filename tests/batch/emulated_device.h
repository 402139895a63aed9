// A device without a card: memory of its own on the host, and the kernels by one lane, by those of
// a tile or of a block.
#pragma once

namespace stiction::test {

// Makes device = "emulated", "emulated_4", "emulated_8", "emulated_16", "emulated_warp" and
// "emulated_block" known, and "cuda_emulated" whose
// arrays call themselves a card's. A batch on it steps as a batch on a card does; what the batch's
// code on the host forgets to fetch or send shows, for none of it is in the batch's own rows.
void register_emulated_device();
// Fields and status arrays whose rows came to the host, or went to the device, since the program
// began.
struct Crossings {
  int fetched = 0, sent = 0;
};
Crossings& emulated_crossings();
// With linear_solver = "cusolver": the environment whose matrices are said to have no factor; -1: none.
int& emulated_unfactored();
// Bytes of fast memory of a group, for devices made from now on.
int& emulated_share();

}  // namespace stiction::test
