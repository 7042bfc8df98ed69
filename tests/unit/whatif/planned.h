/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_WHATIF_PLANNED_H
#define KWHY_TESTS_UNIT_WHATIF_PLANNED_H

#include "build.h"
#include "whatif/whatif.h"

/* One change of a made recording: what it is made of, and what must come of it. */

enum { US = 1000 };

/* A plan of one change of a recording, which is finished and freed. */
struct kwhy_plan *made(
	struct build *build, const char *id, uint32_t number, const struct kwhy_profile *profile);
/* Of several changes, beside each other. */
struct kwhy_plan *all_made(struct build *build, const struct kwhy_whatif_request *change_requests,
	size_t count, const struct kwhy_profile *profile);
/* Both free the plan. */
void assert_made(struct kwhy_plan *plan, uint64_t places, int64_t after_ns);
void assert_refused(struct kwhy_plan *plan, const char *word);

/* By thread 0. */
struct build_issue issue(const char *call, int64_t start_us, int64_t end_us);
struct build_copied copied(enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes,
	int64_t start_us, int64_t end_us);
/* A kernel on stream 0, by a call of 2 us. */
void launch(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us);
/* Of a MiB, to page-locked memory, as that. */
void read_back(struct build *build, int64_t call_us, int64_t start_us, int64_t end_us);

#endif
