/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_SETTLE_H
#define KWHY_BASE_SETTLE_H

#include <stdint.h>

/* As long as a device must be left alone for its meter to show what it idles at: the memory of the 20 ms
 * samples, 0.09 s, and ten of them. */
enum { KWHY_SETTLE_SHOWN_NS = 300000000 };

/* Sleeps that long, whatever signals come. */
void kwhy_settle(int64_t length_ns);

#endif
