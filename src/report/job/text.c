/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"
#include "base/plural.h"
#include "base/quantity.h"
#include "report/job.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The report on a job as text: one screen, or more rows of each table with --verbose. */

/*
 * Largest numbers of rows of the parts of the text, from the longest text to the shortest: the first entry
 * with which the text fits on a screen is used. `categories`: categories with less than this share of all
 * ranks' time are left out.
 */
static const struct limits {
	double categories;
	size_t late, links, hosts, findings, problems;
} all_limits[] = {
	{0.002, 3, 2, 2, 2, 3}, {0.005, 2, 1, 1, 2, 3}, {0.01, 2, 1, 1, 1, 2}, {0.02, 1, 1, 1, 1, 1}};

/* A terminal has 24 lines, one of them for the prompt that follows. */
enum { SCREEN_LINES = 23 };
enum { VERBOSE_MAX = 50, RANK_BYTES = 96 };
/* half of a 90 % interval of a normal distribution, in standard deviations */
static const double INTERVAL_SDS = 1.645;
/*
 * If the metered energy is more than this many times the energy of the run (from first start to last end of
 * work), a sentence states how much of it belongs to the run.
 */
static const double RUN_PART_MIN = 1.2;
/*
 * A sentence states the estimated energy of unmetered time if it is at least this share of the run's energy.
 */
static const double UNMETERED_MIN = 0.01;

struct screen {
	const struct kwhy_job *job;
	struct kwhy_text_context context;
	const struct limits *limits;
	struct kwhy_error *error;
};

static size_t shown(const struct screen *screen, size_t count, size_t limit)
{
	if (screen->context.style->verbose)
		limit = VERBOSE_MAX;
	return count < limit ? count : limit;
}

static const char *rank_name(char out[RANK_BYTES], const struct kwhy_job *job, size_t index)
{
	const struct kwhy_job_rank *rank = &job->ranks[index];
	const char *host = job->hosts[rank->host].name;
	int length = rank->rank == KWHY_NONE
		? snprintf(out, RANK_BYTES, "device %lld", (long long)rank->number)
		: snprintf(out, RANK_BYTES, "rank %u", rank->rank);

	if (host)
		snprintf(out + length, RANK_BYTES - (size_t)length, " on %.60s", host);
	return out;
}

static void write_run(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	const size_t rank_count = job->rank_count - job->unused_ranks;
	const bool is_part = job->world_size != KWHY_NONE && job->world_size != rank_count;
	const bool has_energy = job->measured_nj != INT64_MIN;
	const bool has_hosts = job->host_count > 1 || job->hosts[0].name;
	char ranks[KWHY_QUANTITY_BYTES], of[KWHY_QUANTITY_BYTES], hosts[KWHY_QUANTITY_BYTES];
	char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES], sum[KWHY_QUANTITY_BYTES];
	char busy[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(&screen->context, "",
		"%s%s%s %s%s%s%s: %s%s%s%s; busy for %s of all ranks' %s",
		kwhy_quantity_count(ranks, rank_count), is_part ? " of " : "",
		is_part ? kwhy_quantity_count(of, job->world_size) : "",
		kwhy_plural(is_part ? job->world_size : rank_count, "rank", "ranks"), has_hosts ? " on " : "",
		has_hosts ? kwhy_quantity_count(hosts, job->host_count) : "",
		!has_hosts ? "" : kwhy_plural(job->host_count, " host", " hosts"),
		kwhy_quantity_time(time, job->longest_ns), has_energy ? ", " : "",
		has_energy ? kwhy_quantity_energy(energy, job->measured_nj) : "",
		has_energy && job->modelled_ranks ? " (modelled)" : "",
		kwhy_quantity_percent(
			busy, job->span_ns > 0 ? (double)job->busy_ns / (double)job->span_ns : NAN),
		kwhy_quantity_time(sum, job->span_ns));
}

/*
 * Whether the metered energy is more than RUN_PART_MIN times that of the run, as meters were also read before
 * or after it.
 */
static bool has_run_part(const struct kwhy_job *job)
{
	return job->measured_nj != INT64_MIN && job->run_nj != INT64_MIN &&
		(double)job->measured_nj > RUN_PART_MIN * (double)job->run_nj;
}

