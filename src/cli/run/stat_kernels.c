/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/stat_kernels.h"

#include "base/temporary.h"
#include "cli/recordings/job.h"
#include "cli/run/record_job.h"
#include "import/import.h"
#include "import/own_result.h"
#include "record/folder.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum kwhy_status kwhy_stat_kernels_check(const struct kwhy_strings *powers, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < powers->count; i++) {
		struct kwhy_learnt_powers *read = NULL;

		if (access(powers->items[i], R_OK) != 0)
			return kwhy_fail(error, KWHY_E_IO,
				"--powers %.400s cannot be read: %s; check the path and its permissions",
				powers->items[i], strerror(errno));
		if (kwhy_own_result_is(powers->items[i], "powers"))
			status = kwhy_import_powers(powers->items[i], &read, error);
		kwhy_learnt_powers_free(read);
	}
	return status;
}

/* An energy or a time, given in nJ or ns, in J or s; NAN if it is unknown. */
static double known(int64_t nano)
{
	return nano == KWHY_UNKNOWN_NJ ? NAN : (double)nano * 1e-9;
}

static int compare_kernels(const void *a, const void *b)
{
	const struct kwhy_stat_kernel *left = a, *right = b;

	if (left->joules != right->joules && !(isnan(left->joules) && isnan(right->joules)))
		return isnan(right->joules) || left->joules > right->joules ? -1 : 1;
	return strcmp(left->name, right->name);
}

/* Adds to stat->recorded the accounts of one device that are kernels, collectives, copies or memsets. */
static enum kwhy_status add_device(
	struct kwhy_stat *stat, const struct kwhy_device_ledger *device, struct kwhy_error *error)
{
	struct kwhy_stat_recorded *recorded = &stat->recorded;

	for (size_t i = 0; i < device->account_count; i++) {
		const struct kwhy_account *account = &device->accounts[i];
		struct kwhy_stat_kernel *kernel = &recorded->kernels[recorded->kernel_count];

		if (account->category > KWHY_CATEGORY_MEMSET)
			continue;
		*kernel = (struct kwhy_stat_kernel){
			.name = kwhy_arena_copy(&stat->arena, account->name),
			.category = kwhy_category_name(account->category),
			.basis = kwhy_basis_name(account->basis),
			.count = account->count,
			.seconds = (double)account->time_ns * 1e-9,
			.joules = known(account->gross_nj),
			.low_j = known(account->low_nj),
			.high_j = known(account->high_nj),
		};
		if (!kernel->name)
			return kwhy_fail_memory(error, "the recorded run");
		recorded->kernel_count++;
	}
	return KWHY_OK;
}

static enum kwhy_status take(
	struct kwhy_stat *stat, const struct kwhy_analysis *analysis, struct kwhy_error *error)
{
	const struct kwhy_ledger *ledger = analysis->ledger;
	struct kwhy_run_info run = {.size = sizeof(run)};
	size_t most = 0;
	enum kwhy_status status = KWHY_OK;

	for (size_t d = 0; d < ledger->device_count; d++)
		most += ledger->devices[d].account_count;
	stat->recorded = (struct kwhy_stat_recorded){
		.is_made = true, .seconds = NAN, .joules = NAN, .low_j = NAN, .high_j = NAN};
	stat->recorded.kernels = kwhy_arena_alloc(&stat->arena, most + 1, sizeof(*stat->recorded.kernels));
	if (!stat->recorded.kernels)
		return kwhy_fail_memory(error, "the recorded run");
	for (size_t d = 0; !status && d < ledger->device_count; d++)
		status = add_device(stat, &ledger->devices[d], error);
	qsort(stat->recorded.kernels, stat->recorded.kernel_count, sizeof(*stat->recorded.kernels),
		compare_kernels);
	if (!kwhy_analysis_run(analysis, &run)) {
		stat->recorded.seconds = known(run.time_ns);
		stat->recorded.joules = known(run.energy_nj);
		stat->recorded.low_j = known(run.low_nj);
		stat->recorded.high_j = known(run.high_nj);
	}
	return status;
}

/*
 * Analyses the recording at `path` with the powers from the files of --powers, and stores the results in
 * stat->recorded.
 */
static enum kwhy_status evaluate(const struct kwhy_stat_kernels_request *request, const char *path,
	struct kwhy_stat *stat, struct kwhy_error *error)
{
	char *const traces[] = {(char *)path};
	struct kwhy_job_options options = {0};
	struct kwhy_analysis *analysis;
	enum kwhy_status status;

	kwhy_job_options_init(&options);
	options.powers = *request->powers;
	options.quiet = true;
	status = kwhy_job_open(&analysis, &options, traces, 1, &options.power, NULL, error);
	if (status)
		return status;
	status = take(stat, analysis, error);
	kwhy_analysis_close(analysis);
	return status;
}

static enum kwhy_status record(const struct kwhy_stat_kernels_request *request, const char *path,
	struct kwhy_stat *stat, int *out_exit, struct kwhy_error *error)
{
	struct kwhy_record_options options = {.output = path,
		.devices = request->devices,
		.replay = request->replay,
		.meters = *request->meters,
		.no_lines = true,
		.quiet = true};
	enum kwhy_exit end = KWHY_EXIT_DONE;
	enum kwhy_status status;

	kwhy_record_options_init(&options);
	status = kwhy_record_job_run(&options, request->operands, &end, error);
	if (!status)
		*out_exit = (int)end;
	return status ? status : evaluate(request, path, stat, error);
}

enum kwhy_status kwhy_stat_kernels_record(const struct kwhy_stat_kernels_request *request,
	struct kwhy_stat *stat, int *out_exit, struct kwhy_error *error)
{
	char folder[KWHY_TEMPORARY_BYTES], path[KWHY_TEMPORARY_BYTES + 16];
	struct kwhy_error ignored = {0};
	enum kwhy_status status = kwhy_temporary_folder_make(folder, "stat", "a recording", error);

	if (status)
		return status;
	snprintf(path, sizeof(path), "%s/run.kwhy", folder);
	status = record(request, path, stat, out_exit, error);
	if (kwhy_record_folder_delete(path, &ignored))
		(void)ignored;
	rmdir(folder);
	return status;
}
