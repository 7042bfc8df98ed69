/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPTIONS_H
#define KWHY_CLI_BENCH_OPTIONS_H

#include "bench/transfers/plan.h"
#include "cli/output.h"

#include <math.h>

/* Options that several benchmarks share. Unless a comment names another status, a failure is KWHY_E_USAGE. */

enum { KWHY_WORDS_MAX = 64, KWHY_WORDS_BYTES = 1024 };

/* The words of an option whose value is a list. */
struct kwhy_word_list {
	char text[KWHY_WORDS_BYTES];
	const char *items[KWHY_WORDS_MAX];
	size_t count;
};

/*
 * Splits a list at its commas. If `list` is NULL, there are no words. KWHY_E_USAGE: the list has no word,
 * more than KWHY_WORDS_MAX words, or KWHY_WORDS_BYTES bytes or more.
 */
KWHY_MUST_USE enum kwhy_status kwhy_words_cut(
	const char *option, const char *list, struct kwhy_word_list *out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_backend_read(
	const char *name, enum kwhy_gpu_backend *out, struct kwhy_error *error);

/*
 * Reads a size of at least 1 byte: "4096", "64KiB", "64K" or "1G", where units are powers of 1024 and the
 * number is below 2^32. If `text` is NULL, *out is 0.
 */
KWHY_MUST_USE enum kwhy_status kwhy_size_read(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error);

/* Options of a benchmark that say where it writes its result (text or JSON) and its table (CSV). */
struct kwhy_bench_output {
	const char *file; /* path of the result; NULL: standard output */
	const char *csv;  /* path of the table; NULL: no table is written */
	bool json, quiet;
};

/*
 * Finds the form of the result, text or JSON, and checks that the table's file can be written. table: the
 * words that error messages use for the contents of --csv FILE; NULL: the command has no option --csv.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_form_find(const char *command,
	const struct kwhy_bench_output *output, const char *table, enum kwhy_output_form *out,
	struct kwhy_error *error);

/* Width of the text output, in columns: 80 in a file, else that of the terminal. */
size_t kwhy_bench_columns(const struct kwhy_bench_output *output);

/*
 * Writes the result and the table to their files, and frees both texts. The table is written only if
 * output->csv is set and the result was written. If a path is that of a folder, the file in it gets the name
 * `stem`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_write(const struct kwhy_bench_output *output, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_text *table,
	struct kwhy_error *error);

/*
 * Rows of an option table that set the member `member`, a struct kwhy_bench_output, of the options struct
 * `type`.
 */
#define KWHY_OPTION_ROWS_BENCH_OUTPUT(type, member, csv_help)                                             \
	{"output", 'o', "FILE", "write there instead of standard output (.txt, .json)", KWHY_OPTION_TEXT, \
		offsetof(type, member.file)},                                                             \
		{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(type, member.json)},           \
		{"csv", 0, "FILE", csv_help, KWHY_OPTION_TEXT, offsetof(type, member.csv)},               \
	{                                                                                                 \
		"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG,                    \
			offsetof(type, member.quiet)                                                      \
	}

/* Options of benchmarks that repeat each of their variants: --repeat and --seconds. */
struct kwhy_bench_runs {
	uint64_t repeat;
	double seconds; /* duration of the repeated runs over which the energy of a variant is measured; NAN:
			   the user gave none */
};

enum { KWHY_BENCH_REPEAT = 5 };

/* Defaults. The help texts below state them, too. */
#define KWHY_BENCH_RUNS_DEFAULT ((struct kwhy_bench_runs){KWHY_BENCH_REPEAT, NAN})
#define KWHY_BENCH_ENERGY_S 10.0

/*
 * Rows of an option table that set the member `member`, a struct kwhy_bench_runs, of the options struct
 * `type`.
 */
#define KWHY_OPTION_ROWS_BENCH_RUNS(type, member)                                                           \
	{"repeat", 0, "N", "timed runs of each variant, at least; default 5", KWHY_OPTION_COUNT,            \
		offsetof(type, member.repeat)},                                                             \
	{                                                                                                   \
		"seconds", 0, "S", "of repeated runs for a variant's energy; default 10 on a GPU, 0: none", \
			KWHY_OPTION_NUMBER, offsetof(type, member.seconds)                                  \
	}

KWHY_MUST_USE enum kwhy_status kwhy_bench_runs_check(
	const struct kwhy_bench_runs *runs, struct kwhy_error *error);

/*
 * Duration, in seconds, of the repeated runs over which energy is measured: `given_s` (the user's value) or,
 * if that is NAN, `otherwise_s` for a GPU and 0 for the host back end, which serves only to check results. 0:
 * energy is not measured.
 */
double kwhy_bench_energy_s(double given_s, enum kwhy_gpu_backend backend, double otherwise_s);

/* Shows `what` on the progress line. `context` is what kwhy_progress_begin() returned. */
void kwhy_bench_tell(void *context, const char *what);

/*
 * Checks before a measurement of minutes that `path`, to which the result will be added, is a machine
 * profile. KWHY_E_IO: it cannot be read; KWHY_E_INPUT: it is no profile. `path` NULL: succeeds.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_profile_check(const char *path, struct kwhy_error *error);

/*
 * Checks that a file that is needed only after measuring can be read, so that the user need not wait minutes
 * for the error. KWHY_E_IO: it cannot be read. `path` NULL: no file is needed.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_file_check(
	const char *option, const char *path, struct kwhy_error *error);

#endif
