/* SPDX-License-Identifier: Apache-2.0 */
#include "mixtures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Figures of each mixture (seed); the table shows quantiles over the seeds. */
enum figure {
	FIGURE_WRONG,
	FIGURE_WRONG_ALONE,
	FIGURE_EXPECTED,
	FIGURE_WRONG_OVER_EXPECTED,
	FIGURE_HALF_WIDTH,
	FIGURE_WEIGHTED_HALF,
	FIGURE_COVERED_ENERGY,
	FIGURE_COUNTER_CHECK,
	FIGURE_SECONDS,
	FIGURE_COUNT
};

/* The results of all seeds of one schedule. */
struct tally {
	double *figures[FIGURE_COUNT]; /* one value for each seed */
	size_t seed_count;
	size_t rows, covered, basis_count[KWHY_BASIS_COUNT], basis_covered[KWHY_BASIS_COUNT];
	size_t groups, groups_covered, alone_covered;
};

static void tally_done(struct tally *tally)
{
	for (int f = 0; f < FIGURE_COUNT; f++)
		free(tally->figures[f]);
}

static enum kwhy_status tally_init(struct tally *tally, uint64_t seeds, struct kwhy_error *error)
{
	*tally = (struct tally){0};
	for (int f = 0; f < FIGURE_COUNT; f++) {
		tally->figures[f] = calloc(seeds, sizeof(double));
		if (!tally->figures[f]) {
			tally_done(tally);
			return kwhy_fail_memory(error, "the table");
		}
	}
	return KWHY_OK;
}

/*
 * Adds the results of one seed. score: compares the ledger with the true energies; alone: compares
 * it with the energies that follow from the power of each kind of work while it runs alone.
 */
static void tally_add(struct tally *tally, const struct kwhy_mixture_score *score,
	const struct kwhy_mixture_score *alone, const struct mixtures_totals *totals)
{
	const double figures[FIGURE_COUNT] = {
		[FIGURE_WRONG] = score->wrong_ratio,
		[FIGURE_WRONG_ALONE] = alone->wrong_ratio,
		[FIGURE_EXPECTED] = score->expected_ratio,
		[FIGURE_WRONG_OVER_EXPECTED] = score->wrong_ratio / score->expected_ratio,
		[FIGURE_HALF_WIDTH] = score->half_width_ratio,
		[FIGURE_WEIGHTED_HALF] = score->weighted_half_ratio,
		[FIGURE_COVERED_ENERGY] = score->covered_energy_ratio,
		[FIGURE_COUNTER_CHECK] = totals->counter_check_ratio,
		[FIGURE_SECONDS] = totals->seconds,
	};

	for (int f = 0; f < FIGURE_COUNT; f++)
		tally->figures[f][tally->seed_count] = figures[f];
	tally->seed_count++;
	tally->rows += score->row_count;
	tally->covered += score->covered_count;
	tally->alone_covered += alone->covered_count;
	tally->groups += score->group_count;
	tally->groups_covered += score->group_covered;
	for (int b = 0; b < KWHY_BASIS_COUNT; b++) {
		tally->basis_count[b] += score->basis_count[b];
		tally->basis_covered[b] += score->basis_covered[b];
	}
}

/*
 * Writes a CSV row for each account, with its true energy by both scores (see tally_add()), which have the
 * same accounts in the same order.
 */
static void write_rows(FILE *csv, const struct kwhy_mixture_score *score,
	const struct kwhy_mixture_score *alone, const struct kwhy_ledger *ledger,
	const struct kwhy_mixture_options *options)
{
	for (size_t i = 0; csv && i < score->row_count; i++) {
		const struct kwhy_mixture_row *row = &score->rows[i];
		const struct kwhy_account *account = row->account;

		fprintf(csv, "%s,%llu,%s,%s,%s,%d,%lld,%.0f,%.0f,%lld,%lld,%lld,%lld,%.6f,%.6f\n",
			kwhy_mixture_schedule_name(options->schedule), (unsigned long long)options->seed,
			account->name, kwhy_category_name(account->category), kwhy_basis_name(account->basis),
			account->group == KWHY_NONE ? -1 : (int)account->group, (long long)account->time_ns,
			row->truth_nj, alone->rows[i].truth_nj, (long long)account->gross_nj,
			(long long)account->low_nj, (long long)account->high_nj,
			(long long)ledger->devices[0].energy.measured_nj, score->wrong_ratio,
			score->expected_ratio);
	}
}

