/// What device code may use. What is not here does not compile, so that nothing is emulated by accident.
#pragma once

#include "emulation_atomics.h"
#include "emulation_numbers.h"
#include "emulation_threads.h"
