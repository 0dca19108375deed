/* The runtime's C interface is declared with everything else. */
#pragma once
#include <cuda_runtime.h>
