/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_OPTIONS_H
#define KWHY_CLI_OPTIONS_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Default of a count by which a command recognises that the option was not given; no argument has this value.
 */
#define KWHY_COUNT_NOT_GIVEN UINT64_MAX

/* The type of the member that an option sets in the options struct of its command, at `offset`. */
enum kwhy_option_kind {
	KWHY_OPTION_HELP,   /* no member: requests the command's help */
	KWHY_OPTION_FLAG,   /* bool */
	KWHY_OPTION_TEXT,   /* const char *; the last occurrence counts */
	KWHY_OPTION_LIST,   /* struct kwhy_strings; may be given again */
	KWHY_OPTION_NUMBER, /* double, finite; "%" after it is allowed */
	KWHY_OPTION_COUNT   /* uint64_t; 0 where the argument is left out */
};

struct kwhy_option {
	const char *name;     /* without dashes; NULL ends a table */
	char letter;	      /* 0: no short form */
	const char *argument; /* as the help shows it; "[N]": optional; NULL: the option takes no argument */
	const char *help;     /* one line */
	enum kwhy_option_kind kind;
	uint32_t offset; /* in the options struct, bytes */
};

/* Strings of the command line; the strings are borrowed. */
struct kwhy_strings {
	const char **items;
	size_t count;
};

struct kwhy_operands {
	char *const *items;
	size_t count;
	bool help; /* --help was given, so the command is not run */
};

/*
 * Reads argv[1..] into `target` by the table. Unknown and incomplete options are KWHY_E_USAGE. Options and
 * operands may come in any order, unless `first_operand_ends`; "--" ends the options. kwhy_options_done()
 * frees the lists, also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_options_parse(const struct kwhy_option *options, bool first_operand_ends,
	int argc, char **argv, void *target, struct kwhy_operands *out, struct kwhy_error *error);
void kwhy_options_done(const struct kwhy_option *options, void *target);

/*
 * Writes text broken at spaces to 80 columns. It begins at column `indent`, where the further lines begin,
 * too. Ends the line.
 */
void kwhy_help_wrap(struct kwhy_text *out, const char *text, size_t indent);

/* Writes the help of the options, aligned. */
void kwhy_options_help(const struct kwhy_option *options, struct kwhy_text *out);

#endif
