/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_METERED_H
#define KWHY_MEASURE_METERED_H

#include "measure/history.h"

/*
 * Lists the metered items of the sensors with their sources in out[], which must have space for one item for
 * each source. Returns the number of items.
 */
size_t kwhy_metered_list(const struct kwhy_sensors *sensors, struct kwhy_metered *out);

#endif
