/* SPDX-License-Identifier: Apache-2.0 */
#include "mixtures.h"

#include "import/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * Power of each kernel, measured while only this kernel ran, W, by the kernel's name. The row "context_idle"
 * is the idle level with a context.
 */
struct alone {
	char name[64][64];
	double power_w[64];
	size_t count;
};

static enum kwhy_status read_alone(struct alone *alone, const char *path, struct kwhy_error *error)
{
	FILE *file = fopen(path, "r");
	char line[256];

	if (!file)
		return kwhy_fail(error, KWHY_E_IO, "cannot read %s: %m", path);
	while (alone->count < 64 && fgets(line, sizeof(line), file))
		if (sscanf(line, "%63[^,],%lf", alone->name[alone->count], &alone->power_w[alone->count]) ==
			2)
			alone->count++;
	fclose(file);
	return KWHY_OK;
}

static double power_alone_w(const struct alone *alone, const char *name)
{
	for (size_t i = 0; i < alone->count; i++)
		if (!strcmp(alone->name[i], name))
			return alone->power_w[i];
	return NAN;
}

static double overlap_ns(int64_t start_ns, int64_t end_ns, const struct kwhy_device_energy *window)
{
	int64_t from_ns = start_ns > window->start_ns ? start_ns : window->start_ns;
	int64_t to_ns = end_ns < window->end_ns ? end_ns : window->end_ns;

	return to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
}

/*
 * Sets the energies that are taken for the truth in the metered window: each activity draws the power that
 * its kernel drew alone, and each gap draws the idle level.
 */
static enum kwhy_status truth_of(struct kwhy_mixture_truth *truth, const struct kwhy_recording *recording,
	const struct kwhy_ledger *ledger, const struct alone *alone, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;
	const struct kwhy_device_energy *window = &ledger->devices[0].energy;
	double idle_w = power_alone_w(alone, "context_idle");
	int64_t end_ns = rows->count ? rows->start_ns[0] : window->end_ns;

	truth->outside_nj = idle_w * overlap_ns(window->start_ns, end_ns, window);
	for (size_t row = 0; row < rows->count; row++) {
		const char *name = kwhy_names_get(&recording->names, rows->name[row]);
		double power_w = power_alone_w(alone, name);

		if (isnan(power_w) || isnan(idle_w))
			return kwhy_fail(error, KWHY_E_INPUT,
				"truth.csv has no power of \"%s\" or context_idle", name);
		truth->row_nj[row] = power_w * overlap_ns(rows->start_ns[row], rows->end_ns[row], window);
		truth->idle_nj += idle_w * overlap_ns(end_ns, rows->start_ns[row], window);
		if (rows->end_ns[row] > end_ns)
			end_ns = rows->end_ns[row];
	}
	truth->outside_nj += idle_w * overlap_ns(end_ns, window->end_ns, window);
	return KWHY_OK;
}

static void print_score(const struct kwhy_mixture_score *score, const struct mixtures_totals *totals)
{
	const struct kwhy_device_energy *energy = &totals->ledger->devices[0].energy;
	double measured_nj = (double)energy->measured_nj;

	printf("| account | basis | truth, %% | ledger, %% | 90 %% interval, %% | covered | half-width, %% "
	       "|\n"
	       "|---|---|---|---|---|---|---|\n");
	for (size_t i = 0; i < score->row_count; i++) {
		const struct kwhy_mixture_row *row = &score->rows[i];
		const struct kwhy_account *account = row->account;

		printf("| %s | %s | %.2f | %.2f | %.2f-%.2f | %s | %.1f |\n", account->name,
			kwhy_basis_name(account->basis), 100 * row->truth_nj / measured_nj,
			100 * (double)account->gross_nj / measured_nj,
			100 * (double)account->low_nj / measured_nj,
			100 * (double)account->high_nj / measured_nj, row->covered ? "yes" : "no",
			100 * row->half_width_ratio);
	}
	printf("\nwrong share %.2f %%, expected by the ledger %.2f %%; metered/true %.4f\n"
	       "covered %zu of %zu rows, groups %zu of %zu; mean half-width %.1f %%, by energy %.1f %%\n"
	       "counter predicted from the samples alone: %.2f %% rms\n"
	       "idle %.2f W, time constant %.2f ms, delay %.2f ms, %zu readings, %.3f s\n",
		100 * score->wrong_ratio, 100 * score->expected_ratio, score->scale, score->covered_count,
		score->row_count, score->group_covered, score->group_count, 100 * score->half_width_ratio,
		100 * score->weighted_half_ratio, 100 * totals->counter_check_ratio, energy->context_idle_w,
		energy->time_constant_s * 1e3, energy->delay_s * 1e3, energy->reading_count, totals->seconds);
}

static enum kwhy_status score_recording(const struct kwhy_recording *recording, const struct alone *alone,
	const struct kwhy_profile *profile, struct kwhy_error *error)
{
	struct kwhy_mixture_truth truth = {0};
	struct kwhy_mixture_score score;
	struct mixtures_totals totals;
	enum kwhy_status status = mixtures_keep_totals(&totals, recording, profile, error);

	if (status)
		return status;
	truth.row_nj = calloc(recording->activities.count + 1, sizeof(*truth.row_nj));
	status = truth.row_nj ? truth_of(&truth, recording, totals.ledger, alone, error)
			      : kwhy_fail_memory(error, "the truth");
	if (!status)
		status = kwhy_mixture_score_init(&score, recording, totals.ledger, &truth, error);
	if (!status) {
		print_score(&score, &totals);
		kwhy_mixture_score_done(&score);
	}
	free(truth.row_nj);
	kwhy_ledger_free(totals.ledger);
	return status;
}

static enum kwhy_status read_recording(
	struct kwhy_recording *recording, const char *folder, struct kwhy_error *error)
{
	const struct kwhy_import_options options = {0};
	char path[4096];
	enum kwhy_status status;

	snprintf(path, sizeof(path), "%s/activities.csv.zst", folder);
	if (access(path, R_OK) != 0)
		snprintf(path, sizeof(path), "%s/activities.csv", folder);
	status = kwhy_import_trace(recording, path, &options, error);
	snprintf(path, sizeof(path), "%s/power.csv", folder);
	if (!status)
		status = kwhy_import_power(recording, path, &options, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	return status;
}

enum kwhy_status mixtures_real(const struct mixtures_options *options, struct kwhy_error *error)
{
	struct kwhy_recording *recording;
	struct kwhy_profile *profile = NULL;
	struct alone alone = {0};
	char path[4096];
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (status)
		return status;
	snprintf(path, sizeof(path), "%s/truth.csv", options->real_path);
	status = read_alone(&alone, path, error);
	if (!status)
		status = read_recording(recording, options->real_path, error);
	if (!status && options->profile_path)
		status = kwhy_import_profile(options->profile_path, &profile, error);
	if (!status)
		status = score_recording(recording, &alone, profile, error);
	if (profile)
		kwhy_profile_free(profile);
	kwhy_recording_free(recording);
	return status;
}
