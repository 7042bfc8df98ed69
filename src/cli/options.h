/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_OPTIONS_H
#define KWHY_CLI_OPTIONS_H

#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdint.h>

/*
 * Value that a command may set as the default of a count option (KWHY_OPTION_COUNT), to know whether the
 * option was given. No argument can have this value.
 */
#define KWHY_COUNT_NOT_GIVEN UINT64_MAX

/*
 * Kinds of options, with the type of the member that an option sets. The member is in the options struct of
 * the command, at `offset`.
 */
enum kwhy_option_kind {
	KWHY_OPTION_HELP,   /* no member: the option requests the command's help */
	KWHY_OPTION_FLAG,   /* bool */
	KWHY_OPTION_TEXT,   /* const char *; the last of several occurrences counts */
	KWHY_OPTION_LIST,   /* struct kwhy_strings; the option may be given several times */
	KWHY_OPTION_NUMBER, /* double, a finite number; a "%" at the end of the argument is accepted and
			       ignored */
	KWHY_OPTION_COUNT   /* uint64_t; 0 if an optional argument is left out */
};

struct kwhy_option {
	const char *name; /* name of the option, without dashes; NULL: end of the table */
	char letter;	  /* short form of the option; 0: none */
	/* argument as the help shows it, in brackets if optional: "[N]"; NULL: the option takes none */
	const char *argument;
	const char *help; /* what the option does, in one line */
	enum kwhy_option_kind kind;
	uint32_t offset; /* position of the member in the options struct, bytes */
};

/* Strings of the command line; not copied. */
struct kwhy_strings {
	const char **items;
	size_t count;
};

struct kwhy_operands {
	char *const *items;
	size_t count;
	size_t after_dashes; /* number of operands after "--"; 0: there is no "--", or nothing after it */
	bool help;	     /* whether --help was given, so that the command is not run */
};

/*
 * Reads argv[1..] into the options struct `target`, as the table of options states. KWHY_E_USAGE: an option
 * is unknown, lacks its argument, or has a wrong one. Options and operands may be mixed, unless
 * `first_operand_ends` (the first operand then ends the options); "--" ends the options in any case.
 * kwhy_options_done() frees the lists, also after a failure.
 */
KWHY_MUST_USE enum kwhy_status kwhy_options_parse(const struct kwhy_option *options, bool first_operand_ends,
	int argc, char **argv, void *target, struct kwhy_operands *out, struct kwhy_error *error);
void kwhy_options_done(const struct kwhy_option *options, void *target);

/*
 * Writes text in lines of at most 80 columns (more only for a single longer word), broken at spaces, with a
 * line end after the last one. `out` must already be at column `indent`; further lines are indented by that
 * many spaces.
 */
void kwhy_help_wrap(struct kwhy_text *out, const char *text, size_t indent);

/* Writes the help of the options, in aligned columns. */
void kwhy_options_help(const struct kwhy_option *options, struct kwhy_text *out);

#endif
