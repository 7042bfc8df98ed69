/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/store.h"

#include "bench/kept_rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum part { SAMPLES, LOG, TEMPERATURES, ENERGIES, PINNING, CLOCKS, PART_COUNT };

static const char *const names[PART_COUNT] = {
	"samples.csv", "execution_log.csv", "temperatures.csv", "energies.csv", "pinning.csv", "clocks.csv"};

static const char log_names[] = "config_id,src,dst,size,repetition,timestamp_start_ns,timestamp_end_ns,"
				"duration_ns\n";

struct kwhy_pair_store {
	FILE *files[PART_COUNT];
	char paths[PART_COUNT][KWHY_KEPT_PATH_BYTES];
};

static enum kwhy_status check_settings(const char *path, const struct kwhy_text *file,
	const struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_text settings = {0};
	enum kwhy_status status;
	bool is_same;

	kwhy_pair_settings_write(pairs, &settings);
	status = kwhy_text_check(&settings, error);
	is_same = !status && file->length >= settings.length &&
		memcmp(file->data, settings.data, settings.length) == 0;
	kwhy_text_done(&settings);
	if (!status && !is_same)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s was begun with other settings or on another machine; give the same options, or "
			"another folder",
			path);
	return status;
}

typedef enum kwhy_status rows_reader(
	const char *path, const struct kwhy_text *file, struct kwhy_pairs *pairs, struct kwhy_error *error);

/*
 * Reads a file if it exists. If `mends`, an incomplete last line, as after a crash, is removed from the file.
 */
static enum kwhy_status read_part(
	const char *path, rows_reader *read, bool mends, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_text file = {0};
	enum kwhy_status status;

	if (access(path, F_OK))
		return KWHY_OK;
	status = kwhy_kept_read(path, &file, error);
	if (!status)
		status = read(path, &file, pairs, error);
	if (!status && mends)
		status = kwhy_kept_cut(path, &file, error);
	kwhy_text_done(&file);
	return status;
}

/* Reads temperatures.csv, energies.csv and pinning.csv of the folder, those that exist. */
static enum kwhy_status read_parts(
	const char *folder, bool mends, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	static const struct {
		enum part part;
		rows_reader *read;
	} parts[] = {{TEMPERATURES, kwhy_pair_reading_rows_read}, {ENERGIES, kwhy_pair_energy_rows_read},
		{PINNING, kwhy_pair_pinning_rows_read}};
	char path[KWHY_KEPT_PATH_BYTES];
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(parts) / sizeof(parts[0]); i++) {
		status = kwhy_kept_path(folder, names[parts[i].part], path, error);
		if (!status)
			status = read_part(path, parts[i].read, mends, pairs, error);
	}
	return status;
}

/*
 * Reads samples.csv and removes an incomplete last line from it, so that rows can be appended. KWHY_E_USAGE:
 * it does not exist, or its samples were taken with other settings.
 */
static enum kwhy_status resume(
	struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error)
{
	const char *path = store->paths[SAMPLES];
	struct kwhy_text file = {0};
	enum kwhy_status status;

	if (access(path, F_OK))
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s is not there: nothing was begun in this folder; name the one that --save made",
			path);
	status = kwhy_kept_read(path, &file, error);
	if (!status)
		status = check_settings(path, &file, pairs, error);
	if (!status)
		status = kwhy_pair_rows_read(path, &file, false, pairs, error);
	if (!status)
		status = kwhy_kept_cut(path, &file, error);
	kwhy_text_done(&file);
	return status;
}

static void add_log_row(const struct kwhy_pairs *pairs, size_t id, size_t sample, struct kwhy_text *out)
{
	const struct kwhy_pair_config *config = &pairs->configs[id];
	const struct kwhy_pair_sample *row = &config->samples[sample];

	kwhy_text_addf(out, "%zu,%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%zu,%" PRId64 ",%" PRId64 ",%.0f\n", id,
		config->source, config->target, config->bytes, sample, row->start_unix_ns, row->end_unix_ns,
		row->seconds * 1e9);
}

/*
 * Writes execution_log.csv anew from the samples in `pairs`, so that it has the same rows as samples.csv even
 * after a crash.
 */
