/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/stat_run.h"

#include "base/clock.h"
#include "base/column.h"
#include "launch/lines.h"

#include <math.h>
#include <stdlib.h>

#define SECOND_NS 1000000000
#define TICK_NS SECOND_NS
/*
 * Length, in ns, of the pieces in which the energy of a long run is summed, because readings older than a
 * little more than this are dropped
 */
#define PIECE_NS (600 * (int64_t)SECOND_NS)
#define BOTH_SIDES_NS (2 * (int64_t)SECOND_NS)

/* State of one run of the command that is measured. */
struct running {
	struct kwhy_stat_runner *runner;
	struct kwhy_lines lines[2];
	double *work; /* [work_count] amount of each unit of work; NAN: none was found or reported so far */
	size_t *resolved; /* [metric_count] number of points of each metric whose joules are set */
	uint32_t index;
	/*
	 * [domain_count] energy of each metered domain from the start of the run to the start of the current
	 * interval of --interval, J
	 */
	double *before_j;
	int64_t start_ns, line_ns, interval_ns, next_piece_ns;
	enum kwhy_status status;
	struct kwhy_error *error;
};

static double seconds_of(int64_t time_ns)
{
	return (double)time_ns * 1e-9;
}

static void add_work(void *context, double value)
{
	double *sum = context;

	if (value >= 0)
		*sum = isnan(*sum) ? value : *sum + value;
}

struct point_target {
	struct running *running;
	struct kwhy_stat_metric *metric;
};

static void add_point(void *context, double value)
{
	const struct point_target *target = context;
	struct running *running = target->running;
	struct kwhy_stat_metric *metric = target->metric;
	void *points = metric->points;

	if (metric->count == KWHY_STAT_POINTS_MAX) {
		metric->dropped++;
		return;
	}
	if (running->status)
		return;
	running->status = kwhy_column_reserve(&points, &metric->capacity, metric->count + 1,
		sizeof(*metric->points), "the values of a metric", running->error);
	metric->points = points;
	if (!running->status)
		metric->points[metric->count++] = (struct kwhy_stat_point){.run = running->index,
			.time_s = seconds_of(running->line_ns - running->start_ns),
			.joules = NAN,
			.value = value};
}

static void see_line(void *context, int64_t time_mono_ns, const char *line, size_t length)
{
	struct running *running = context;
	struct kwhy_stat_specs *specs = running->runner->specs;
	struct kwhy_stat *stat = running->runner->stat;

	running->line_ns = time_mono_ns;
	for (size_t i = 0; i < specs->work_count; i++)
		if (specs->from[i] == KWHY_STAT_WORK_OUTPUT)
			kwhy_pattern_find(&specs->work[i], line, length, add_work, &running->work[i]);
	for (size_t i = 0; i < specs->metric_count; i++) {
		struct point_target target = {running, &stat->metrics[i]};

		kwhy_pattern_find(&specs->metrics[i], line, length, add_point, &target);
	}
}

static void see_output(void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length)
{
	struct running *running = context;

	kwhy_lines_add(&running->lines[stream - 1], time_mono_ns, bytes, length);
}

/* Energy of the main domain from the start of the run to until_ns, J; NAN: unknown, or there is no domain. */
static double main_joules(const struct running *running, int64_t until_ns)
{
	const struct kwhy_stat *stat = running->runner->stat;
	size_t main_domain = kwhy_stat_main_domain(stat);
	double sum = 0;

	if (main_domain == KWHY_STAT_NO_DOMAIN)
		return NAN;
	if (stat->domains[main_domain].kind != KWHY_STAT_TOTAL)
		return kwhy_stat_meter_used_j(running->runner->meter, main_domain, until_ns);
	for (size_t d = 0; d < main_domain; d++)
		if (stat->domains[d].in_total)
			sum += kwhy_stat_meter_used_j(running->runner->meter, d, until_ns);
	return sum;
}

/*
 * Sets `joules` of the points of the metrics (values found in the command's output) whose times are up to
 * until_ns. If `last`, until_ns is the end of the run, and points that are later, because the output was read
 * late, get the joules at the end.
 */
static void resolve_points(struct running *running, int64_t until_ns, bool last)
{
	const struct kwhy_stat *stat = running->runner->stat;

	for (size_t i = 0; i < stat->metric_count; i++) {
		struct kwhy_stat_metric *metric = &stat->metrics[i];

		for (; running->resolved[i] < metric->count; running->resolved[i]++) {
			struct kwhy_stat_point *point = &metric->points[running->resolved[i]];
			int64_t time_ns = running->start_ns + (int64_t)(point->time_s * 1e9);

			if (time_ns > until_ns && !last)
				break;
			point->joules = main_joules(running, time_ns < until_ns ? time_ns : until_ns);
		}
	}
}