static enum kwhy_status score_against(struct kwhy_mixture_score *score, const struct kwhy_mixture *mixture,
	const struct kwhy_ledger *ledger, bool alone, struct kwhy_error *error)
{
	const struct kwhy_device_energy *energy = &ledger->devices[0].energy;
	struct kwhy_mixture_truth truth = {.alone = alone};
	enum kwhy_status status;
	int64_t lag_ns;

	truth.row_nj = calloc(mixture->work_count + 1, sizeof(*truth.row_nj));
	if (!truth.row_nj)
		return kwhy_fail_memory(error, "the truth");
	/*
	 * readings show the power of an earlier time: they lag by the meter's delay and time constant, so the
	 * truth is that of an earlier interval
	 */
	lag_ns = llround(1e9 * (energy->delay_s + energy->time_constant_s));
	kwhy_mixture_truth_sum(mixture, energy->start_ns - lag_ns, energy->end_ns - lag_ns, &truth);
	status = kwhy_mixture_score_init(score, mixture->recording, ledger, &truth, error);
	free(truth.row_nj);
	return status;
}

static enum kwhy_status judge_totals(struct tally *tally, const struct kwhy_mixture *mixture,
	const struct kwhy_mixture_options *options, const struct kwhy_profile *profile, FILE *csv,
	struct kwhy_error *error)
{
	struct kwhy_mixture_score score = {0}, alone = {0};
	struct mixtures_totals totals;
	enum kwhy_status status = mixtures_keep_totals(&totals, mixture->recording, profile, error);

	if (status)
		return status;
	status = score_against(&score, mixture, totals.ledger, false, error);
	if (!status)
		status = score_against(&alone, mixture, totals.ledger, true, error);
	if (!status) {
		tally_add(tally, &score, &alone, &totals);
		write_rows(csv, &score, &alone, totals.ledger, options);
	}
	kwhy_mixture_score_done(&score);
	kwhy_mixture_score_done(&alone);
	kwhy_ledger_free(totals.ledger);
	return status;
}

static enum kwhy_status judge_seed(struct tally *tally, const struct kwhy_mixture_options *options,
	bool without_profile, FILE *csv, struct kwhy_error *error)
{
	struct kwhy_mixture mixture;
	enum kwhy_status status = kwhy_mixture_init(&mixture, options, error);

	if (status)
		return status;
	status = judge_totals(
		tally, &mixture, options, without_profile ? NULL : &mixture.profile, csv, error);
	kwhy_mixture_done(&mixture);
	return status;
}

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Returns a quantile of a figure over the seeds; NAN: no seed has the figure. */
static double quantile(const struct tally *tally, enum figure figure, double share)
{
	double *values = tally->figures[figure];
	size_t count = 0;

	for (size_t i = 0; i < tally->seed_count; i++)
		if (!isnan(values[i]))
			values[count++] = values[i];
	for (size_t i = count; i < tally->seed_count; i++)
		values[i] = NAN;
	if (!count)
		return NAN;
	qsort(values, count, sizeof(*values), compare_doubles);
	return values[(size_t)(share * (double)(count - 1) + 0.5)];
}

static double mean(const struct tally *tally, enum figure figure)
{
	double sum = 0;

	for (size_t i = 0; i < tally->seed_count; i++)
		sum += tally->figures[figure][i];
	return sum / (double)tally->seed_count;
}

static void print_share(size_t part, size_t whole)
{
	if (whole)
		printf(" %.1f (%zu) |", 100 * (double)part / (double)whole, whole);
	else
		printf(" |");
}

