/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_STATE_H
#define KWHY_CLI_STUDY_STATE_H

#include "base/sha256.h"
#include "cli/study/plan.h"

#include <stdint.h>

enum { KWHY_STUDY_STAMP_BYTES = 2 * KWHY_SHA256_BYTES + 1 };

/* The result of a step from earlier calls of the study. */
struct kwhy_study_result {
	bool is_done;
	/*
	 * stamp of the command line, its inputs and the machine when the step was last begun; "": it was
	 * never begun
	 */
	char stamp[KWHY_STUDY_STAMP_BYTES];
	double seconds; /* run time of the step, s */
	int64_t ended_unix_s;
	bool lacks_input;    /* whether the inputs hold too little for the step; not stored */
	const char *missing; /* why the step has no result; NULL: it has one, or has not been tried yet */
};

/* The state of a study, stored in study.json in the study's folder. */
struct kwhy_study_state {
	const char *given; /* options and arguments of the study, as text; later calls with the same folder
			      must have equal ones */
	struct kwhy_study_result results[KWHY_STUDY_STEPS_MAX]; /* results of the steps, in their order */
};

/*
 * Reads the state that an earlier call stored. If there is no file, no step is done. KWHY_E_USAGE: the
 * folder belongs to another study, or to this one with other options. KWHY_E_INPUT: the file is damaged.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_state_read(const struct kwhy_study_request *request,
	struct kwhy_arena *arena, struct kwhy_study_state *out, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_study_state_write(const struct kwhy_study_request *request,
	const struct kwhy_study_state *state, struct kwhy_error *error);

/*
 * Describes kwhy and the machine: version and commit of kwhy; driver, name and UUID of each device. The
 * text is in the arena.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_machine(
	struct kwhy_arena *arena, const char **out, struct kwhy_error *error);

/*
 * Stamps a command: writes a digest of the machine, the command's words, and the size and time of each
 * input. For an input that is a folder, it uses the size and time of each file in it.
 */
void kwhy_study_stamp(
	const char *machine, const struct kwhy_study_command *command, char out[KWHY_STUDY_STAMP_BYTES]);

/* Whether the command was run before with the same inputs, and all its outputs still exist. */
bool kwhy_study_is_current(
	const struct kwhy_study_command *command, const struct kwhy_study_result *result, const char *stamp);

#endif
