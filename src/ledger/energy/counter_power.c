/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/counter_power.h"

#include "base/column.h"

#include <math.h>
#include <stdlib.h>

/*
 * Largest number of accounts with a fitted power of their own: those with the most time. All other accounts
 * share one fitted power.
 */
enum { COLUMNS_MAX = 256 };

/* Largest number of samples in the fit. Of more samples, every n-th is used. */
enum { SAMPLES_MAX = 200000 };

/*
 * Stopping rule of the coordinate descent: the largest number of rounds, and the largest change of a power in
 * the last round, as a share of the largest power.
 */
enum { ROUNDS_MAX = 2000 };
#define CHANGE_MIN 1e-7

/*
 * Largest standard error of an account's power above idle, as a share of that power. A less certain power
 * gives no prior.
 */
#define UNSURE 0.5

/* Largest power in W that a GPU can draw. Samples above it are left out. */
#define POWER_MAX_W 1e4

/*
 * What one activity of a column adds, from sample number `sample` on: time_ns to the column's time in this
 * sample alone, and `open` (1, 0 or -1) to the number of the column's activities that cover this sample, and
 * each later one, from its start to its end.
 */
struct share {
	uint32_t sample, column;
	int32_t open;
	double time_ns;
};

/*
 * A sample of the device's performance counters. energy_j is the energy that the counter model gives for its
 * counts, without the base power.
 */
struct sample {
	int64_t start_ns, end_ns;
	double energy_j;
	uint32_t number; /* index in perf_samples of the recording */
};

/* An account and its time, to choose those with the most time. */
struct candidate {
	int64_t time_ns;
	uint32_t account;
};

/* The samples of one device and how the accounts' activities lie in them. */
struct division {
	struct sample *samples; /* in order of time */
	size_t sample_count;
	uint32_t *column_of; /* [account_count] column of each account in the fit, which has one power per
				column */
	size_t column_count;
	struct share *shares; /* sum_samples() sorts them by sample */
	size_t share_count, share_capacity;
	double *normal;	   /* [column_count][column_count] sums of products of times, in ns^2 */
	double *energies;  /* [column_count] sums of products of time and energy, in ns J */
	double *powers;	   /* [column_count] in J/ns */
	double *times_ns;  /* [column_count] time of each column in the current sample */
	int64_t *open;	   /* [column_count] activities that cover the current sample wholly */
	uint32_t *present; /* [column_count] the columns with time in the current sample */
	double squares;	   /* sum of the squared energies of the samples, in J^2 */
	size_t used;	   /* number of samples in which something ran */
};

static void division_done(struct division *division)
{
	free(division->samples);
	free(division->column_of);
	free(division->shares);
	free(division->normal);
	free(division->energies);
	free(division->powers);
	free(division->times_ns);
	free(division->open);
	free(division->present);
}

