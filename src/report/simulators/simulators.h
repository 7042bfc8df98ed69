/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SIMULATORS_SIMULATORS_H
#define KWHY_REPORT_SIMULATORS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Measured pairs as what network simulators read. Each is read back from the very text that was written, by
 * our own model of what the simulator makes of it, and held against the measurement: copies that the source
 * queues, back to back, alone. Pure.
 */
struct kwhy_simulator {
	const char *name, *file;
	const char *rule; /* how it makes a time of the file, in words */
	void (*write)(const struct kwhy_pairs *pairs, struct kwhy_text *out);
	/* Seconds of one transfer by that text; NAN: it does not tell. */
	double (*predict_s)(const char *text, const struct kwhy_pair_config *config);
};

extern const struct kwhy_simulator kwhy_simulator_astra_sim, kwhy_simulator_simai, kwhy_simulator_loggopsim,
	kwhy_simulator_simgrid, kwhy_simulator_chakra, kwhy_simulator_npkit;

/* NULL: there are no more. */
const struct kwhy_simulator *kwhy_simulator_at(size_t index);

/* How far its times lie from the measured ones; NAN: none to compare. */
struct kwhy_simulator_error {
	size_t count;
	double mean_ratio, worst_ratio; /* of all sizes */
	uint64_t worst_bytes;
	double large_mean_ratio, large_worst_ratio; /* from 64 KiB up */
};
void kwhy_simulator_compare(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pairs *pairs, struct kwhy_simulator_error *out);

/* Whether a link of the pairs is known at all. */
bool kwhy_simulators_can_write(const struct kwhy_pairs *pairs);

/* The middle pair's line, for simulators that have one link alone; NAN: unknown. */
struct kwhy_pair_link kwhy_simulator_middle_link(const struct kwhy_pairs *pairs);

/* Is it one of those that simulators are held against? */
bool kwhy_simulator_takes(const struct kwhy_pair_config *config);

/* The number behind `key` from `text` on; NAN: none. `text` NULL: none. */
double kwhy_simulator_number(const char *text, const char *key);

#endif
