/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_SIMULATORS_SIMULATORS_H
#define KWHY_REPORT_SIMULATORS_SIMULATORS_H

#include "base/text.h"
#include "model/pairs.h"

/*
 * Writes measured transfers of one engine as input files of network simulators. To check a file, predict_s()
 * reads it and computes times as the simulator would; they are compared with the measured times. The
 * functions do no input or output.
 */
struct kwhy_simulator {
	const char *name, *file;
	const char *rule; /* how the simulator computes a time from the file, in words */
	/* whether its input can state times of collectives, which are of no single link */
	bool takes_collectives;
	void (*write)(const struct kwhy_pair_series *series, struct kwhy_text *out);
	/*
	 * Computes the time in s of one transfer from `text` as the simulator does; NAN: the text does not
	 * determine the time.
	 */
	double (*predict_s)(const char *text, const struct kwhy_pair_config *config);
};

extern const struct kwhy_simulator kwhy_simulator_astra_sim, kwhy_simulator_simai, kwhy_simulator_loggopsim,
	kwhy_simulator_simgrid, kwhy_simulator_chakra, kwhy_simulator_npkit;

/* The simulator with an index; NULL: the index is past the last one. */
const struct kwhy_simulator *kwhy_simulator_at(size_t index);

/*
 * Absolute relative errors |computed / measured median - 1| of the times that a simulator computes, over
 * `count` transfers; NAN: none could be compared.
 */
struct kwhy_simulator_error {
	size_t count;
	/*
	 * mean and largest error over all transfers; worst_bytes is the size of the transfer with the largest
	 */
	double mean_ratio, worst_ratio;
	uint64_t worst_bytes;
	double large_mean_ratio, large_worst_ratio; /* the same over transfers of 64 KiB and more */
};
void kwhy_simulator_compare(const struct kwhy_simulator *simulator, const char *text,
	const struct kwhy_pair_series *series, struct kwhy_simulator_error *out);

/* Whether the link of at least one pair is known, so that inputs can be written. */
bool kwhy_simulators_can_write(const struct kwhy_pair_series *series);

/*
 * The link with the median rate of those whose latency and rate are known, for simulators that have a single
 * link; a negative latency becomes 0. NAN: there is none.
 */
struct kwhy_pair_link kwhy_simulator_middle_link(const struct kwhy_pair_series *series);

/*
 * Whether the configuration has samples and is of the series' engine and way of timing, without other load.
 */
bool kwhy_simulator_takes(const struct kwhy_pair_series *series, const struct kwhy_pair_config *config);

/*
 * The number that follows the first `key` in `text`; NAN: `text` is NULL, or does not contain the key or a
 * number after it.
 */
double kwhy_simulator_number(const char *text, const char *key);

#endif
