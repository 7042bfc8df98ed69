/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SETTLE_H
#define KWHY_BASE_SETTLE_H

#include <stdint.h>

/*
 * Nanoseconds for which a device must be left alone until its meter shows its idle level. The meter's power
 * samples follow a change of power with a time constant of 0.09 s; after that, ten samples of 20 ms are
 * needed.
 */
enum { KWHY_SETTLE_SHOWN_NS = 300000000 };

/* Sleeps for length_ns even if signals arrive. */
void kwhy_settle(int64_t length_ns);

#endif
