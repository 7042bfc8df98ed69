/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/options.h"

#include "cli/progress.h"
#include "import/import.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum kwhy_status kwhy_words_cut(
	const char *option, const char *list, struct kwhy_word_list *out, struct kwhy_error *error)
{
	char *place = NULL;

	out->count = 0;
	if (!list)
		return KWHY_OK;
	if (snprintf(out->text, sizeof(out->text), "%s", list) >= (int)sizeof(out->text))
		return kwhy_fail(error, KWHY_E_USAGE, "--%s takes at most 1,023 bytes", option);
	for (char *word = strtok_r(out->text, ",", &place); word; word = strtok_r(NULL, ",", &place)) {
		if (out->count == KWHY_WORDS_MAX)
			return kwhy_fail(error, KWHY_E_USAGE, "--%s takes at most %d words", option,
				(int)KWHY_WORDS_MAX);
		out->items[out->count++] = word;
	}
	if (out->count == 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--%s takes a list, such as a,b", option);
	return KWHY_OK;
}

enum kwhy_status kwhy_backend_read(const char *name, enum kwhy_gpu_backend *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_GPU_BACKEND_COUNT; i++)
		if (strcmp(name, kwhy_gpu_backend_name((enum kwhy_gpu_backend)i)) == 0) {
			*out = (enum kwhy_gpu_backend)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE, "--backend takes cuda, hip or host, not '%.40s'", name);
}

enum kwhy_status kwhy_size_read(const char *option, const char *text, uint64_t *out, struct kwhy_error *error)
{
	static const struct {
		const char *unit;
		unsigned shift;
	} units[] = {
		{"", 0}, {"B", 0}, {"K", 10}, {"KiB", 10}, {"M", 20}, {"MiB", 20}, {"G", 30}, {"GiB", 30}};
	char *end;
	unsigned long long number;

	*out = 0;
	if (!text)
		return KWHY_OK;
	number = strtoull(text, &end, 10);
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (*text >= '0' && *text <= '9' && number > 0 && number < 1ull << 32 &&
			strcmp(end, units[i].unit) == 0) {
			*out = (uint64_t)number << units[i].shift;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE,
		"--%s takes a size of at least 1 byte, such as 4096, 64KiB or 1GiB, not '%.40s'", option,
		text);
}

enum kwhy_status kwhy_bench_form_find(const char *command, const struct kwhy_bench_output *output,
	const char *table, enum kwhy_output_form *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		output->file, output->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out, error);

	if (!status && *out != KWHY_OUTPUT_TEXT && *out != KWHY_OUTPUT_JSON)
		return kwhy_fail(error, KWHY_E_USAGE, "%s writes .txt or .json, not %s%s%s", command,
			output->file, table ? "; --csv FILE writes " : "", table ? table : "");
	return status ? status : kwhy_output_check("--csv", output->csv, error);
}

size_t kwhy_bench_columns(const struct kwhy_bench_output *output)
{
	return output->file ? 80 : kwhy_output_columns();
}

enum kwhy_status kwhy_bench_write(const struct kwhy_bench_output *output, const char *stem,
	enum kwhy_output_form form, struct kwhy_text *text, struct kwhy_text *table, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_result(output->file, stem, form, text, error);

	if (!status && output->csv)
		status = kwhy_output_result(output->csv, stem, KWHY_OUTPUT_CSV, table, error);
	kwhy_text_done(table);
	return status;
}

enum kwhy_status kwhy_bench_runs_check(const struct kwhy_bench_runs *runs, struct kwhy_error *error)
{
	if (runs->repeat < 1 || runs->repeat > 100000)
		return kwhy_fail(error, KWHY_E_USAGE, "--repeat takes 1 to 100000 runs");
	if (runs->seconds < 0 || runs->seconds > 600)
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes 0 to 600 seconds a variant");
	return KWHY_OK;
}

double kwhy_bench_energy_s(double given_s, enum kwhy_gpu_backend backend, double otherwise_s)
{
	if (!isnan(given_s))
		return given_s;
	return backend == KWHY_GPU_HOST ? 0 : otherwise_s;
}

void kwhy_bench_tell(void *context, const char *what)
{
	kwhy_progress_step(context, what, NULL);
}

enum kwhy_status kwhy_bench_profile_check(const char *path, struct kwhy_error *error)
{
	struct kwhy_profile *profile = NULL;
	enum kwhy_status status = KWHY_OK;

	if (path)
		status = kwhy_bench_file_check("update-profile", path, error);
	if (path && !status)
		status = kwhy_import_profile(path, &profile, error);
	if (profile)
		kwhy_profile_free(profile);
	return status;
}

enum kwhy_status kwhy_bench_file_check(const char *option, const char *path, struct kwhy_error *error)
{
	struct stat stat_of;

	if (!path)
		return KWHY_OK;
	if (stat(path, &stat_of) || S_ISDIR(stat_of.st_mode) || access(path, R_OK))
		return kwhy_fail(error, KWHY_E_IO,
			"--%s: '%.200s' is not a file that can be read; check the name and its permissions",
			option, path);
	return KWHY_OK;
}
