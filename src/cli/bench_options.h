/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPTIONS_H
#define KWHY_CLI_BENCH_OPTIONS_H

#include "bench/transfer_plan.h"
#include "cli/output.h"

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

/* Of a benchmark that writes text and JSON with -o: `table` is what --csv FILE writes. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_form_find(const char *command, const char *output, bool json,
	const char *table, enum kwhy_output_form *out, struct kwhy_error *error);

/* A progress line that is told what is measured now; `context` of kwhy_progress_begin(). */
void kwhy_bench_tell(void *context, const char *what);

/* Before minutes of measuring: KWHY_E_INPUT where `path` is no machine profile. NULL: none is needed. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_profile_check(const char *path, struct kwhy_error *error);

/* Before minutes of measuring: KWHY_E_IO where the file that is needed after them is none or cannot be read.
 * `path` NULL: none is needed. */
KWHY_MUST_USE enum kwhy_status kwhy_bench_file_check(
	const char *option, const char *path, struct kwhy_error *error);

#endif