/* Energy of the counts of a sample, in J, without the base power. */
static double energy_of(const struct kwhy_perf_sample *sample, const struct kwhy_counter_model *model)
{
	double energy_j = 0;

	for (unsigned i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		energy_j += model->joules[i] * (double)sample->counts[i];
	return energy_j;
}

/*
 * Whether a sample's power is at most POWER_MAX_W. Wrong counts, such as those of a damaged file, would
 * outweigh all other samples in the fit.
 */
static bool is_possible(const struct sample *sample)
{
	return sample->energy_j <= POWER_MAX_W * 1e-9 * (double)(sample->end_ns - sample->start_ns);
}

static void thin_samples(struct division *division)
{
	const size_t step = (division->sample_count + SAMPLES_MAX - 1) / SAMPLES_MAX;

	if (step < 2)
		return;
	for (size_t i = 0; i * step < division->sample_count; i++)
		division->samples[i] = division->samples[i * step];
	division->sample_count = (division->sample_count + step - 1) / step;
}

/* Orders samples by start; samples with equal starts are ordered as in the recording. */
static int compare_starts(const void *a, const void *b)
{
	const struct sample *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	return (left->number > right->number) - (left->number < right->number);
}

/* Drops each sample that begins before the end of the last sample kept. */
static void leave_out_overlaps(struct division *division)
{
	size_t kept = 0;

	for (size_t i = 0; i < division->sample_count; i++)
		if (!kept || division->samples[i].start_ns >= division->samples[kept - 1].end_ns)
			division->samples[kept++] = division->samples[i];
	division->sample_count = kept;
}

/*
 * Copies the samples of the device, without impossible and overlapping ones, and at most SAMPLES_MAX. They
 * must be sorted only if two recorders ran at the same time, or if a file is damaged.
 */
static enum kwhy_status keep_samples(struct division *division, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_counter_model *model, struct kwhy_error *error)
{
	bool is_ordered = true;

	division->samples = malloc((recording->perf_sample_count + 1) * sizeof(*division->samples));
	if (!division->samples)
		return kwhy_fail_memory(error, "performance counters");
	for (size_t i = 0; i < recording->perf_sample_count; i++) {
		const struct kwhy_perf_sample *row = &recording->perf_samples[i];
		const size_t count = division->sample_count;
		const struct sample sample = {
			row->start_ns, row->start_ns + row->length_ns, energy_of(row, model), (uint32_t)i};

		if (row->device != device || !is_possible(&sample))
			continue;
		is_ordered &= !count || sample.start_ns >= division->samples[count - 1].start_ns;
		division->samples[division->sample_count++] = sample;
	}
	if (!is_ordered)
		qsort(division->samples, division->sample_count, sizeof(*division->samples), compare_starts);
	leave_out_overlaps(division);
	thin_samples(division);
	return KWHY_OK;
}

static int compare_times(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns > right->time_ns ? -1 : 1;
	return (left->account > right->account) - (left->account < right->account);
}

/*
 * Gives each account its column of the fit. The COLUMNS_MAX accounts with the most time get a column each;
 * all other accounts, if there are any, share one more column, the last. Also allocates the arrays of the
 * fit.
 */
static enum kwhy_status choose_columns(
	struct division *division, const struct kwhy_device_ledger *device_ledger, struct kwhy_error *error)
{
	const size_t count = device_ledger->account_count, own = count < COLUMNS_MAX ? count : COLUMNS_MAX;
	struct candidate *order = malloc((count + 1) * sizeof(*order));

	division->column_count = own + (count > own);
	division->column_of = malloc((count + 1) * sizeof(*division->column_of));
	division->normal = calloc(
		division->column_count * division->column_count + 1, sizeof(*division->normal));
	division->energies = calloc(division->column_count + 1, sizeof(*division->energies));
	division->powers = calloc(division->column_count + 1, sizeof(*division->powers));
	division->times_ns = calloc(division->column_count + 1, sizeof(*division->times_ns));
	division->open = calloc(division->column_count + 1, sizeof(*division->open));
	division->present = calloc(division->column_count + 1, sizeof(*division->present));
	if (!order || !division->column_of || !division->normal || !division->energies || !division->powers ||
		!division->times_ns || !division->open || !division->present) {
		free(order);
		return kwhy_fail_memory(error, "performance counters");
	}
	for (size_t i = 0; i < count; i++)
		order[i] = (struct candidate){device_ledger->accounts[i].time_ns, (uint32_t)i};
	qsort(order, count, sizeof(*order), compare_times);
	for (size_t i = 0; i < count; i++)
		division->column_of[order[i].account] = (uint32_t)(i < own ? i : own);
	free(order);
	return KWHY_OK;
}

static enum kwhy_status add_share(
	struct division *division, size_t sample, const struct share *share, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (sample >= division->sample_count)
		return KWHY_OK;
	status = kwhy_column_reserve((void **)&division->shares, &division->share_capacity,
		division->share_count + 1, sizeof(*division->shares), "performance counters", error);
	if (status)
		return status;
	division->shares[division->share_count] = *share;
	division->shares[division->share_count++].sample = (uint32_t)sample;
	return KWHY_OK;
}

/* Index of the first sample that ends after a time. */
static size_t sample_after(const struct division *division, int64_t time_ns)
{
	size_t low = 0, high = division->sample_count;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (division->samples[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Time in ns that an activity ran in a sample. */
static double time_in(const struct sample *sample, int64_t start_ns, int64_t end_ns)
{
	const int64_t from_ns = start_ns > sample->start_ns ? start_ns : sample->start_ns,
		      until_ns = end_ns < sample->end_ns ? end_ns : sample->end_ns;

	return until_ns > from_ns ? (double)(until_ns - from_ns) : 0;
}

/*
 * Adds the part of an activity that lies in one sample. `sample` may be sample_count (none), which adds
 * nothing.
 */
static enum kwhy_status share_sample(struct division *division, size_t sample, int64_t start_ns,
	int64_t end_ns, uint32_t column, struct kwhy_error *error)
{
	struct share share = {.column = column};

	if (sample >= division->sample_count)
		return KWHY_OK;
	share.time_ns = time_in(&division->samples[sample], start_ns, end_ns);
	return add_share(division, sample, &share, error);
}

/*
 * Adds an activity: its time in the first and in the last sample that it overlaps, and 1 to `open` for all
 * samples between those two, which it covers from start to end.
 */
static enum kwhy_status share_activity(struct division *division, int64_t start_ns, int64_t end_ns,
	uint32_t column, struct kwhy_error *error)
{
	const size_t first = sample_after(division, start_ns), last = sample_after(division, end_ns);
	const struct share opens = {.column = column, .open = 1}, closes = {.column = column, .open = -1};
	enum kwhy_status status = share_sample(division, first, start_ns, end_ns, column, error);

	if (!status && last > first)
		status = share_sample(division, last, start_ns, end_ns, column, error);
	if (status || last <= first + 1)
		return status;
	status = add_share(division, first + 1, &opens, error);
	return status ? status : add_share(division, last, &closes, error);
}

static enum kwhy_status share_activities(struct division *division, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_device_ledger *device_ledger, struct kwhy_error *error)
{
	const struct kwhy_activities *rows = &recording->activities;
	const size_t first = rows->first[device];
	enum kwhy_status status = KWHY_OK;

	for (size_t i = first; !status && i < rows->first[device + 1]; i++)
		status = share_activity(division, rows->start_ns[i], rows->end_ns[i],
			division->column_of[device_ledger->account_of[i - first]], error);
	return status;
}

static int compare_shares(const void *a, const void *b)
{
	const struct share *left = a, *right = b;

	return (left->sample > right->sample) - (left->sample < right->sample);
}

/*
 * Adds a sample to the sums of the least-squares fit (normal, energies, squares); times_ns has each column's
 * time in the sample. A sample in which nothing ran is left out.
 */
static void add_sample(struct division *division, double energy_j)
{
	const double *times_ns = division->times_ns;
	size_t count = 0;

	for (uint32_t i = 0; i < division->column_count; i++)
		if (times_ns[i] > 0)
			division->present[count++] = i;
	if (!count)
		return;
	division->used++;
	division->squares += energy_j * energy_j;
	for (size_t i = 0; i < count; i++) {
		const uint32_t column = division->present[i];
		double *row = division->normal + column * division->column_count;

		division->energies[column] += times_ns[column] * energy_j;
		for (size_t j = 0; j < count; j++)
			row[division->present[j]] += times_ns[column] * times_ns[division->present[j]];
	}
}

static void sum_samples(struct division *division)
{
	size_t share = 0;

	qsort(division->shares, division->share_count, sizeof(*division->shares), compare_shares);
	for (size_t i = 0; i < division->sample_count; i++) {
		const struct sample *sample = &division->samples[i];
		const size_t first = share;

		while (share < division->share_count && division->shares[share].sample == i) {
			division->open[division->shares[share].column] += division->shares[share].open;
			share++;
		}
		for (size_t c = 0; c < division->column_count; c++)
			division->times_ns[c] = (double)division->open[c] *
				(double)(sample->end_ns - sample->start_ns);
		for (size_t k = first; k < share; k++)
			division->times_ns[division->shares[k].column] += division->shares[k].time_ns;
		add_sample(division, sample->energy_j);
	}
}

/*
 * Finds the powers with the smallest squared errors, none below 0, by coordinate descent: each round solves
 * for one power after the other while the rest stay fixed.
 */
static void descend(struct division *division)
{
	const size_t count = division->column_count;
	double change = 1, largest = 0;

	for (size_t round = 0; round < ROUNDS_MAX && change > CHANGE_MIN * largest; round++) {
		change = largest = 0;
		for (size_t i = 0; i < count; i++) {
			const double *row = division->normal + i * count;
			double rest = division->energies[i], power;

			if (!(row[i] > 0))
				continue;
			for (size_t j = 0; j < count; j++)
				rest -= j == i ? 0 : row[j] * division->powers[j];
			power = fmax(0, rest / row[i]);
			change = fmax(change, fabs(power - division->powers[i]));
			largest = fmax(largest, power);
			division->powers[i] = power;
		}
	}
}

/* Mean of the squared errors of the samples' energies, in J^2. */
static double error_of(const struct division *division)
{
	const size_t count = division->column_count;
	double squares = division->squares;

	for (size_t i = 0; i < count; i++) {
		squares -= 2 * division->powers[i] * division->energies[i];
		for (size_t j = 0; j < count; j++)
			squares += division->powers[i] * division->powers[j] *
				division->normal[i * count + j];
	}
	return fmax(0, squares) / (double)division->used;
}

/*
 * Replaces the lower triangle of the normal matrix by its Cholesky factor. A column without time, or one that
 * is a linear combination of earlier columns, gets 0 on the diagonal.
 */
static void factor(double *matrix, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const double full = matrix[i * count + i];

		for (size_t j = 0; j <= i; j++) {
			double sum = matrix[i * count + j];

			for (size_t k = 0; k < j; k++)
				sum -= matrix[i * count + k] * matrix[j * count + k];
			if (i == j)
				matrix[i * count + i] = sum > 1e-10 * full ? sqrt(sum) : 0;
			else
				matrix[i * count + j] = matrix[j * count + j] > 0
					? sum / matrix[j * count + j]
					: 0;
		}
	}
}

/*
 * Variance of a column's fitted power if the errors of the samples' energies have variance 1. INFINITY: the
 * samples do not determine that power.
 */
static double variance_of(const double *factor, size_t count, size_t column, double *scratch)
{
	double variance = 0;

	for (size_t i = column; i < count; i++) {
		double sum = i == column;

		for (size_t k = column; k < i; k++)
			sum -= factor[i * count + k] * scratch[k];
		if (!(factor[i * count + i] > 0)) {
			if (i == column)
				return INFINITY;
			scratch[i] = 0;
			continue;
		}
		scratch[i] = sum / factor[i * count + i];
		variance += scratch[i] * scratch[i];
	}
	return variance;
}

static enum kwhy_status write_priors(struct division *division,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_counter_model *model,
	struct kwhy_counter_prior *out_priors, struct kwhy_error *error)
{
	const double error_j2 = error_of(division);
	double *scratch = malloc((division->column_count + 1) * sizeof(*scratch));

	if (!scratch)
		return kwhy_fail_memory(error, "performance counters");
	factor(division->normal, division->column_count);
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const uint32_t column = division->column_of[i];
		const double above_w = model->base_w + 1e9 * division->powers[column],
			     sd_w = 1e9 *
			sqrt(error_j2 *
				variance_of(division->normal, division->column_count, column, scratch));

		if (device_ledger->accounts[i].category != KWHY_CATEGORY_COMPUTE || column == COLUMNS_MAX ||
			!(sd_w < UNSURE * above_w))
			continue;
		out_priors[i] = (struct kwhy_counter_prior){above_w, hypot(model->spread, sd_w / above_w)};
	}
	free(scratch);
	return KWHY_OK;
}

enum kwhy_status kwhy_counter_priors_find(const struct kwhy_recording *recording, uint32_t device,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_profile *profile,
	struct kwhy_counter_prior *out_priors, struct kwhy_error *error)
{
	struct division division = {0};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		out_priors[i] = (struct kwhy_counter_prior){NAN, NAN};
	if (!profile || !(profile->counter_model.spread > 0))
		return KWHY_OK;
	status = keep_samples(&division, recording, device, &profile->counter_model, error);
	if (!status && division.sample_count)
		status = choose_columns(&division, device_ledger, error);
	if (!status && division.sample_count)
		status = share_activities(&division, recording, device, device_ledger, error);
	if (!status && division.share_count) {
		sum_samples(&division);
		descend(&division);
		status = write_priors(&division, device_ledger, &profile->counter_model, out_priors, error);
	}
	division_done(&division);
	return status;
}
