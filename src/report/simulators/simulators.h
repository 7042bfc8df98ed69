/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SIMULATORS_SIMULATORS_H
#define KWHY_REPORT_SIMULATORS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes measured pairs as inputs of network simulators. Each input is read back from the text that was
 * written, by a model of what the simulator computes from it, and compared with the measurement: copies that
 * the source queues, back to back, alone. Pure.
 */
struct kwhy_simulator {
	const char *name, *file;
	const char *rule; /* how the simulator computes a time from the file, in words */
	void (*write)(const struct kwhy_pairs *pairs, struct kwhy_text *out);
	/* Time of one transfer by that text, s; NAN: the text does not determine it. */
	double (*predict_s)(const char *text, const struct kwhy_pair_config *config);
};

extern const struct kwhy_simulator kwhy_simulator_astra_sim, kwhy_simulator_simai, kwhy_simulator_loggopsim,
	kwhy_simulator_simgrid, kwhy_simulator_chakra, kwhy_simulator_npkit;

/* NULL: `index` is past the last simulator. */
const struct kwhy_simulator *kwhy_simulator_at(size_t index);

/* Errors of a simulator's times relative to the measured ones; NAN: no transfer to compare. */
struct kwhy_simulator_error {
	size_t count;
	double mean_ratio, worst_ratio; /* over all sizes */
	uint64_t worst_bytes;
	double large_mean_ratio, large_worst_ratio; /* over sizes from 64 KiB */
};
void kwhy_simulator_compare(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pairs *pairs, struct kwhy_simulator_error *out);

/* Whether any link of the pairs is known. */
bool kwhy_simulators_can_write(const struct kwhy_pairs *pairs);

/* The median pair's link, for simulators that have only one link; NAN: unknown. */
struct kwhy_pair_link kwhy_simulator_middle_link(const struct kwhy_pairs *pairs);

/* Whether simulators are compared with transfers of this configuration. */
bool kwhy_simulator_takes(const struct kwhy_pair_config *config);

/* The number after the first `key` in `text`; NAN: no key, no number, or `text` is NULL. */
double kwhy_simulator_number(const char *text, const char *key);

#endif
