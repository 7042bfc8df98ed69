/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_METERED_H
#define KWHY_MEASURE_METERED_H

#include "measure/history.h"

/* Which sources make whose energy; at most one item a source. Gives how many. */
size_t kwhy_metered_list(const struct kwhy_sensors *sensors, struct kwhy_metered *out);

#endif