/*
 * Sets joules[domain_count] to the energy of each domain from the start of the current interval to until_ns,
 * its end; that of the total is the sum over the domains with in_total.
 */
static void fill_interval(struct running *running, double *joules, int64_t until_ns)
{
	const struct kwhy_stat *stat = running->runner->stat;
	double sum = 0;

	for (size_t d = 0; d < running->runner->meter->metered_count; d++) {
		double used_j = kwhy_stat_meter_used_j(running->runner->meter, d, until_ns);

		joules[d] = used_j - running->before_j[d];
		running->before_j[d] = used_j;
		if (stat->domains[d].in_total)
			sum += joules[d];
	}
	if (stat->domain_count > running->runner->meter->metered_count)
		joules[stat->domain_count - 1] = sum;
}

static enum kwhy_status add_interval(struct running *running, int64_t end_ns)
{
	struct kwhy_stat *stat = running->runner->stat;
	void *intervals = stat->intervals, *joules = stat->interval_joules;
	enum kwhy_status status;

	if (stat->interval_count == KWHY_STAT_INTERVALS_MAX) {
		stat->intervals_dropped++;
		return KWHY_OK;
	}
	status = kwhy_column_reserve(&intervals, &stat->interval_capacity, stat->interval_count + 1,
		sizeof(*stat->intervals), "the intervals", running->error);
	stat->intervals = intervals;
	if (!status)
		status = kwhy_column_reserve(&joules, &stat->interval_joules_capacity,
			(stat->interval_count + 1) * stat->domain_count + 1, sizeof(*stat->interval_joules),
			"the intervals", running->error);
	stat->interval_joules = joules;
	if (status)
		return status;
	fill_interval(running, stat->interval_joules + stat->interval_count * stat->domain_count, end_ns);
	stat->intervals[stat->interval_count++] = (struct kwhy_stat_interval){.run = running->index,
		.start_s = seconds_of(running->interval_ns - running->start_ns),
		.end_s = seconds_of(end_ns - running->start_ns)};
	return KWHY_OK;
}

static enum kwhy_status add_intervals(struct running *running, int64_t until_ns, bool last)
{
	int64_t length_ns = (int64_t)(running->runner->stat->interval_s * 1e9);
	enum kwhy_status status = KWHY_OK;

	if (isnan(running->runner->stat->interval_s))
		return KWHY_OK;
	while (!status && running->interval_ns + length_ns <= until_ns) {
		status = add_interval(running, running->interval_ns + length_ns);
		running->interval_ns += length_ns;
	}
	if (!status && last && running->interval_ns < until_ns)
		status = add_interval(running, until_ns);
	return status;
}

/*
 * Sets the joules of the points of the metrics, adds the intervals, and sums the energy of each domain, all
 * up to `until_ns`. The power curves must have been made (kwhy_stat_meter_open_curves()) and reach until_ns.
 * `last`: until_ns is the end of the run.
 */
static enum kwhy_status settle(struct running *running, int64_t until_ns, bool last)
{
	enum kwhy_status status;

	resolve_points(running, until_ns, last);
	status = add_intervals(running, until_ns, last);
	kwhy_stat_meter_sum(running->runner->meter, until_ns, running->runner->stat->domains);
	return status;
}

/*
 * Sums the energy of the run up to BOTH_SIDES_NS before kwhy_stat_meter_known_ns(), the time up to which all
 * meters that still give readings have given them. Not up to that time itself, because the energy up to a
 * time is more precise if there are readings before and after it.
 */
static enum kwhy_status sum_piece(struct running *running)
{
	struct kwhy_stat_meter *meter = running->runner->meter;
	enum kwhy_status status = kwhy_stat_meter_open_curves(meter, running->error);
	int64_t known_ns = status ? 0 : kwhy_stat_meter_known_ns(meter, kwhy_clock_mono_ns()) - BOTH_SIDES_NS;

	return known_ns <= meter->summed_ns ? status : settle(running, known_ns, false);
}

static void tick(void *context)
{
	struct running *running = context;
	if (running->status)
		return;
	running->status = kwhy_stat_meter_drain(running->runner->meter, running->error);
	if (!running->status && kwhy_clock_mono_ns() > running->next_piece_ns) {
		running->next_piece_ns = kwhy_clock_mono_ns() + PIECE_NS;
		running->status = sum_piece(running);
	}
}