/*
 * Writes which ranks and which time the energy in the first line covers, if it does not cover all ranks, or
 * covers more or less time than the run.
 */
static void write_energy_extent(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	char energy[KWHY_QUANTITY_BYTES];

	if (job->metered_ranks && job->metered_ranks < job->rank_count)
		kwhy_text_context_linef(&screen->context, "  ",
			"The energy is that of %zu ranks; that of the other %zu is unknown.",
			job->metered_ranks, job->rank_count - job->metered_ranks);
	if (has_run_part(job))
		kwhy_text_context_linef(&screen->context, "  ",
			"The energy is all that was metered; %s of it between first start and last end of "
			"the "
			"ranks' work.",
			kwhy_quantity_energy(energy, job->run_nj));
	if (job->run_nj > 0 && (double)job->run_unmetered_nj >= UNMETERED_MIN * (double)job->run_nj)
		kwhy_text_context_linef(&screen->context, "  ",
			"The energy lacks about %s of time that no reading covers.",
			kwhy_quantity_energy(energy, job->run_unmetered_nj));
}

/* Writes which ranks and devices the figures of the run cover. */
static void write_extent(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;

	write_energy_extent(screen);
	if (job->merged_ranks)
		kwhy_text_context_linef(&screen->context, "  ",
			"%zu more %s no digest: %s devices of these ranks, and one process recorded all of "
			"them.",
			job->merged_ranks, kwhy_plural(job->merged_ranks, "rank has", "ranks have"),
			kwhy_plural(job->merged_ranks, "it used", "they used"));
	if (job->shared_ranks)
		kwhy_text_context_linef(&screen->context, "  ",
			"%zu ranks share devices. The energy of each device counts once; it is divided by "
			"the time "
			"in which ranks ran something.",
			job->shared_ranks);
	if (job->unused_ranks)
		kwhy_text_context_linef(&screen->context, "  ",
			"No rank used %zu further %s; energies include %s.", job->unused_ranks,
			kwhy_plural(job->unused_ranks, "device", "devices"),
			kwhy_plural(job->unused_ranks, "it", "them"));
	if (job->hostless)
		kwhy_text_context_linef(&screen->context, "  ",
			"%zu %s no host, so their hosts' meters count once for each of them.", job->hostless,
			kwhy_plural(job->hostless, "digest names", "digests name"));
	if (job->running)
		kwhy_text_context_linef(&screen->context, "  ",
			"%zu of %zu digests were written while the ranks ran, and cover the time until then.",
			job->running, job->digests);
}

static const struct kwhy_table_column category_columns[] = {
	{"category", KWHY_COLUMN_LEFT},
	{"time", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"of time", KWHY_COLUMN_RIGHT},
	{"least", KWHY_COLUMN_RIGHT},
	{"median", KWHY_COLUMN_RIGHT},
	{"90 %", KWHY_COLUMN_RIGHT},
	{"most", KWHY_COLUMN_RIGHT},
	{"rank", KWHY_COLUMN_RIGHT},
};

static void write_rank_cell(
	const struct screen *screen, struct kwhy_table *table, const struct kwhy_job_spread *spread)
{
	const uint32_t rank = spread->count ? screen->job->ranks[spread->most_rank].rank : KWHY_NONE;

	if (rank == KWHY_NONE)
		kwhy_table_cell(table, NULL);
	else
		kwhy_table_count(table, rank);
}

static enum kwhy_status write_categories(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	const double all_ns = (double)job->span_ns;
	struct kwhy_table table;
	enum kwhy_status status = KWHY_OK;

	kwhy_text_context_heading(&screen->context, "Where the time of all ranks went",
		"from least on: shares of a rank's time");
	kwhy_table_init(&table, category_columns, 9);
	for (uint32_t c = 0; !status && c < KWHY_CATEGORY_COUNT; c++) {
		const int64_t part_ns = job->category_ns[c];
		struct kwhy_job_spread spread;

		if (part_ns <= 0 ||
			(!screen->context.style->verbose &&
				(double)part_ns < screen->limits->categories * all_ns))
			continue;
		status = kwhy_job_spread_of(job, kwhy_job_category_ratio, &c, &spread, screen->error);
		kwhy_table_cell(&table, kwhy_category_name((enum kwhy_category)c));
		kwhy_table_time(&table, part_ns);
		kwhy_table_energy(&table, job->category_nj[c]);
		kwhy_table_percent(&table, (double)part_ns / all_ns);
		kwhy_table_percent(&table, spread.least);
		kwhy_table_percent(&table, spread.median);
		kwhy_table_percent(&table, spread.high);
		kwhy_table_percent(&table, spread.most);
		write_rank_cell(screen, &table, &spread);
	}
	kwhy_table_write(&table, screen->context.style, screen->context.out);
	return status;
}

