/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_STUDY_PLAN_H
#define KWHY_CLI_STUDY_PLAN_H

#include "base/arena.h"
#include "base/status.h"
#include "cli/study/studies.h"

#include <stdbool.h>

/*
 * What the user of `kwhy study` gave: options, recordings and program. Strings are not copied; NULL: not
 * given.
 */
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
	const char *missing; /* why the step cannot run, in words: the user did not give what it needs, or the
				bundled recording is not installed; NULL: it can run */
	size_t save_word;    /* index of --save in `words` */
	const char
		*begun; /* folder with samples that an earlier call of this step left; NULL: there is none */
	bool reads_bundled; /* whether the step reads a recording that comes with kwhy */
	bool needs_much;   /* true: a recording may have too little for the step, such as no amount of tokens;
			      if the step ends without a result for that reason, the study does not count as
			      failed */
	bool runs_program; /* whether the step runs the user's program, whose output is then shown */
};

/*
 * Makes the command line of a step, with its inputs and outputs. out->begun is set only if the folder of
 * samples exists at the time of the call. Strings are borrowed or in the arena.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_command_make(const struct kwhy_study_request *request,
	const struct kwhy_study_step *step, struct kwhy_arena *arena, struct kwhy_study_command *out,
	struct kwhy_error *error);

/*
 * If samples of an earlier call exist (command->begun), makes the command continue their measurement: --save
 * becomes --resume.
 */
void kwhy_study_command_resume(struct kwhy_study_command *command);

/*
 * Renames the folder with samples of an earlier call, if there is one, so that the command starts its
 * measurement anew. To be called if the samples were made with other inputs or on another machine. *out_name
 * is the new name; it is unchanged if there were no samples. KWHY_E_IO: renaming failed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_study_command_set_aside(struct kwhy_study_command *command,
	struct kwhy_arena *arena, const char **out_name, struct kwhy_error *error);

/* The command line as a shell reads it. NULL: out of memory. */
const char *kwhy_study_command_text(const struct kwhy_study_command *command, struct kwhy_arena *arena);

#endif
