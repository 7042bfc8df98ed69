/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_METERED_H
#define KWHY_MEASURE_METERED_H

#include "measure/history.h"

/*
 * Writes the metered items of the sensors, each with the indices of its sources, to out[], which must have
 * space for as many items as there are sources. Returns the number of items.
 */
size_t kwhy_metered_list(const struct kwhy_sensors *sensors, struct kwhy_metered *out);

#endif