static enum kwhy_status begin(
	struct running *running, struct kwhy_stat_runner *runner, struct kwhy_error *error)
{
	const struct kwhy_stat *stat = runner->stat;
	enum kwhy_status status;

	*running = (struct running){.runner = runner, .error = error, .index = (uint32_t)stat->run_count};
	running->work = kwhy_arena_alloc(&runner->stat->arena, stat->work_count + 1, sizeof(double));
	running->resolved = calloc(stat->metric_count + 1, sizeof(*running->resolved));
	running->before_j = calloc(stat->domain_count + 1, sizeof(*running->before_j));
	if (!running->work || !running->resolved || !running->before_j)
		return kwhy_fail_memory(error, "a run");
	for (size_t i = 0; i < stat->work_count; i++)
		running->work[i] = NAN;
	for (size_t i = 0; i < stat->metric_count; i++)
		running->resolved[i] = stat->metrics[i].count;
	status = kwhy_lines_init(&running->lines[0], see_line, running, error);
	if (!status)
		status = kwhy_lines_init(&running->lines[1], see_line, running, error);
	running->start_ns = running->interval_ns = kwhy_clock_mono_ns();
	running->next_piece_ns = running->start_ns + PIECE_NS;
	kwhy_stat_meter_begin(runner->meter, running->start_ns);
	return status;
}

static void end(struct running *running)
{
	kwhy_lines_done(&running->lines[0]);
	kwhy_lines_done(&running->lines[1]);
	free(running->resolved);
	free(running->before_j);
}

/*
 * Sets the amounts of work of the run: the amounts that --work states (NAN if a signal ended the run), and
 * those that the command reported.
 */
static enum kwhy_status fill_work(struct running *running, const struct kwhy_child_end *how)
{
	struct kwhy_stat_specs *specs = running->runner->specs;
	struct kwhy_stat *stat = running->runner->stat;

	for (size_t i = 0; i < specs->work_count; i++) {
		if (specs->from[i] == KWHY_STAT_WORK_OUTPUT)
			stat->work[i].unreadable = specs->work[i].unreadable;
		if (specs->from[i] == KWHY_STAT_WORK_STATED)
			running->work[i] = how->signal ? NAN : specs->stated[i];
	}
	for (size_t i = 0; i < specs->metric_count; i++)
		stat->metrics[i].unreadable = specs->metrics[i].unreadable;
	return kwhy_stat_work_file_take(running->runner->work_file, stat, running->work, running->error);
}

static enum kwhy_status add_run(struct running *running, const struct kwhy_child_end *how)
{
	struct kwhy_stat_runner *runner = running->runner;
	struct kwhy_stat *stat = runner->stat;
	struct kwhy_stat_run run = {
		.interrupted = runner->signals->asked != 0,
		.left_running = how->left_running,
		.exit = how->exit,
		.signal = how->signal,
		.seconds = seconds_of(how->end_mono_ns - how->start_mono_ns),
		.user_s = seconds_of(how->user_ns),
		.system_s = seconds_of(how->system_ns),
		.max_rss_bytes = how->max_rss_bytes ? (double)how->max_rss_bytes : NAN,
		.work = running->work,
	};

	run.energies = kwhy_arena_alloc(&stat->arena, stat->domain_count + 1, sizeof(*run.energies));
	if (!run.energies)
		return kwhy_fail_memory(running->error, "a run");
	for (size_t d = 0; d < runner->meter->metered_count; d++)
		kwhy_stat_meter_result(runner->meter, d, &run.energies[d]);
	kwhy_stat_sum_energies(stat, run.energies);
	if (!runner->first_start_ns)
		runner->first_start_ns = how->start_mono_ns;
	run.start_s = seconds_of(how->start_mono_ns - runner->first_start_ns);
	stat->runs[stat->run_count++] = run;
	return fill_work(running, how);
}

static enum kwhy_status run_child(
	struct running *running, struct kwhy_child_end *how, struct kwhy_error *error)
{
	struct kwhy_child_request request = {
		.argv = running->runner->argv,
		.environment = running->runner->environment->settings,
		.seen = running->runner->specs->watching ? see_output : NULL,
		.tick_ns = TICK_NS,
		.tick = tick,
		.context = running,
	};
	struct kwhy_stat_cost *cost = &running->runner->stat->cost;
	double before_s = kwhy_stat_meter_cpu_s(running->runner->meter);
	double busy_before_s = kwhy_stat_meter_busy_s(running->runner->meter);
	enum kwhy_status status = kwhy_child_run(&request, running->runner->signals, how, error);