static void print_head(void)
{
	printf("| schedule | wrong share, %%: median | 90th | worst | expected | actual/expected | covered, "
	       "%% "
	       "(rows) | data | prior | joint | groups | of energy | alone: wrong | covered | half-width, %% "
	       "| by energy | counter "
	       "rms, %% "
	       "| s a ledger |\n"
	       "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n");
}

static void print_line(const char *name, struct tally *tally)
{
	printf("| %s |", name);
	printf(" %.2f |", 100 * quantile(tally, FIGURE_WRONG, 0.5));
	printf(" %.2f |", 100 * quantile(tally, FIGURE_WRONG, 0.9));
	printf(" %.2f |", 100 * quantile(tally, FIGURE_WRONG, 1));
	printf(" %.2f |", 100 * quantile(tally, FIGURE_EXPECTED, 0.5));
	printf(" %.2f |", quantile(tally, FIGURE_WRONG_OVER_EXPECTED, 0.5));
	print_share(tally->covered, tally->rows);
	print_share(tally->basis_covered[KWHY_BASIS_DATA], tally->basis_count[KWHY_BASIS_DATA]);
	print_share(tally->basis_covered[KWHY_BASIS_ASSUMED], tally->basis_count[KWHY_BASIS_ASSUMED]);
	print_share(tally->basis_covered[KWHY_BASIS_GROUPED], tally->basis_count[KWHY_BASIS_GROUPED]);
	print_share(tally->groups_covered, tally->groups);
	printf(" %.1f |", 100 * mean(tally, FIGURE_COVERED_ENERGY));
	printf(" %.2f |", 100 * quantile(tally, FIGURE_WRONG_ALONE, 0.5));
	print_share(tally->alone_covered, tally->rows);
	printf(" %.1f |", 100 * mean(tally, FIGURE_HALF_WIDTH));
	printf(" %.1f |", 100 * mean(tally, FIGURE_WEIGHTED_HALF));
	printf(" %.1f |", 100 * quantile(tally, FIGURE_COUNTER_CHECK, 0.5));
	printf(" %.2f |\n", quantile(tally, FIGURE_SECONDS, 0.5));
	fflush(stdout);
}

static enum kwhy_status judge_schedule(const struct mixtures_options *options,
	enum kwhy_mixture_schedule schedule, FILE *csv, struct kwhy_error *error)
{
	struct kwhy_mixture_options seed_options = {
		.schedule = schedule, .level_unknown = options->level_unknown};
	struct tally tally;
	enum kwhy_status status = tally_init(&tally, options->seeds, error);

	if (status)
		return status;
	for (uint64_t i = 0; !status && i < options->seeds; i++) {
		seed_options.seed = options->first_seed + i;
		status = judge_seed(&tally, &seed_options, options->without_profile, csv, error);
	}
	if (!status)
		print_line(kwhy_mixture_schedule_name(schedule), &tally);
	tally_done(&tally);
	return status;
}

static enum kwhy_status open_csv(const char *path, FILE **out, struct kwhy_error *error)
{
	*out = path ? fopen(path, "w") : NULL;
	if (path && !*out)
		return kwhy_fail(error, KWHY_E_IO, "cannot write %s: %m", path);
	if (*out)
		fprintf(*out,
			"schedule,seed,account,category,basis,group,time_ns,truth_nj,alone_nj,gross_nj,low_"
			"nj,high_nj,"
			"measured_nj,wrong_ratio,expected_ratio\n");
	return KWHY_OK;
}

enum kwhy_status mixtures_synthetic(const struct mixtures_options *options, struct kwhy_error *error)
{
	FILE *csv;
	enum kwhy_status status = open_csv(options->csv_path, &csv, error);

	if (status)
		return status;
	print_head();
	for (int i = 0; !status && i < KWHY_MIXTURE_SCHEDULE_COUNT; i++)
		if (options->schedule < 0 || options->schedule == i)
			status = judge_schedule(options, i, csv, error);
	if (csv && fclose(csv) && !status)
		status = kwhy_fail(error, KWHY_E_IO, "cannot write %s: %m", options->csv_path);
	return status;
}
