/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_PLAN_H
#define KWHY_CLI_STUDY_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "cli/study/studies.h"

#include <stdbool.h>

/* What the user of `kwhy study` stated. Strings are not copied; NULL: not stated. */
struct kwhy_study_request {
	const struct kwhy_study *study;
	const char *folder; /* folder of all outputs */
	const char *backend, *url;
	const char *const *works; /* amounts of work: "tokens=4096", ... */
	size_t work_count;
	char *const *recordings; /* recordings of one run; if there are several, each is of one rank */
	size_t recording_count;
	char *const *program; /* program that is recorded, with its arguments */
	size_t program_count;
	bool quick;
};

/*
 * The command line of a step, with the files that it reads and writes. All of its memory is in one arena.
 */
struct kwhy_study_command {
	const struct kwhy_study_step *step;
	const char **words; /* words of the command line, the first one "kwhy"; ends with NULL */
	size_t word_count;
	const char **inputs,
		**outputs; /* paths of the files that the step reads, and of those that it writes */
	size_t input_count, output_count;
	const char *missing; /* the option or argument that the step needs and the user did not state; NULL:
				nothing is missing */
	size_t save_word;    /* index of --save in `words` */
	const char
		*begun; /* folder with the samples of an interrupted call of this step; NULL: there is none */
	bool reads_bundled; /* whether the step reads a recording that comes with kwhy */
	bool needs_much;    /* whether a recording may hold too little for the step */
	bool runs_program;  /* whether the step runs the user's program, whose output is then shown */
};

/*
 * Fills the command line of a step. A step reads samples of earlier steps only if these exist already.
 * Strings are borrowed or in the arena.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_command_make(const struct kwhy_study_request *request,
	const struct kwhy_study_step *step, struct kwhy_arena *arena, struct kwhy_study_command *out,
	struct kwhy_error *error);

/* Makes the command continue its interrupted measurement, if there is one. */
void kwhy_study_command_resume(struct kwhy_study_command *command);

/*
 * Renames the samples of an earlier call, which had other inputs or another machine, so that the command
 * starts anew. *out_name is the new name.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_command_set_aside(struct kwhy_study_command *command,
	struct kwhy_arena *arena, const char **out_name, struct kwhy_error *error);

/* The command line as a shell reads it. NULL: out of memory. */
const char *kwhy_study_command_text(const struct kwhy_study_command *command, struct kwhy_arena *arena);

#endif