	cost->cpu_s += kwhy_stat_meter_cpu_s(running->runner->meter) - before_s;
	cost->busy_s += kwhy_stat_meter_busy_s(running->runner->meter) - busy_before_s;
	cost->running_s += seconds_of(how->end_mono_ns - how->start_mono_ns);
	if (!status)
		status = running->status;
	if (status)
		return status;
	kwhy_lines_finish(&running->lines[0]);
	kwhy_lines_finish(&running->lines[1]);
	status = kwhy_stat_meter_await_end(running->runner->meter, how->end_mono_ns, error);
	if (!status)
		status = settle(running, how->end_mono_ns, true);
	return status ? status : running->status;
}

enum kwhy_status kwhy_stat_run(struct kwhy_stat_runner *runner, int *out_exit, struct kwhy_error *error)
{
	struct running running;
	struct kwhy_child_end how = {.exit = KWHY_EXIT_NOT_EXECUTABLE};
	enum kwhy_status status = begin(&running, runner, error);

	if (!status)
		status = run_child(&running, &how, error);
	if (!status)
		status = add_run(&running, &how);
	*out_exit = how.exit;
	end(&running);
	return status;
}

static void see_nothing(void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length)
{
	(void)context;
	(void)stream;
	(void)time_mono_ns;
	(void)bytes;
	(void)length;
}

/*
 * Runs the command without measuring. Its output is connected in the same way as in measured runs, so that
 * isatty() gives it the same answer.
 */
enum kwhy_status kwhy_stat_run_unmeasured(
	struct kwhy_stat_runner *runner, int *out_exit, struct kwhy_error *error)
{
	struct kwhy_child_request request = {.argv = runner->argv,
		.environment = runner->environment->settings,
		.seen = runner->specs->watching ? see_nothing : NULL};
	struct kwhy_child_end how;
	enum kwhy_status status = kwhy_child_run(&request, runner->signals, &how, error);

	*out_exit = how.exit;
	if (!status)
		status = kwhy_stat_work_file_empty(runner->work_file, error);
	return status ? status : kwhy_stat_meter_drain(runner->meter, error);
}

static void fill_idle(
	const struct kwhy_stat_meter *meter, size_t d, double seconds, struct kwhy_stat_idle *out)
{
	uint32_t device = meter->metered[d].device;
	struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];
	struct kwhy_stat_energy energy;

	kwhy_stat_meter_result(meter, d, &energy);
	out->watts = energy.joules / seconds;
	out->low_w = energy.low_j / seconds;
	out->high_w = energy.high_j / seconds;
	if (device == KWHY_SENSOR_NO_DEVICE)
		return;
	out->processes = (int64_t)kwhy_sensors_processes(meter->sensors, device, processes);
	if (atomic_load_explicit(&meter->sensors->devices[device].unlisted, memory_order_relaxed))
		out->processes = -1;
}

static void sum_idle(struct kwhy_stat *stat)
{
	struct kwhy_stat_idle sum = {0, 0, 0, -1};

	for (size_t d = 0; d < stat->domain_count; d++) {
		if (stat->domains[d].in_total) {
			sum.watts += stat->domains[d].idle.watts;
			sum.low_w += stat->domains[d].idle.low_w;
			sum.high_w += stat->domains[d].idle.high_w;
		}
		if (stat->domains[d].kind == KWHY_STAT_TOTAL)
			stat->domains[d].idle = sum;
	}
}

enum kwhy_status kwhy_stat_run_idle(struct kwhy_stat_runner *runner, double seconds, struct kwhy_error *error)
{
	struct kwhy_stat_meter *meter = runner->meter;
	int64_t start_ns = kwhy_clock_mono_ns(), end_ns = start_ns + (int64_t)(seconds * 1e9),
		until_ns = start_ns;
	enum kwhy_status status = KWHY_OK;

	kwhy_stat_meter_begin(meter, start_ns);
	while (!status && until_ns < end_ns && !runner->signals->asked) {
		until_ns = until_ns + TICK_NS < end_ns ? until_ns + TICK_NS : end_ns;
		if (!kwhy_signals_wait(runner->signals, until_ns))
			status = kwhy_stat_meter_drain(meter, error);
	}
	if (status || runner->signals->asked)
		return status;
	status = kwhy_stat_meter_await_end(meter, end_ns, error);
	if (status)
		return status;
	kwhy_stat_meter_sum(meter, end_ns, runner->stat->domains);
	for (size_t d = 0; d < meter->metered_count; d++)
		fill_idle(meter, d, seconds, &runner->stat->domains[d].idle);
	sum_idle(runner->stat);
	runner->stat->idle_s = seconds;
	return KWHY_OK;
}