static void write_not_compared(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;

	if (!job->seen)
		kwhy_text_context_linef(&screen->context, "  ", "No collectives were recorded.");
	else
		kwhy_text_context_linef(&screen->context, "  ",
			"Not compared: the ranks have no collective in common in which all meet, by "
			"communicator and sequence number.");
}

/*
 * Says how many collectives are not compared because their communicators are unknown: counting them from the
 * start of each trace does not give matching collectives on all ranks.
 */
static void write_mismatched(const struct screen *screen)
{
	char count[KWHY_QUANTITY_BYTES];

	if (screen->job->mismatched)
		kwhy_text_context_linef(&screen->context, "  ",
			"%s are not compared: the traces state no communicators, and the ranks' collectives "
			"do not "
			"match if they are counted from the start.",
			kwhy_quantity_count(count, screen->job->mismatched));
}

/*
 * Writes the waiting time and energy in all collectives, estimated from the compared ones, which are a random
 * share of all.
 */
static void write_estimate(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	char kept[KWHY_QUANTITY_BYTES], waiting[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES];
	char within[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(&screen->context, "  ",
		"Digests keep a random %s of the collectives. In all of them, the ranks waited "
		"about "
		"%s%s%s (estimated, ± %s).",
		kwhy_quantity_percent(kept, (double)job->kept / (double)job->seen),
		kwhy_quantity_time(waiting, job->all_waiting_ns),
		job->all_waiting_nj == INT64_MIN ? "" : ", ",
		job->all_waiting_nj == INT64_MIN ? "" : kwhy_quantity_energy(energy, job->all_waiting_nj),
		kwhy_quantity_percent(within,
			job->all_waiting_ns > 0
				? INTERVAL_SDS * job->all_waiting_error_ns / (double)job->all_waiting_ns
				: NAN));
}

/*
 * Writes how many collectives were compared, and their sums. If the digests have only a share of all
 * collectives, also writes the estimate for all.
 */
static void write_compared(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	char compared[KWHY_QUANTITY_BYTES], skew[KWHY_QUANTITY_BYTES], transfer[KWHY_QUANTITY_BYTES];
	char waiting[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES], clock[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(&screen->context, "  ",
		"%s %s compared: skew %s, transfer %s. The ranks waited %s%s%s%s.",
		kwhy_quantity_count(compared, job->compared),
		kwhy_plural(job->compared, "collective", "collectives"),
		kwhy_quantity_time(skew, job->skew_ns), kwhy_quantity_time(transfer, job->transfer_ns),
		kwhy_quantity_time(waiting, job->waiting_ns), job->waiting_nj == INT64_MIN ? "" : ", ",
		job->waiting_nj == INT64_MIN ? "" : kwhy_quantity_energy(energy, job->waiting_nj),
		job->kept < job->seen ? "" : " in all");
	if (job->kept < job->seen)
		write_estimate(screen);
	if (screen->context.style->verbose && !isnan(job->clock_error_ns))
		kwhy_text_context_linef(&screen->context, "  ",
			"The ranks' clocks are fitted to each other to within %s, by the ends of "
			"collectives.",
			kwhy_quantity_time(clock, (int64_t)job->clock_error_ns));
}

static const struct kwhy_table_column late_columns[] = {
	{"the others waited for", KWHY_COLUMN_NAME},
	{"last in", KWHY_COLUMN_RIGHT},
	{"time", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"share", KWHY_COLUMN_RIGHT},
	{"computes", KWHY_COLUMN_RIGHT},
};

static void add_late(const struct screen *screen, struct kwhy_table *table, size_t index, double median_ns)
{
	const struct kwhy_job *job = screen->job;
	const struct kwhy_job_rank *rank = &job->ranks[index];
	char name[RANK_BYTES], text[RANK_BYTES + 16], counts[64];
	const double more = median_ns > 0 && rank->compute_ns != INT64_MIN
		? (double)rank->compute_ns / median_ns - 1
		: NAN;

	snprintf(text, sizeof(text), "%s%s", rank_name(name, job, index),
		rank->is_straggler ? " (straggler)" : "");
	kwhy_table_cell(table, text);
	snprintf(counts, sizeof(counts), "%llu of %llu", (unsigned long long)rank->late,
		(unsigned long long)rank->compared);
	kwhy_table_cell(table, counts);
	kwhy_table_time(table, rank->caused_ns);
	kwhy_table_energy(table, rank->caused_nj);
	kwhy_table_percent(
		table, job->waiting_ns > 0 ? (double)rank->caused_ns / (double)job->waiting_ns : NAN);
	if (isnan(more)) {
		kwhy_table_cell(table, NULL);
		return;
	}
	snprintf(text, sizeof(text), "%+.1f %%", more * 100);
	kwhy_table_cell(table, text);
}

static double compute_of(const struct kwhy_job_rank *rank, const void *context)
{
	(void)context;
	return rank->compute_ns == INT64_MIN ? NAN : (double)rank->compute_ns;
}

static enum kwhy_status write_late(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	uint32_t *order = kwhy_job_ranks_by_caused(job);
	struct kwhy_job_spread compute;
	struct kwhy_table table;
	enum kwhy_status status = kwhy_job_spread_of(job, compute_of, NULL, &compute, screen->error);

	if (!order)
		return kwhy_fail_memory(screen->error, "ranks");
	kwhy_table_init(&table, late_columns, 6);
	for (size_t i = 0; i < shown(screen, job->rank_count, screen->limits->late) &&
		job->ranks[order[i]].caused_ns > 0;
		i++)
		add_late(screen, &table, order[i], compute.median);
	kwhy_table_write(&table, screen->context.style, screen->context.out);
	free(order);
	return status;
}

static enum kwhy_status write_collectives(const struct screen *screen)
{
	kwhy_text_context_heading(&screen->context, "Collectives", NULL);
	if (!screen->job->compared) {
		if (!screen->job->mismatched)
			write_not_compared(screen);
		write_mismatched(screen);
		return KWHY_OK;
	}
	write_compared(screen);
	write_mismatched(screen);
	return screen->job->waiting_ns > 0 ? write_late(screen) : KWHY_OK;
}

static void write_slow_links(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;

	for (size_t i = 0; i < shown(screen, job->slow_link_count, screen->limits->links); i++) {
		const struct kwhy_job_slow_link *row = &job->slow_links[i];
		const struct kwhy_job_communicator *communicator = &job->communicators[row->communicator];
		char median[KWHY_QUANTITY_BYTES], others[KWHY_QUANTITY_BYTES];

		if (i == 0)
			kwhy_text_context_heading(&screen->context, "Slow links", NULL);
		kwhy_text_context_linef(&screen->context, "  ",
			"Communicator %s%s%s: %s takes %s, %s in communicators of the same size",
			communicator->name ? communicator->name : "unknown",
			communicator->ranks ? ", ranks " : "", communicator->ranks ? communicator->ranks : "",
			job->operations[row->operation].name ? job->operations[row->operation].name
							     : "a collective without a name",
			kwhy_quantity_time(median, (int64_t)row->median_ns),
			kwhy_quantity_time(others, (int64_t)row->others_ns));
	}
}

static void write_hosts(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	size_t found = 0;

	for (size_t i = 0; i < job->host_count; i++) {
		const struct kwhy_job_host *host = &job->hosts[i];
		char clock[KWHY_QUANTITY_BYTES], ratio[KWHY_QUANTITY_BYTES], waited[KWHY_QUANTITY_BYTES];

		if (!host->is_throttled || found++ >= shown(screen, job->host_count, screen->limits->hosts))
			continue;
		if (found == 1)
			kwhy_text_context_heading(&screen->context, "Hosts with low clocks", NULL);
		kwhy_text_context_linef(&screen->context, "  ",
			"%s: median clock %s%s%s%s%s; the others waited %s",
			host->name ? host->name : "a host without a name",
			host->sm_clock_hz == INT64_MIN
				? "n/a"
				: kwhy_quantity_si(clock, (double)host->sm_clock_hz, "Hz", 3),
			host->throttle ? ", " : "", host->throttle ? host->throttle : "",
			host->throttle ? " in " : "",
			host->throttle ? kwhy_quantity_percent(ratio, host->throttled_ratio) : "",
			kwhy_quantity_time(waited, host->caused_ns));
	}
	if (found > shown(screen, job->host_count, screen->limits->hosts))
		kwhy_text_context_linef(&screen->context, "  ", "%zu more %s: --json",
			found - shown(screen, job->host_count, screen->limits->hosts),
			kwhy_plural(found - shown(screen, job->host_count, screen->limits->hosts), "host",
				"hosts"));
}

static void write_findings(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	const size_t count = shown(screen, job->finding_count, screen->limits->findings);

	if (!job->finding_count)
		return;
	kwhy_text_context_heading(&screen->context, "Waste on the ranks", NULL);
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_job_finding *row = &job->findings[i];
		char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES], ranks[KWHY_QUANTITY_BYTES];
		const bool has_title = screen->context.style->verbose && row->title;
		char name[RANK_BYTES];

		kwhy_text_context_linef(&screen->context, "  ", "%s on %s %s, %s%s%s; worst on %s%s%s",
			row->id, kwhy_quantity_count(ranks, row->ranks),
			kwhy_plural(row->ranks, "rank", "ranks"), kwhy_quantity_time(time, row->time_ns),
			row->energy_nj == INT64_MIN ? "" : ", ",
			row->energy_nj == INT64_MIN ? "" : kwhy_quantity_energy(energy, row->energy_nj),
			rank_name(name, job, row->worst), has_title ? ": " : "", has_title ? row->title : "");
	}
	if (count < job->finding_count)
		kwhy_text_context_linef(&screen->context, "  ", "%zu more %s: -v", job->finding_count - count,
			kwhy_plural(job->finding_count - count, "kind", "kinds"));
}

