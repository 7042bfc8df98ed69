/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_METERED_H
#define KWHY_MEASURE_METERED_H

#include "measure/history.h"

/*
 * Lists the metered items of the sensors with their sources; out[] needs one item a source. Returns their
 * number.
 */
size_t kwhy_metered_list(const struct kwhy_sensors *sensors, struct kwhy_metered *out);

#endif
