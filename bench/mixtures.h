/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_MIXTURES_H
#define KWHY_BENCH_MIXTURES_H

#include "base/status.h"
#include "ledger/ledger_new.h"
#include "mixture_score.h"

#include <stdint.h>
#include <stdio.h>

struct mixtures_options {
	int schedule; /* -1: all */
	uint64_t seeds, first_seed;
	bool level_unknown, without_profile;
	const char *csv_path, *real_path, *profile_path; /* NULL: none */
};

/*
 * The ledger from all meters, and a check of its meters: the relative difference between the energy counter
 * and the energy that a ledger from the power samples alone predicts for it (NAN: unknown).
 */
struct mixtures_totals {
	struct kwhy_ledger *ledger;
	double seconds; /* time to compute this ledger */
	double counter_check_ratio;
};

KWHY_MUST_USE enum kwhy_status mixtures_keep_totals(struct mixtures_totals *out,
	const struct kwhy_recording *recording, const struct kwhy_profile *profile, struct kwhy_error *error);

/*
 * Scores the ledger of a measured recording (--real): a folder with activities.csv, power.csv and truth.csv
 * (power of each kernel alone). Prints each account.
 */
KWHY_MUST_USE enum kwhy_status mixtures_real(
	const struct mixtures_options *options, struct kwhy_error *error);

/*
 * Generates and scores mixtures. Prints a table with one line for each schedule, and CSV with one line for
 * each account.
 */
KWHY_MUST_USE enum kwhy_status mixtures_synthetic(
	const struct mixtures_options *options, struct kwhy_error *error);

#endif
