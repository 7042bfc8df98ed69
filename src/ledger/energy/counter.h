/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_ENERGY_COUNTER_H
#define KWHY_LEDGER_ENERGY_COUNTER_H

#include "model/counter.h"
#include "model/recording.h"

#include <stddef.h>
#include <stdint.h>

/* kwhy_counter_rise() between readings i - 1 and i of a counter. */
enum kwhy_counter_step kwhy_counter_step(
	const struct kwhy_power_series *series, size_t i, int64_t *out_counts);

#endif