static void write_problems(const struct screen *screen)
{
	const struct kwhy_job *job = screen->job;
	size_t kinds[KWHY_JOB_PROBLEM_KIND_COUNT] = {0}, rows = 0;

	if (!job->problem_count)
		return;
	kwhy_text_context_heading(&screen->context, "Missing, cut and left out", NULL);
	for (size_t i = 0; i < job->problem_count; i++) {
		const struct kwhy_job_problem *problem = &job->problems[i];

		if (!screen->context.style->verbose && kinds[problem->kind]++ > 0)
			continue;
		if (rows++ >= shown(screen, job->problem_count, screen->limits->problems))
			continue;
		kwhy_text_context_linef(&screen->context, "  ", "%s: %s%s%s",
			kwhy_job_problem_name(problem->kind), problem->path ? problem->path : "",
			problem->path ? ": " : "", problem->text);
	}
	if (job->problem_count > shown(screen, rows, screen->limits->problems))
		kwhy_text_context_linef(&screen->context, "  ", "%zu more: -v, --json",
			job->problem_count - shown(screen, rows, screen->limits->problems));
}

static enum kwhy_status write_all(const struct screen *screen)
{
	enum kwhy_status status;

	write_run(screen);
	write_extent(screen);
	status = write_categories(screen);
	if (!status)
		status = write_collectives(screen);
	if (status)
		return status;
	write_slow_links(screen);
	write_hosts(screen);
	write_findings(screen);
	write_problems(screen);
	return kwhy_text_check(screen->context.out, screen->error);
}

enum kwhy_status kwhy_job_text(const struct kwhy_job *job, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct screen screen = {.job = job, .context = {.style = style, .out = out}, .error = error};
	const size_t last = sizeof(all_limits) / sizeof(all_limits[0]) - 1;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i <= last; i++) {
		kwhy_text_clear(out);
		screen.limits = &all_limits[i];
		status = write_all(&screen);
		if (style->verbose || kwhy_lines_count(out) <= SCREEN_LINES)
			break;
	}
	return status;
}
