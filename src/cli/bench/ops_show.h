/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPS_SHOW_H
#define KWHY_CLI_BENCH_OPS_SHOW_H

#include "base/text.h"
#include "bench/ops/ops.h"
#include "report/report.h"

/*
 * Write the results of `kwhy bench ops` as text, as JSON (docs/formats/operations.md), and as CSV with one
 * line per operation.
 */
void kwhy_bench_ops_text(
	const struct kwhy_bench_ops *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_bench_ops_json(const struct kwhy_bench_ops *bench, struct kwhy_text *out);
void kwhy_bench_ops_csv(const struct kwhy_bench_ops *bench, struct kwhy_text *out);

#endif
