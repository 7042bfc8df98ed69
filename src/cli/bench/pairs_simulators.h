/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SIMULATORS_H
#define KWHY_CLI_BENCH_PAIRS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes inputs for network simulators to a subfolder of `folder` for each engine that was measured, and to
 * errors.csv the difference between the times that the simulators predict from these inputs and the measured
 * times. Adds a summary of these errors to `out`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_simulate(
	const struct kwhy_pairs *pairs, const char *folder, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Compares predictions in a file, of any simulator, with the measurement, and adds tables of the relative
 * errors to `out`: by engine, by range of sizes and by pair. The predictions are in a CSV file with the
 * columns src,dst,size,time_ns and, optionally, engine. A row without an engine predicts a copy that the
 * source GPU queues or, if such copies were not measured, a transfer of the first measured engine.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_against(
	const struct kwhy_pairs *pairs, const char *path, struct kwhy_text *out, struct kwhy_error *error);

#endif
