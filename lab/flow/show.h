/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_FLOW_SHOW_H
#define KWHY_LAB_FLOW_SHOW_H

#include "lab/flow/bench.h"
#include "report/report.h"

/* What bench flow measured, as text, as JSON (schema kwhy.flow/1), and each step's time as CSV. */

void kwhy_bench_flow_text(
	const struct kwhy_bench_flow *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_bench_flow_json(const struct kwhy_bench_flow *bench, struct kwhy_text *out);
void kwhy_bench_flow_csv(const struct kwhy_bench_flow *bench, struct kwhy_text *out);

#endif
