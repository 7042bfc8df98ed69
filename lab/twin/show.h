/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TWIN_SHOW_H
#define KWHY_LAB_TWIN_SHOW_H

#include "base/text.h"
#include "lab/twin/bench.h"
#include "report/report.h"

/* What `kwhy-lab twin` found: as text, as JSON (lab/README.md), and every kept step as CSV. */
void kwhy_bench_twin_text(
	const struct kwhy_bench_twin *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_bench_twin_json(const struct kwhy_bench_twin *bench, struct kwhy_text *out);
void kwhy_bench_twin_csv(const struct kwhy_bench_twin *bench, struct kwhy_text *out);

#endif
