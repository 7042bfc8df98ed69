/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SETTLE_H
#define KWHY_BASE_SETTLE_H

#include <stdint.h>

/*
 * Nanoseconds for which a device is left alone after its work, so that its meter shows its idle level: on an
 * H200, power samples follow a change of power with a time constant of 0.09 s, and ten samples, 20 ms apart,
 * are needed after that.
 */
enum { KWHY_SETTLE_SHOWN_NS = 300000000 };

/* Sleeps for length_ns even if signals arrive. */
void kwhy_settle(int64_t length_ns);

#endif
