/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_TRAIN_SHOW_H
#define KWHY_LAB_TRAIN_SHOW_H

#include "base/text.h"
#include "lab/train/bench.h"
#include "report/report.h"

/* What `kwhy-lab train` found: as text, as JSON (lab/README.md), and loss against time and energy as CSV.
 */
void kwhy_bench_train_text(
	const struct kwhy_bench_train *bench, const struct kwhy_text_style *style, struct kwhy_text *out);
void kwhy_bench_train_json(const struct kwhy_bench_train *bench, struct kwhy_text *out);
void kwhy_bench_train_csv(const struct kwhy_bench_train *bench, struct kwhy_text *out);

#endif
