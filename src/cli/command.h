/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_COMMAND_H
#define KWHY_CLI_COMMAND_H

#include "base/status.h"
#include "cli/options.h"

#include <stdbool.h>

/* Exit statuses of kwhy. */
enum kwhy_exit {
	KWHY_EXIT_DONE = 0,
	KWHY_EXIT_FAILED = 1,
	KWHY_EXIT_USAGE = 2,
	KWHY_EXIT_EXCEEDED = 3,
	KWHY_EXIT_RESULTS_CHANGED = 125
};

/* What a command is called with. */
struct kwhy_invocation {
	const void *options; /* the command's options struct */
	struct kwhy_operands operands;
	const char *line; /* the command line as typed; words are quoted where a shell needs it */
	/*
	 * exit status of the program if the command succeeds: KWHY_EXIT_DONE unless the command sets another
	 * one
	 */
	enum kwhy_exit *exit;
};

struct kwhy_command {
	const char *name; /* name as the user types it, one word or two separated by a space: "report", "model
			     cost" */
	const char *operands; /* operands as the help shows them; "": the command takes none */
	const char *summary;  /* what the command does, in one line */
	const char *details;  /* the help's lines after the options; NULL: there are none */
	/* true: the first operand and all words after it are the command line of another program */
	bool operand_is_command;
	const struct kwhy_option *options;
	size_t options_bytes;
	/* sets the defaults in an options struct that contains zeros; NULL: zeros are the defaults */
	void (*defaults)(void *options);
	enum kwhy_status (*run)(const struct kwhy_invocation *invocation, struct kwhy_error *error);
};

/* A group of commands: those whose names have the same first word. */
struct kwhy_command_group {
	const char *name;    /* NULL: end of the table */
	const char *summary; /* one line; the overview adds a colon and the names of the group's commands */
};

/*
 * The program whose commands these are. Each program that links this code defines kwhy_program. purpose and
 * notes are complete lines.
 */
struct kwhy_program {
	const char *name;			 /* name of the program as users type it: "kwhy" */
	const char *purpose;			 /* purpose of the program, the first lines of the overview */
	const char *notes;			 /* notes at the end of the overview */
	const struct kwhy_command_group *groups; /* summaries of groups; NULL: there are none */
};
extern const struct kwhy_program kwhy_program;

/*
 * All commands of the program, followed by NULL. Command lines are dispatched by this table, and help, man
 * pages and shell completions are made from it.
 */
extern const struct kwhy_command *const kwhy_commands[];

extern const struct kwhy_command kwhy_command_probe;
extern const struct kwhy_command kwhy_command_record;
extern const struct kwhy_command kwhy_command_report;
extern const struct kwhy_command kwhy_command_digest;
extern const struct kwhy_command kwhy_command_calibrate;
extern const struct kwhy_command kwhy_command_stat;
extern const struct kwhy_command kwhy_command_compare;
extern const struct kwhy_command kwhy_command_whatif;
extern const struct kwhy_command kwhy_command_replay;
extern const struct kwhy_command kwhy_command_doctor;
extern const struct kwhy_command kwhy_command_export;
extern const struct kwhy_command kwhy_command_verify;
extern const struct kwhy_command kwhy_command_watch;
extern const struct kwhy_command kwhy_command_serve;
extern const struct kwhy_command kwhy_command_job;
extern const struct kwhy_command kwhy_command_model_cost;
extern const struct kwhy_command kwhy_command_model_carbon;
extern const struct kwhy_command kwhy_command_model_tokens;
extern const struct kwhy_command kwhy_command_model_power;
extern const struct kwhy_command kwhy_command_model_cap;
extern const struct kwhy_command kwhy_command_model_scale;
extern const struct kwhy_command kwhy_command_model_roofline;
extern const struct kwhy_command kwhy_command_model_audit;
extern const struct kwhy_command kwhy_command_tune_cap;
extern const struct kwhy_command kwhy_command_tune_clock;
extern const struct kwhy_command kwhy_command_bench_transfer;
extern const struct kwhy_command kwhy_command_bench_pairs;
extern const struct kwhy_command kwhy_command_bench_ops;
extern const struct kwhy_command kwhy_command_llm;
extern const struct kwhy_command kwhy_command_mcp;
extern const struct kwhy_command kwhy_command_study;
extern const struct kwhy_command kwhy_command_help;
extern const struct kwhy_command kwhy_command_version;

/*
 * Number of words in a command's name: 1, or 2 as in "model cost". Commands of two words that share the
 * first word are a group.
 */
size_t kwhy_command_word_count(const struct kwhy_command *command);

/* Finds the command that the first one or two of `words` name. NULL: there is none. */
const struct kwhy_command *kwhy_command_find(char *const *words, size_t count);

/* Whether `word` is the first word of a command with two words. */
bool kwhy_command_group_find(const char *word);

/*
 * Returns KWHY_E_USAGE with a message that `words` name no command, and that names the most similar command
 * if there is one. `count` must not be 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_command_unknown(
	char *const *words, size_t count, struct kwhy_error *error);

/*
 * kwhy_command_group_text() writes a line for each command of a group. kwhy_command_overview_text() writes
 * one line for each group and for each command of one word.
 */
void kwhy_command_group_text(const char *group, struct kwhy_text *out);
void kwhy_command_overview_text(struct kwhy_text *out);

/* Prints the help of the command or group that `words` name, on standard output. */
KWHY_MUST_USE enum kwhy_status kwhy_command_help_print(
	char *const *words, size_t count, struct kwhy_error *error);

/* Adds a word of a command line, quoted where a shell needs it. */
void kwhy_command_add_word(struct kwhy_text *line, const char *word);

/* Runs the command that a command line names, prints any error, and returns the exit status. */
int kwhy_command_main(int argc, char **argv);

#define KWHY_OPTION_ROW_HELP                                             \
	{                                                                \
		"help", 'h', NULL, "show this help", KWHY_OPTION_HELP, 0 \
	}
#define KWHY_OPTION_ROW_END               \
	{                                 \
		NULL, 0, NULL, NULL, 0, 0 \
	}

#endif
