/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_SHOW_H
#define KWHY_LAB_DECODE_SHOW_H

#include "base/text.h"
#include "lab/decode/bench.h"
#include "report/report.h"

/* What `kwhy-lab decode` found: as text and as JSON (lab/README.md). */
void kwhy_bench_decode_text(
	const struct kwhy_bench_decode *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_bench_decode_json(const struct kwhy_bench_decode *bench, struct kwhy_text *out);

/* Tokens written a second and watts by number of GPUs, as `kwhy model scale` takes them. */
void kwhy_bench_decode_csv(const struct kwhy_bench_decode *bench, struct kwhy_text *out);

#endif
