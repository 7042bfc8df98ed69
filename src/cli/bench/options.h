/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPTIONS_H
#define KWHY_CLI_BENCH_OPTIONS_H

#include "bench/transfers/plan.h"
#include "cli/output.h"

#include <math.h>

/* What several benchmarks take on the command line; all fail with KWHY_E_USAGE unless they say otherwise. */

enum { KWHY_WORDS_MAX = 64, KWHY_WORDS_BYTES = 1024 };

/* An option's list cut into its words. */
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

/* "4096", "64KiB", "64K", "1G": units are of 1,024. `text` NULL: 0. */
KWHY_MUST_USE enum kwhy_status kwhy_size_read(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error);

/* What a benchmark of a workload does with its result: text or JSON, and a table beside it. */
struct kwhy_bench_output {
	const char *file; /* NULL: standard output */
	const char *csv;  /* of the table; NULL: none */
	bool json, quiet;
};

/* `table` is what --csv FILE writes; NULL: there is no such option. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_form_find(const char *command,
	const struct kwhy_bench_output *output, const char *table, enum kwhy_output_form *out,
	struct kwhy_error *error);

/* Columns of the text. */
size_t kwhy_bench_columns(const struct kwhy_bench_output *output);

/* Writes and frees both; the table only where `csv` asks for it. `stem`: of the names in a folder. */
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

/* --repeat and --seconds of variants that are run again and again. */
struct kwhy_bench_runs {
	uint64_t repeat;
	double seconds; /* NAN: not given */
};

enum { KWHY_BENCH_REPEAT = 5 };

/* Where nothing is given, as the rows below say. */
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

/* Seconds of each window of energy. Where they were not given, a GPU's energy is measured, for `otherwise_s`,
 * and the host's is not: its runs are for the results. */
double kwhy_bench_energy_s(double given_s, enum kwhy_gpu_backend backend, double otherwise_s);

/* A progress line that is told what is measured now; `context` of kwhy_progress_begin(). */
void kwhy_bench_tell(void *context, const char *what);

/* Before minutes of measuring: KWHY_E_INPUT where `path` is no machine profile. NULL: none is needed. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_profile_check(const char *path, struct kwhy_error *error);

/* Before minutes of measuring: KWHY_E_IO where the file that is needed after them is none or cannot be read.
 * `path` NULL: none is needed. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_file_check(
	const char *option, const char *path, struct kwhy_error *error);

#endif
