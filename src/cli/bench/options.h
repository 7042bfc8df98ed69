/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPTIONS_H
#define KWHY_CLI_BENCH_OPTIONS_H

#include "bench/transfers/plan.h"
#include "cli/output.h"

#include <math.h>

/* Options that several benchmarks share. All functions fail with KWHY_E_USAGE unless stated otherwise. */

enum { KWHY_WORDS_MAX = 64, KWHY_WORDS_BYTES = 1024 };

/* An option's list split into its words. */
struct kwhy_word_list {
	char text[KWHY_WORDS_BYTES];
	const char *items[KWHY_WORDS_MAX];
	size_t count;
};

/* `list` NULL: no words. */
KWHY_MUST_USE enum kwhy_status kwhy_words_cut(
	const char *option, const char *list, struct kwhy_word_list *out, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_backend_read(
	const char *name, enum kwhy_gpu_backend *out, struct kwhy_error *error);

/* Reads "4096", "64KiB", "64K" or "1G" as bytes; units are powers of 1024. `text` NULL: 0. */
KWHY_MUST_USE enum kwhy_status kwhy_size_read(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error);

/* Where a benchmark of a workload writes its result, as text or JSON, and its table. */
struct kwhy_bench_output {
	const char *file; /* NULL: standard output */
	const char *csv;  /* file for the table; NULL: no table */
	bool json, quiet;
};

/*
 * Gives the form. `table` describes the content of --csv FILE in messages; NULL: the command lacks that
 * option.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_form_find(const char *command,
	const struct kwhy_bench_output *output, const char *table, enum kwhy_output_form *out,
	struct kwhy_error *error);

/* Width of the text in columns. */
size_t kwhy_bench_columns(const struct kwhy_bench_output *output);

/*
 * Writes and frees both texts; the table is written only where `csv` is set. `stem` is the file name used in
 * a folder.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_write(const struct kwhy_bench_output *output, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_text *table,
	struct kwhy_error *error);

/* Rows of an option table for the members of a struct kwhy_bench_output `member` of `type`. */
#define KWHY_OPTION_ROWS_BENCH_OUTPUT(type, member, csv_help)                                             \
	{"output", 'o', "FILE", "write there instead of standard output (.txt, .json)", KWHY_OPTION_TEXT, \
		offsetof(type, member.file)},                                                             \
		{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, offsetof(type, member.json)},           \
		{"csv", 0, "FILE", csv_help, KWHY_OPTION_TEXT, offsetof(type, member.csv)},               \
	{                                                                                                 \
		"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG,                    \
			offsetof(type, member.quiet)                                                      \
	}

/* The options --repeat and --seconds, of variants that are run repeatedly. */
struct kwhy_bench_runs {
	uint64_t repeat;
	double seconds; /* NAN: not given */
};

enum { KWHY_BENCH_REPEAT = 5 };

/* Defaults, as the rows below state them. */
#define KWHY_BENCH_RUNS_DEFAULT ((struct kwhy_bench_runs){KWHY_BENCH_REPEAT, NAN})
#define KWHY_BENCH_ENERGY_S 10.0

/* Rows of an option table for the members of a struct kwhy_bench_runs `member` of `type`. */
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
 * Duration of each energy window, s. Where it was not given, a GPU's energy is measured for `otherwise_s`,
 * and the host's is not measured, because its runs only check results.
 */
double kwhy_bench_energy_s(double given_s, enum kwhy_gpu_backend backend, double otherwise_s);

/* Shows `what` on a progress line; `context` is that of kwhy_progress_begin(). */
void kwhy_bench_tell(void *context, const char *what);

/*
 * KWHY_E_INPUT where `path` is no machine profile; NULL: no profile is needed. Called before minutes of
 * measuring.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_profile_check(const char *path, struct kwhy_error *error);

/*
 * KWHY_E_IO where a file that is needed after measuring is no file or cannot be read; `path` NULL: no file is
 * needed. Called before minutes of measuring.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_file_check(
	const char *option, const char *path, struct kwhy_error *error);

#endif
