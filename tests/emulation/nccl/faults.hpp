/// Planned faults: see loopbackPlanFaults() in loopback.h.
#pragma once

#include <cstdint>
#include <string>

#include <nccl.h>

namespace loopback::faults {

/// @throws failure for a text that is no plan
void plan(std::string const& text);

/// The code with which this call must fail; ncclSuccess: none.
ncclResult_t next_call();
bool next_allocation_fails();
int polls();

/// What happens to a rank's operation.
struct fate {
  ncclResult_t async = ncclSuccess;
  bool kill          = false;
  bool die           = false;
  bool stall         = false;
  bool corrupt       = false;
  int delay_ms       = 0;
};
fate of(int rank, std::uint64_t operation);

}  // namespace loopback::faults
