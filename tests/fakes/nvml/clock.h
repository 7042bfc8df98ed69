/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_CLOCK_H
#define KWHY_TESTS_FAKES_NVML_CLOCK_H

#include "base/clock.h"

/*
 * Exported by the fake libnvidia-ml.so.1 beside NVML's own calls, for tests in the same process: its time is
 * that of `clock` from now on (call it before nvmlInit_v2()); NULL: the machine's again. Lent. Look it up by
 * dlsym().
 */
void kwhy_fake_nvml_set_clock(const struct kwhy_clock *clock);

#endif
