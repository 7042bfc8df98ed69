/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_GAUGES_H
#define KWHY_REPORT_PAIRS_GAUGES_H

#include "model/pairs.h"
#include "report/json/writer.h"
#include "report/report.h"

/* What the gauges of the GPUs showed over the run, of readings once a second; nothing where there are none.
 */
void kwhy_pairs_write_gauges(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

/* temperature_c, power_w and clock_hz of one: each an object, or null without readings. */
void kwhy_pairs_gauges_json(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_json *json);

#endif
