/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LEDGER_LEDGER_NEW_H
#define KWHY_LEDGER_LEDGER_NEW_H

#include "base/status.h"
#include "model/learnt.h"
#include "model/ledger.h"
#include "model/profile.h"

/* Powers that the user assumes for a device without a meter, gross watts; NAN: not given. */
struct kwhy_assumed_powers {
	bool given;
	double all_w;				/* one power for everything, idle included */
	double category_w[KWHY_CATEGORY_COUNT]; /* idle categories: KWHY_CATEGORY_IDLE holds for all of them
						 */
	double copy_w[KWHY_COPY_KIND_COUNT];	/* overrides the copy category by direction */
};

struct kwhy_ledger_options {
	const struct kwhy_profile *profile;		/* NULL: none */
	const struct kwhy_learnt_powers *const *learnt; /* [learnt_count] of other recordings; those of
							   other devices are not used */
	size_t learnt_count;
	struct kwhy_assumed_powers assumed;
	uint64_t seed;	       /* of the posterior draws; the same seed gives the same ledger */
	const char *step_name; /* ranges of this name (exact, or prefix ending in '*') are steps; NULL */
	bool ignore_counter;   /* fit and divide by samples alone (to check against the counter) */
};

struct kwhy_ledger_options kwhy_ledger_options_default(void);

/* Makes the ledger of a finished recording. The recording must outlive the ledger. */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_new(const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error);
/*
 * The same, and then takes out of the recording what a probe did (ledger/probing.h): its sums over ranges,
 * steps and streams, and whoever reads the recording with these books, see the program alone.
 */
KWHY_MUST_USE enum kwhy_status kwhy_ledger_new_of_program(struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_ledger **out, struct kwhy_error *error);
void kwhy_ledger_free(struct kwhy_ledger *ledger);

#endif
