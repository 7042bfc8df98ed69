/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/store.h"

#include "bench/kept_rows.h"
#include "bench/transfers/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct kwhy_bench_store {
	FILE *samples, *energy;
	char samples_path[KWHY_KEPT_PATH_BYTES], energy_path[KWHY_KEPT_PATH_BYTES];
};

static void add_list(struct kwhy_text *out, const char *key, const char *const *items, size_t count)
{
	kwhy_text_addf(out, "# %s: ", key);
	for (size_t i = 0; i < count; i++)
		kwhy_text_addf(out, "%s%s", i ? "," : "", items[i]);
	kwhy_text_add(out, count ? "\n" : "default\n");
}

static const char *or_unknown(const char *text)
{
	return text ? text : "unknown";
}

/*
 * Writes the first lines of samples.csv: the settings in which all runs that add samples to the file must
 * agree.
 */
static void write_settings(const struct kwhy_bench_request *request, const struct kwhy_transfers *transfers,
	struct kwhy_text *out)
{
	kwhy_text_add(out, KWHY_BENCH_ROWS_MARK "\n");
	kwhy_text_addf(out, "# backend: %s\n", transfers->backend);
	kwhy_text_addf(out, "# device: %s\n", or_unknown(transfers->device_name));
	kwhy_text_addf(out, "# pci_address: %s\n", or_unknown(transfers->pci_address));
	kwhy_text_addf(out, "# driver: %s\n", or_unknown(transfers->driver));
	kwhy_text_addf(out, "# cuda: %s\n", or_unknown(transfers->cuda));
	kwhy_text_addf(out, "# data: %s\n", transfers->data);
	kwhy_text_addf(out, "# seed: %" PRIu64 "\n", transfers->seed);
	kwhy_text_addf(out, "# sizes: %" PRIu64 " to %" PRIu64 " B, %" PRIu32 " random%s\n",
		request->least_bytes, request->most_bytes, request->random_sizes,
		request->quick ? ", quick" : "");
	kwhy_text_addf(out, "# directions:");
	for (int i = 0; i < KWHY_TRANSFER_DIRECTION_COUNT; i++)
		if (request->directions & KWHY_BENCH_BIT(i))
			kwhy_text_addf(
				out, " %s", kwhy_transfer_direction_name((enum kwhy_transfer_direction)i));
	kwhy_text_add(out, "\n");
	add_list(out, "strategies", request->strategies, request->strategy_count);
}

/*
 * Moves *place from the start of a line to the start of the next one, and returns the length of the line that
 * it has left, without its newline.
 */
static size_t next_line(const char **place)
{
	const char *start = *place, *end = strchr(start, '\n');

	*place = end ? end + 1 : start + strlen(start);
	return (size_t)((end ? end : *place) - start);
}

static enum kwhy_status compare_settings(
	const char *path, const char *found, const char *wanted, struct kwhy_error *error)
{
	while (*wanted) {
		const char *here = found, *there = wanted;
		size_t found_length = next_line(&found), wanted_length = next_line(&wanted);

		if (found_length != wanted_length || memcmp(here, there, found_length) != 0)
			return kwhy_fail(error, KWHY_E_USAGE,
				"%s was begun with other settings ('%.*s', now '%.*s'); give the same "
				"options, or another folder",
				path, (int)(found_length < 120 ? found_length : 120), here,
				(int)(wanted_length < 120 ? wanted_length : 120), there);
	}
	return KWHY_OK;
}

static enum kwhy_status resume_samples(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store *store, struct kwhy_error *error)
{
	struct kwhy_text file = {0}, settings = {0};
	enum kwhy_status status;

	if (access(store->samples_path, F_OK))
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s is not there: nothing was begun in this folder; name the one that --save made",
			store->samples_path);
	write_settings(request, transfers, &settings);
	status = kwhy_text_check(&settings, error);
	if (!status)
		status = kwhy_kept_read(store->samples_path, &file, error);
	if (!status)
		status = compare_settings(
			store->samples_path, file.data ? file.data : "", settings.data, error);
	if (!status)
		status = kwhy_bench_rows_read(store->samples_path, &file, false, transfers, error);
	if (!status)
		status = kwhy_kept_cut(store->samples_path, &file, error);
	if (!status)
		status = kwhy_kept_open(store->samples_path, "a", &store->samples, error);
	kwhy_text_done(&file);
	kwhy_text_done(&settings);
	return status;
}

static enum kwhy_status resume_energy(
	struct kwhy_transfers *transfers, struct kwhy_bench_store *store, struct kwhy_error *error)
{
	struct kwhy_text file = {0};
	enum kwhy_status status;

