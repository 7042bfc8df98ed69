/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_PAIRS_SIMULATORS_H
#define KWHY_CLI_BENCH_PAIRS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes the inputs of simulators into a folder: a folder for each engine that was measured, and errors.csv
 * for all of them. Adds a summary of the errors to `out`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_simulate(
	const struct kwhy_pairs *pairs, const char *folder, struct kwhy_text *out, struct kwhy_error *error);

/*
 * Compares predictions in a CSV file (columns src,dst,size,time_ns and, optionally, engine), which may be of
 * any simulator, with the measurement: by engine, by regime and by pair. Without an engine they are of copies
 * that the source queues, or of the first engine measured if these were not.
 */
KWHY_MUST_USE enum kwhy_status kwhy_pairs_hold_against(
	const struct kwhy_pairs *pairs, const char *path, struct kwhy_text *out, struct kwhy_error *error);

#endif
