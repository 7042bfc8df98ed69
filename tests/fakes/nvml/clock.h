/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_CLOCK_H
#define KWHY_TESTS_FAKES_NVML_CLOCK_H

#include "base/clock.h"

/*
 * Makes the fake's time that of `clock`, which must stay valid; NULL: the machine's time. The fake
 * libnvidia-ml.so.1 exports this function in addition to NVML's calls, for tests in the same process, which
 * find it by dlsym(). Call it before nvmlInit_v2().
 */
void kwhy_fake_nvml_set_clock(const struct kwhy_clock *clock);

#endif