	if (access(store->energy_path, F_OK))
		return KWHY_OK;
	status = kwhy_kept_read(store->energy_path, &file, error);
	if (!status)
		status = kwhy_bench_energy_rows_read(store->energy_path, &file, transfers, error);
	if (!status)
		status = kwhy_kept_cut(store->energy_path, &file, error);
	if (!status)
		status = kwhy_kept_open(store->energy_path, "a", &store->energy, error);
	kwhy_text_done(&file);
	return status;
}

static enum kwhy_status begin_samples(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store *store, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status;

	if (access(store->samples_path, F_OK) == 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s is there already; carry on with --resume, or name another folder",
			store->samples_path);
	status = kwhy_kept_open(store->samples_path, "w", &store->samples, error);
	if (status)
		return status;
	write_settings(request, transfers, &text);
	kwhy_text_addf(&text, "# begun: %s\n%s\n", or_unknown(transfers->measured_on), kwhy_bench_row_names);
	return kwhy_kept_write(store->samples, store->samples_path, &text, error);
}

enum kwhy_status kwhy_bench_store_open(const struct kwhy_bench_request *request,
	struct kwhy_transfers *transfers, struct kwhy_bench_store **out, struct kwhy_error *error)
{
	struct kwhy_bench_store *store = calloc(1, sizeof(*store));
	enum kwhy_status status = store ? KWHY_OK : kwhy_fail_memory(error, "the folder of samples");

	if (!status)
		status = kwhy_kept_path(request->folder, "samples.csv", store->samples_path, error);
	if (!status)
		status = kwhy_kept_path(request->folder, "energy.csv", store->energy_path, error);
	if (!status && !request->resume)
		status = kwhy_kept_folder_make(request->folder, error);
	if (!status)
		status = request->resume ? resume_samples(request, transfers, store, error)
					 : begin_samples(request, transfers, store, error);
	if (!status && request->resume)
		status = resume_energy(transfers, store, error);
	if (status)
		kwhy_bench_store_close(store);
	else
		*out = store;
	return status;
}

enum kwhy_status kwhy_bench_store_add(struct kwhy_bench_store *store, const struct kwhy_transfer_point *point,
	size_t from, struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	for (size_t i = from; i < point->sample_count; i++)
		kwhy_bench_row_write(point, i, &text);
	if (from == point->sample_count)
		return KWHY_OK;
	return kwhy_kept_write(store->samples, store->samples_path, &text, error);
}

enum kwhy_status kwhy_bench_store_add_energy(
	struct kwhy_bench_store *store, const struct kwhy_transfer_energy *energy, struct kwhy_error *error)
{
	struct kwhy_text text = {0};

	if (!store->energy) {
		enum kwhy_status status = kwhy_kept_open(store->energy_path, "w", &store->energy, error);

		if (status)
			return status;
		kwhy_text_addf(&text, "%s\n", kwhy_bench_energy_row_names);
	}
	kwhy_bench_energy_row_write(energy, &text);
	return kwhy_kept_write(store->energy, store->energy_path, &text, error);
}

void kwhy_bench_store_close(struct kwhy_bench_store *store)
{
	if (!store)
		return;
	if (store->samples)
		fclose(store->samples);
	if (store->energy)
		fclose(store->energy);
	free(store);
}

static enum kwhy_status read_folder(
	const char *folder, struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct kwhy_text samples = {0}, energy = {0};
	char path[KWHY_KEPT_PATH_BYTES];
	enum kwhy_status status = kwhy_kept_path(folder, "samples.csv", path, error);

	if (!status)
		status = kwhy_kept_read(path, &samples, error);
	if (!status)
		status = kwhy_bench_rows_read(path, &samples, true, transfers, error);
	if (!status)
		status = kwhy_kept_path(folder, "energy.csv", path, error);
	if (!status && access(path, F_OK) == 0) {
		status = kwhy_kept_read(path, &energy, error);
		if (!status)
			status = kwhy_bench_energy_rows_read(path, &energy, transfers, error);
	}
	kwhy_text_done(&samples);
	kwhy_text_done(&energy);
	return status;
}

enum kwhy_status kwhy_bench_store_read(
	const char *folder, struct kwhy_transfers **out, struct kwhy_error *error)
{
	struct kwhy_transfers *transfers = kwhy_transfers_new();
	enum kwhy_status status = transfers ? read_folder(folder, transfers, error)
					    : kwhy_fail_memory(error, "measured transfers");

	if (status)
		kwhy_transfers_free(transfers);
	else
		*out = transfers;
	return status;
}
