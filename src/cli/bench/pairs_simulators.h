/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SIMULATORS_H
#define KWHY_CLI_BENCH_PAIRS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes inputs for simulators: a subfolder for each engine that was measured, and errors.csv for all of
 * them. Adds a summary of the errors to `out`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_simulate(
	const struct kwhy_pairs *pairs, const char *folder, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Compares the predictions of any simulator with the measurement: by engine, by regime (range of sizes) and
 * by pair. The predictions are in a CSV file with the columns src,dst,size,time_ns and, optionally, engine.
 * A row without an engine predicts a copy that the source GPU queues or, if such copies were not measured,
 * a transfer of the first measured engine.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_against(
	const struct kwhy_pairs *pairs, const char *path, struct kwhy_text *out, struct kwhy_error *error);

#endif
