/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PAIRS_GAUGES_H
#define KWHY_REPORT_PAIRS_GAUGES_H

#include "model/pairs.h"
#include "report/json/writer.h"
#include "report/report.h"

/*
 * Writes a summary of the GPUs' gauges, which were read once per second during the run. Writes nothing if
 * there are no readings.
 */
void kwhy_pairs_write_gauges(
	const struct kwhy_pairs *pairs, const struct kwhy_text_style *style, struct kwhy_text *out);

/*
 * Writes the members temperature_c, power_w and clock_hz of one GPU. Each is an object, or null if there are
 * no readings.
 */
void kwhy_pairs_gauges_json(const struct kwhy_pairs *pairs, uint32_t gpu, struct kwhy_json *json);

#endif
