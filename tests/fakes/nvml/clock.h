/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_CLOCK_H
#define KWHY_TESTS_FAKES_NVML_CLOCK_H

#include "base/clock.h"

/*
 * Makes the fake take its time from `clock`, which must stay valid; NULL: from the machine. Resets the fake
 * to its state before the first call, so call it before nvmlInit_v2(). The fake libnvidia-ml.so.1 exports
 * this function for tests that load it into their own process, which find it by dlsym().
 */
void kwhy_fake_nvml_set_clock(const struct kwhy_clock *clock);

#endif
