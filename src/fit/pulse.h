/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_PULSE_H
#define KWHY_FIT_PULSE_H

#include <stdint.h>

/* An interval of steady work on a device, in times of the readings' clock. */
struct kwhy_pulse {
	int64_t start_ns, end_ns;
};

#endif
