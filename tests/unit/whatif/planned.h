/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_WHATIF_PLANNED_H
#define KWHY_TESTS_UNIT_WHATIF_PLANNED_H

#include "build.h"
#include "whatif/whatif.h"

/* Helpers of tests that make changes in a hand-made recording and check the projected effects. */

enum { US = 1000 };

/*
 * Returns a plan of one change of the recording, with its ledger. id, number: change and its parameter;
 * profile: NULL: none. Finishes and frees the recording.
 */
struct kwhy_plan *made(
	struct build *build, const char *id, uint32_t number, const struct kwhy_profile *profile);
/* Like made(), with several changes, made one after the other. */
struct kwhy_plan *all_made(struct build *build, const struct kwhy_whatif_request *change_requests,
	size_t count, const struct kwhy_profile *profile);
/*
 * assert_made() checks the first change: the number of places where it applies and the run's time after it,
 * ns. assert_refused() checks that the only change was refused with a reason that contains `word`. Both free
 * the plan.
 */
void assert_made(struct kwhy_plan *plan, uint64_t places, int64_t after_ns);
void assert_refused(struct kwhy_plan *plan, const char *word);

/* Returns a call of thread 0, from start_us to end_us. */
struct build_issue issue(const char *call, int64_t start_us, int64_t end_us);
struct build_copied copied(enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes,
	int64_t start_us, int64_t end_us);
/* Adds a kernel on stream 0 from start_us to end_us, launched by a call of 2 us that begins at call_us. */
void launch(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us);
/* Adds a read-back of 1 MiB to page-locked memory on stream 0, by a call of 2 us. */
void read_back(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us);

#endif
