/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_STATE_H
#define KWHY_CLI_STUDY_STATE_H

#include "base/sha256.h"
#include "cli/study/plan.h"

#include <stdint.h>

enum { KWHY_STUDY_STAMP_BYTES = 2 * KWHY_SHA256_BYTES + 1 };

/* Result of a step, from this call of `kwhy study` or from an earlier one with the same folder. */
struct kwhy_study_result {
	bool is_done;
	/*
	 * digest of the command line, the inputs and the machine (kwhy_study_stamp()) with which the step was
	 * last begun; "": it was never begun
	 */
	char stamp[KWHY_STUDY_STAMP_BYTES];
	double seconds; /* run time of the step, s */
	int64_t ended_unix_s;
	bool lacks_input;    /* true: the step failed because its inputs have too little for it; not stored in
				study.json */
	const char *missing; /* why the step has no result; NULL: it has a result, or has not been run yet */
};

/* The state of a study, stored in study.json in the study's folder. */
struct kwhy_study_state {
	const char *given; /* options and arguments of the study, as text; later calls with the same folder
			      must have equal ones */
	struct kwhy_study_result results[KWHY_STUDY_STEPS_MAX]; /* results of the steps, in their order */
};

/*
 * Reads the state that an earlier call stored. If there is no file, no step is done. KWHY_E_USAGE: the
 * folder's state is of another study, or of the same study with other options or arguments. KWHY_E_INPUT: the
 * file is damaged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_state_read(const struct kwhy_study_request *request,
	struct kwhy_arena *arena, struct kwhy_study_state *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_study_state_write(const struct kwhy_study_request *request,
	const struct kwhy_study_state *state, struct kwhy_error *error);

/*
 * Describes in a text what stamps cover apart from commands and inputs: version and commit of kwhy; driver,
 * name and UUID of each device. The text is in the arena.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_machine(
	struct kwhy_arena *arena, const char **out, struct kwhy_error *error);

/*
 * Writes a SHA-256 digest, in hexadecimal digits, of `machine`, the command's words, and the path, size and
 * time of modification of each input. For an input that is a folder, path, size and time of each file in it
 * are used instead.
 */
void kwhy_study_stamp(
	const char *machine, const struct kwhy_study_command *command, char out[KWHY_STUDY_STAMP_BYTES]);

/* Whether the step need not run again: it was done with the same stamp, and all its outputs still exist. */
bool kwhy_study_is_current(
	const struct kwhy_study_command *command, const struct kwhy_study_result *result, const char *stamp);

#endif
