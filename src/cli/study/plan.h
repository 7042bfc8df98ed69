/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_PLAN_H
#define KWHY_CLI_STUDY_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "cli/study/studies.h"

#include <stdbool.h>

/* What the user gave. Strings are borrowed; NULL: not given. */
struct kwhy_study_request {
	const struct kwhy_study *study;
	const char *folder; /* of all outputs */
	const char *backend, *url;
	const char *const *works; /* "tokens=4096", ... */
	size_t work_count;
	char *const *recordings; /* of one run; several are its ranks */
	size_t recording_count;
	char *const *program; /* command that is recorded, with its arguments */
	size_t program_count;
	bool quick;
};

/*
 * The command line of a step, with the files that it reads and writes. It is in the arena of the plan.
 */
struct kwhy_study_command {
	const struct kwhy_study_step *step;
	const char **words; /* ends with NULL; the first one is "kwhy" */
	size_t word_count;
	const char **inputs, **outputs; /* paths */
	size_t input_count, output_count;
	const char *missing; /* what the user did not give, so that the step cannot run; NULL: nothing */
	size_t save_word;    /* index of --save in `words` */
	const char *begun;   /* samples of an interrupted run of it; NULL: there are none */
	bool reads_bundled;  /* whether it reads a recording that comes with kwhy */
	bool runs_program;   /* whether the user's program runs in it, whose output is shown */
};

/*
 * Fills the command line of a step. What earlier steps have written by then decides where samples are read.
 * Strings are borrowed or in the arena.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_command_make(const struct kwhy_study_request *request,
	const struct kwhy_study_step *step, struct kwhy_arena *arena, struct kwhy_study_command *out,
	struct kwhy_error *error);

/* Lets the command continue the measurement that was interrupted, if there is one. */
void kwhy_study_command_resume(struct kwhy_study_command *command);

/* The command line as a shell reads it. NULL: out of memory. */
const char *kwhy_study_command_text(const struct kwhy_study_command *command, struct kwhy_arena *arena);

#endif
