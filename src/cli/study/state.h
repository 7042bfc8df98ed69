/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_STATE_H
#define KWHY_CLI_STUDY_STATE_H

#include "base/sha256.h"
#include "cli/study/plan.h"

#include <stdint.h>

enum { KWHY_STUDY_STAMP_BYTES = 2 * KWHY_SHA256_BYTES + 1 };

/* How far a step has come. */
struct kwhy_study_result {
	bool is_done;
	char stamp[KWHY_STUDY_STAMP_BYTES]; /* of the command line and its inputs when it was run */
	double seconds;			    /* how long it ran */
	int64_t ended_unix_s;
	const char *missing; /* why it has no result; NULL: it has one, or was not reached yet */
};

/* The state of a study, in study.json of its folder. */
struct kwhy_study_state {
	const char *given; /* what the user gave, as text; a folder is of one of these alone */
	struct kwhy_study_result results[KWHY_STUDY_STEPS_MAX]; /* in the order of the steps */
};

/*
 * Reads the state of an earlier call. Without a file nothing is done yet. KWHY_E_USAGE: the folder is that of
 * another study, or of one with other options. KWHY_E_INPUT: the file is damaged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_state_read(const struct kwhy_study_request *request,
	struct kwhy_arena *arena, struct kwhy_study_state *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_study_state_write(const struct kwhy_study_request *request,
	const struct kwhy_study_state *state, struct kwhy_error *error);

/*
 * Stamps a command: a digest of its words, of the version of kwhy, and of size and time of each input. Of a
 * folder it is those of all its files.
 */
void kwhy_study_stamp(const struct kwhy_study_command *command, char out[KWHY_STUDY_STAMP_BYTES]);

/* Whether the command was run before with the same inputs, and all its outputs are still there. */
bool kwhy_study_is_current(
	const struct kwhy_study_command *command, const struct kwhy_study_result *result, const char *stamp);

#endif
