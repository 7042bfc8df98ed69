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

/* One invocation of a command. */
struct kwhy_invocation {
	const void *options; /* the command's options struct */
	struct kwhy_operands operands;
	const char *line;     /* the command line as typed, words quoted where needed */
	enum kwhy_exit *exit; /* KWHY_EXIT_DONE unless the command sets another */
};

struct kwhy_command {
	const char *name;	 /* one word, or two with a space between */
	const char *operands;	 /* as the help shows them; "": no operands */
	const char *summary;	 /* one line */
	const char *details;	 /* further lines of the help; NULL: no more lines */
	bool operand_is_command; /* all words from the first operand on are another program's command line */
	const struct kwhy_option *options;
	size_t options_bytes;
	void (*defaults)(void *options); /* sets defaults in a zeroed struct; NULL: zero is the default */
	enum kwhy_status (*run)(const struct kwhy_invocation *invocation, struct kwhy_error *error);
};

/*
 * The program that these commands belong to; each program defines its own. Texts are lines with their line
 * ends.
 */
struct kwhy_program {
	const char *name;    /* as typed: "kwhy" */
	const char *purpose; /* purpose of the program: first lines of the overview */
	const char *notes;   /* last lines of the overview */
};
extern const struct kwhy_program kwhy_program;

/*
 * The program's commands, from which dispatch, help, man pages and completions are made. Ends with a NULL
 * row.
 */
extern const struct kwhy_command *const kwhy_commands[];

extern const struct kwhy_command kwhy_command_probe;
extern const struct kwhy_command kwhy_command_record;
extern const struct kwhy_command kwhy_command_report;
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
extern const struct kwhy_command kwhy_command_help;
extern const struct kwhy_command kwhy_command_version;

/*
 * Number of words in a command's name. "model cost" has two and is one row; commands with the same first word
 * are a group.
 */
size_t kwhy_command_word_count(const struct kwhy_command *command);

/* The command that the first one or two of `words` name; NULL: no such command. */
const struct kwhy_command *kwhy_command_find(char *const *words, size_t count);

/* Whether `word` is the first word of two-word commands. */
bool kwhy_command_group_find(const char *word);

/* Gives KWHY_E_USAGE that names the nearest command; count is not 0. */
KWHY_MUST_USE enum kwhy_status kwhy_command_unknown(
	char *const *words, size_t count, struct kwhy_error *error);

/* Write a line for each command of a group; write a line for each one-word command and each group. */
void kwhy_command_group_text(const char *group, struct kwhy_text *out);
void kwhy_command_overview_text(struct kwhy_text *out);

/* Prints the help of the command or group named by `words` on stdout. */
KWHY_MUST_USE enum kwhy_status kwhy_command_help_print(
	char *const *words, size_t count, struct kwhy_error *error);

/* Runs the command line argv, prints any error, and returns the exit status. */
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
