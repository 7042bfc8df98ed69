/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_COMMAND_H
#define KWHY_CLI_COMMAND_H

#include "base/status.h"
#include "cli/options.h"

#include <stdbool.h>

/* What a shell sees of kwhy. */
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
	enum kwhy_exit *exit; /* KWHY_EXIT_DONE unless the command says otherwise */
};

struct kwhy_command {
	const char *name;	 /* one word, or two with a space between */
	const char *operands;	 /* as the help shows them; "" none */
	const char *summary;	 /* one line */
	const char *details;	 /* further lines of the help; NULL: none */
	bool operand_is_command; /* from the first operand on, all words are another program's */
	const struct kwhy_option *options;
	size_t options_bytes;
	void (*defaults)(void *options); /* of a zeroed struct; NULL: zero is right */
	enum kwhy_status (*run)(const struct kwhy_invocation *invocation, struct kwhy_error *error);
};

/* The program that these commands are of; each program defines its own. Texts are lines with their ends. */
struct kwhy_program {
	const char *name;    /* as typed: "kwhy" */
	const char *purpose; /* what it answers: first lines of the overview */
	const char *notes;   /* last lines of the overview */
};
extern const struct kwhy_program kwhy_program;

/* Its table: dispatch, help, man pages and completions follow it. Ends with a NULL row. */
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

/* A name of two words, as "model cost", is one row; the commands with one first word are a group. */
size_t kwhy_command_word_count(const struct kwhy_command *command);

/* The command that the first one or two of `words` name; NULL: none. */
const struct kwhy_command *kwhy_command_find(char *const *words, size_t count);

/* Is `word` the first word of commands of two? */
bool kwhy_command_group_find(const char *word);

/* KWHY_E_USAGE that names the nearest command; count is not 0. */
KWHY_MUST_USE enum kwhy_status kwhy_command_unknown(
	char *const *words, size_t count, struct kwhy_error *error);

/* A line for each command of a group; a line for each command of one word and each group. */
void kwhy_command_group_text(const char *group, struct kwhy_text *out);
void kwhy_command_overview_text(struct kwhy_text *out);

/* The help of the command or group named by `words`, on stdout. */
KWHY_MUST_USE enum kwhy_status kwhy_command_help_print(
	char *const *words, size_t count, struct kwhy_error *error);

/* Runs argv as the shell gave it; prints what went wrong; gives the exit status. */
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