static enum kwhy_status begin_log(
	const struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_kept_open(store->paths[LOG], "w", &store->files[LOG], error);

	if (status)
		return status;
	kwhy_text_add(&text, log_names);
	for (size_t i = 0; i < pairs->config_count; i++)
		for (size_t k = 0; k < pairs->configs[i].sample_count; k++)
			add_log_row(pairs, i, k, &text);
	return kwhy_kept_write(store->files[LOG], store->paths[LOG], &text, error);
}

static enum kwhy_status begin_samples(
	const struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	kwhy_pair_settings_write(pairs, &text);
	kwhy_text_addf(&text, "# begun: %s\n", pairs->measured_on ? pairs->measured_on : "unknown");
	kwhy_text_addf(&text, "# configurations: %zu\n", pairs->config_count);
	kwhy_pair_routes_write(pairs, &text);
	kwhy_text_addf(&text, "%s\n", kwhy_pair_row_names);
	return kwhy_kept_write(store->files[SAMPLES], store->paths[SAMPLES], &text, error);
}

static enum kwhy_status open_part(struct kwhy_pair_store *store, enum part part, struct kwhy_error *error)
{
	return kwhy_kept_open(store->paths[part], "a", &store->files[part], error);
}

static enum kwhy_status open_files(
	bool resumes, const struct kwhy_pairs *pairs, struct kwhy_pair_store *store, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	bool had_temperatures = access(store->paths[TEMPERATURES], F_OK) == 0;
	enum kwhy_status status = open_part(store, SAMPLES, error);

	if (!status && !resumes)
		status = begin_samples(pairs, store, error);
	if (!status)
		status = begin_log(pairs, store, error);
	if (!status)
		status = open_part(store, TEMPERATURES, error);
	if (!status && !had_temperatures) {
		kwhy_text_addf(&text, "%s\n", kwhy_pair_reading_row_names);
		status = kwhy_kept_write(
			store->files[TEMPERATURES], store->paths[TEMPERATURES], &text, error);
	}
	return status;
}

static enum kwhy_status prepare(const char *folder, bool resumes, struct kwhy_pairs *pairs,
	struct kwhy_pair_store *store, struct kwhy_error *error)
{
	enum kwhy_status status = resumes ? KWHY_OK : kwhy_kept_folder_make(folder, error);

	for (int i = 0; !status && i < PART_COUNT; i++)
		status = kwhy_kept_path(folder, names[i], store->paths[i], error);
	if (!status && resumes) {
		status = resume(pairs, store, error);
		if (!status)
			status = read_parts(folder, true, pairs, error);
	} else if (!status && access(store->paths[SAMPLES], F_OK) == 0)
		status = kwhy_fail(error, KWHY_E_USAGE,
			"%s is there already; carry on with --resume %s, or name another folder",
			store->paths[SAMPLES], folder);
	return status ? status : open_files(resumes, pairs, store, error);
}

enum kwhy_status kwhy_pair_store_open(const char *folder, bool resumes, struct kwhy_pairs *pairs,
	struct kwhy_pair_store **out, struct kwhy_error *error)
{
	struct kwhy_pair_store *store = calloc(1, sizeof(*store));
	enum kwhy_status status;

	if (!store)
		return kwhy_fail_memory(error, "the folder of samples");
	status = prepare(folder, resumes, pairs, store, error);
	if (status)
		kwhy_pair_store_close(store);
	else
		*out = store;
	return status;
}

enum kwhy_status kwhy_pair_store_add(struct kwhy_pair_store *store, const struct kwhy_pairs *pairs,
	size_t config, size_t from, struct kwhy_error *error)
{
	struct kwhy_text rows = {0}, log = {0};
	enum kwhy_status status;

	for (size_t i = from; i < pairs->configs[config].sample_count; i++) {
		kwhy_pair_row_write(pairs, config, i, &rows);
		add_log_row(pairs, config, i, &log);
	}
	status = kwhy_kept_write(store->files[SAMPLES], store->paths[SAMPLES], &rows, error);
	if (!status)
		return kwhy_kept_write(store->files[LOG], store->paths[LOG], &log, error);
	kwhy_text_done(&log);
	return status;
}

enum kwhy_status kwhy_pair_store_add_reading(
	struct kwhy_pair_store *store, const struct kwhy_pair_reading *reading, struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	kwhy_pair_reading_row_write(reading, &text);
	return kwhy_kept_write(store->files[TEMPERATURES], store->paths[TEMPERATURES], &text, error);
}

