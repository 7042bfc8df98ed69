/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_FIT_PULSE_H
#define KWHY_FIT_PULSE_H

#include <stdint.h>

/* One stretch of steady work on a device, on the clock of the readings it is compared with. */
struct kwhy_pulse {
	int64_t start_ns, end_ns;
};

#endif
