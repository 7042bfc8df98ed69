/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_LEDGER_NEW_H
#define KWHY_LEDGER_LEDGER_NEW_H

#include "base/status.h"
#include "model/learnt.h"
#include "model/ledger.h"
#include "model/profile.h"

/*
 * Powers in watts, idle power included, that the user assumes for devices without a meter; NAN: not given.
 * `given`: at least one is.
 */
struct kwhy_assumed_powers {
	bool given;
	double all_w;				/* power of everything, idle time included */
	double category_w[KWHY_CATEGORY_COUNT]; /* powers by category, which take precedence over all_w;
						   KWHY_CATEGORY_IDLE is for all categories of idle time */
	double copy_w[KWHY_COPY_KIND_COUNT];	/* powers of copies by direction; they take precedence over
						   the power of the category */
};

struct kwhy_ledger_options {
	const struct kwhy_profile *profile;		/* NULL: no profile */
	const struct kwhy_learnt_powers *const *learnt; /* [learnt_count] powers of --powers; those
							   of other kinds of device are not used */
	size_t learnt_count;
	struct kwhy_assumed_powers assumed;
	uint64_t seed;	       /* seed of the draws from the posterior; the same seed gives the same ledger */
	const char *step_name; /* names of the ranges that are taken as steps: a whole name, or a prefix
				  followed by '*'; NULL: ranges of kind KWHY_RANGE_STEP */
	bool ignore_counter; /* the energy counter is neither used as a meter nor for the inference of powers,
				so that the result can be compared with it */
};

struct kwhy_ledger_options kwhy_ledger_options_default(void);

/* Makes the ledger of a finished recording. The recording must outlive the ledger. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error);
/*
 * As kwhy_ledger_new(), but removes the activities of kwhy probe (ledger/probing.h) from the recording once
 * the devices' times and energies are complete. Sums over ranges, steps and streams, and all later uses of
 * the recording with this ledger, contain the program alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_new_of_program(struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error);
void kwhy_ledger_free(struct kwhy_ledger *ledger);

#endif