/*
 * Opens the file of a part (a part's file is made when its first row is written), unless this process has
 * opened it before. If the file is empty, adds the header line to *out, which the caller then writes.
 */
static enum kwhy_status begin_row(struct kwhy_pair_store *store, enum part part, const char *row_names,
	struct kwhy_text *out, struct kwhy_error *error)
{
	enum kwhy_status status = store->files[part] ? KWHY_OK : open_part(store, part, error);

	if (status)
		return status;
	if (!fseek(store->files[part], 0, SEEK_END) && ftell(store->files[part]) == 0)
		kwhy_text_addf(out, "%s\n", row_names);
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_store_add_energy(
	struct kwhy_pair_store *store, const struct kwhy_pair_energy *energy, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = begin_row(store, ENERGIES, kwhy_pair_energy_row_names, &text, error);

	if (status)
		return status;
	kwhy_pair_energy_row_write(energy, &text);
	return kwhy_kept_write(store->files[ENERGIES], store->paths[ENERGIES], &text, error);
}

enum kwhy_status kwhy_pair_store_add_pinning(
	struct kwhy_pair_store *store, const struct kwhy_pair_pinning *pinning, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = begin_row(store, PINNING, kwhy_pair_pinning_row_names, &text, error);

	if (status)
		return status;
	kwhy_pair_pinning_row_write(pinning, &text);
	return kwhy_kept_write(store->files[PINNING], store->paths[PINNING], &text, error);
}

enum kwhy_status kwhy_pair_store_clocks(
	struct kwhy_pair_store *store, const struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_kept_open(store->paths[CLOCKS], "w", &store->files[CLOCKS], error);

	if (status)
		return status;
	kwhy_text_addf(&text, "%s\n", kwhy_pair_clock_row_names);
	for (uint32_t i = 0; i < pairs->gpu_count; i++)
		kwhy_pair_clock_row_write(pairs, i, &text);
	return kwhy_kept_write(store->files[CLOCKS], store->paths[CLOCKS], &text, error);
}

void kwhy_pair_store_close(struct kwhy_pair_store *store)
{
	if (!store)
		return;
	for (int i = 0; i < PART_COUNT; i++)
		if (store->files[i])
			fclose(store->files[i]);
	free(store);
}

static enum kwhy_status read_folder(const char *folder, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	struct kwhy_text samples = {0};
	char path[KWHY_KEPT_PATH_BYTES];
	enum kwhy_status status = kwhy_kept_path(folder, names[SAMPLES], path, error);

	if (!status)
		status = kwhy_kept_read(path, &samples, error);
	if (!status)
		status = kwhy_pair_rows_read(path, &samples, true, pairs, error);
	pairs->folder = kwhy_arena_copy(&pairs->arena, folder);
	kwhy_text_done(&samples);
	if (!status)
		status = read_parts(folder, false, pairs, error);
	if (!status)
		status = kwhy_kept_path(folder, names[CLOCKS], path, error);
	return status ? status : read_part(path, kwhy_pair_clock_rows_read, false, pairs, error);
}

enum kwhy_status kwhy_pair_store_read(const char *folder, struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct kwhy_pairs *pairs = kwhy_pairs_new();
	char found[KWHY_KEPT_PATH_BYTES];
	enum kwhy_status status = pairs ? KWHY_OK : kwhy_fail_memory(error, "measured pairs");

	if (!status)
		status = read_folder(kwhy_kept_folder_find(folder, found) ? found : folder, pairs, error);
	if (status)
		kwhy_pairs_free(pairs);
	else
		*out = pairs;
	return status;
}

bool kwhy_pair_store_is_one(const char *folder)
{
	char found[KWHY_KEPT_PATH_BYTES], path[KWHY_KEPT_PATH_BYTES], line[64] = "";
	struct kwhy_error error;
	FILE *file = NULL;

	if (kwhy_kept_folder_find(folder, found) && !kwhy_kept_path(found, names[SAMPLES], path, &error))
		file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	return strncmp(line, KWHY_PAIR_ROWS_MARK "\n", sizeof(KWHY_PAIR_ROWS_MARK)) == 0;
}
