/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/writer.h"
#include "report/stat.h"
#include "report/stat/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_figure(struct kwhy_json *json, const char *key, const struct kwhy_stat_figure *figure)
{
	const struct kwhy_estimate *estimate = &figure->estimate;

	kwhy_json_row(json, key);
	kwhy_json_count(json, "count", estimate->count);
	kwhy_json_real(json, "mean", estimate->mean);
	kwhy_json_real(json, "low", estimate->low);
	kwhy_json_real(json, "high", estimate->high);
	kwhy_json_string(json, "interval", kwhy_stat_interval_basis_name(figure->basis));
	kwhy_json_real(json, "deviation", estimate->deviation);
	kwhy_json_real(json, "least", estimate->least);
	kwhy_json_real(json, "most", estimate->most);
	kwhy_json_object_end(json);
}

static void write_idle(struct kwhy_json *json, const struct kwhy_stat_domain *domain)
{
	const struct kwhy_stat_idle *idle = &domain->idle;

	kwhy_json_row(json, "idle");
	kwhy_json_real(json, "watts", idle->watts);
	kwhy_json_real(json, "low_w", idle->low_w);
	kwhy_json_real(json, "high_w", idle->high_w);
	if (idle->processes < 0)
		kwhy_json_null(json, "process_count");
	else
		kwhy_json_int(json, "process_count", idle->processes);
	kwhy_json_real(json, "profile_clean_idle_w", domain->clean_idle_w);
	kwhy_json_real(json, "profile_context_idle_w", domain->context_idle_w);
	kwhy_json_string(json, "profile", domain->profile);
	kwhy_json_object_end(json);
}

static void write_domain(struct kwhy_json *json, const struct kwhy_stat_domain *domain,
	const struct kwhy_stat_domain_figures *figures)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", domain->name);
	kwhy_json_string(json, "kind", kwhy_stat_kind_name(domain->kind));
	kwhy_json_string(json, "device", domain->device);
	kwhy_json_string(json, "uuid", domain->uuid);
	kwhy_json_bool(json, "in_total", domain->in_total);
	kwhy_json_bool(json, "counts_module", domain->is_module);
	kwhy_json_bool(json, "counter_reset", domain->counter_reset);
	kwhy_json_bool(json, "counter_stuck", domain->counter_stuck);
	kwhy_json_bool(json, "counter_misread", domain->counter_misread);
	kwhy_json_string(json, "basis", figures->basis);
	kwhy_json_string(json, "not_available", figures->missing);
	write_figure(json, "energy_j", &figures->energy_j);
	write_figure(json, "net_j", &figures->net_j);
	kwhy_json_real(json, "context_j", figures->context_j);
	write_figure(json, "mean_w", &figures->mean_w);
	kwhy_json_real(json, "peak_w", figures->peak_w);
	kwhy_json_real(json, "meter_half_width_ratio", figures->meter_half_ratio);
	if (figures->runs_needed)
		kwhy_json_count(json, "runs_needed", figures->runs_needed);
	else
		kwhy_json_null(json, "runs_needed");
	write_idle(json, domain);
	kwhy_json_object_end(json);
}

static void write_work(struct kwhy_json *json, const struct kwhy_stat *stat,
	const struct kwhy_stat_summary *summary, size_t w)
{
	const struct kwhy_stat_work *work = &stat->work[w];
	const struct kwhy_stat_work_figures *figures = &summary->work[w];

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "unit", work->unit);
	kwhy_json_string(json, "from", kwhy_stat_work_from_name(work->from));
	kwhy_json_string(json, "pattern", work->pattern);
	kwhy_json_count(json, "unreadable", work->unreadable);
	write_figure(json, "count", &figures->count);
	write_figure(json, "per_s", &figures->per_s);
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++) {
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "name", stat->domains[d].name);
		write_figure(json, "joules_per_unit", &figures->joules_per_unit[d]);
		write_figure(json, "units_per_joule", &figures->units_per_joule[d]);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_metric(struct kwhy_json *json, const struct kwhy_stat_metric *metric)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", metric->name);
	kwhy_json_string(json, "pattern", metric->pattern);
	kwhy_json_count(json, "unreadable", metric->unreadable);
	kwhy_json_count(json, "dropped", metric->dropped);
	kwhy_json_array(json, "points");
	for (size_t i = 0; i < metric->count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_count(json, "run", metric->points[i].run);
		kwhy_json_real(json, "time_s", metric->points[i].time_s);
		kwhy_json_real(json, "joules", metric->points[i].joules);
		kwhy_json_real(json, "value", metric->points[i].value);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_interval(struct kwhy_json *json, const struct kwhy_stat *stat, size_t i)
{
	kwhy_json_row(json, NULL);
	kwhy_json_count(json, "run", stat->intervals[i].run);
	kwhy_json_real(json, "start_s", stat->intervals[i].start_s);
	kwhy_json_real(json, "end_s", stat->intervals[i].end_s);
	kwhy_json_list(json, "joules");
	for (size_t d = 0; d < stat->domain_count; d++)
		kwhy_json_real(json, NULL, stat->interval_joules[i * stat->domain_count + d]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_run_energy(struct kwhy_json *json, const struct kwhy_stat_domain *domain,
	const struct kwhy_stat_run *run, size_t d)
{
	const struct kwhy_stat_energy *energy = &run->energies[d];
	struct kwhy_stat_energy net = kwhy_stat_net(domain, energy, run->seconds);

	kwhy_json_row(json, NULL);
	kwhy_json_real(json, "joules", energy->joules);
	kwhy_json_real(json, "low_j", energy->low_j);
	kwhy_json_real(json, "high_j", energy->high_j);
	kwhy_json_real(json, "net_j", net.joules);
	kwhy_json_real(json, "mean_w", energy->mean_w);
	kwhy_json_real(json, "peak_w", energy->peak_w);
	kwhy_json_string(json, "basis", energy->basis);
	kwhy_json_string(json, "not_available", energy->missing);
	kwhy_json_object_end(json);
}

static void write_run(struct kwhy_json *json, const struct kwhy_stat *stat, const struct kwhy_stat_run *run)
{
	kwhy_json_object(json, NULL);
	kwhy_json_bool(json, "counted", run->counted);
	kwhy_json_bool(json, "interrupted", run->interrupted);
	kwhy_json_bool(json, "left_processes", run->left_running);
	kwhy_json_int(json, "exit", run->exit);
	if (run->signal)
		kwhy_json_int(json, "signal", run->signal);
	else
		kwhy_json_null(json, "signal");
	kwhy_json_real(json, "start_s", run->start_s);
	kwhy_json_real(json, "elapsed_s", run->seconds);
	kwhy_json_real(json, "user_s", run->user_s);
	kwhy_json_real(json, "system_s", run->system_s);
	kwhy_json_real(json, "max_rss_bytes", run->max_rss_bytes);
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++)
		write_run_energy(json, &stat->domains[d], run, d);
	kwhy_json_array_end(json);
	kwhy_json_list(json, "work");
	for (size_t w = 0; w < stat->work_count; w++)
		kwhy_json_real(json, NULL, run->work[w]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void write_head(struct kwhy_json *json, const struct kwhy_stat *stat)
{
	char started[32];

	snprintf(started, sizeof(started), "%" PRId64, stat->started_unix_ns);
	kwhy_json_string(json, "schema", "kwhy.stat/1");
	kwhy_json_string(json, "kwhy_version", KWHY_VERSION);
	kwhy_json_string(json, "command", stat->command);
	kwhy_json_string(json, "started_unix_ns", started);
	kwhy_json_count(json, "wanted_runs", stat->wanted_runs);
	kwhy_json_count(json, "warmup_runs", stat->warmup_runs);
	if (stat->interrupted_by)
		kwhy_json_int(json, "interrupted_by_signal", stat->interrupted_by);
	else
		kwhy_json_null(json, "interrupted_by_signal");
	kwhy_json_real(json, "idle_s", stat->idle_s);
	kwhy_json_real(json, "interval_s", stat->interval_s);
}

static void write_cost(struct kwhy_json *json, const struct kwhy_stat *stat)
{
	const struct kwhy_stat_cost *cost = &stat->cost;

	kwhy_json_object(json, "own_cost");
	kwhy_json_real(json, "runs_s", cost->running_s);
	kwhy_json_real(json, "cpu_s", cost->cpu_s);
	kwhy_json_real(json, "core_ratio", cost->running_s > 0 ? cost->cpu_s / cost->running_s : NAN);
	kwhy_json_real(json, "machine_busy_s", cost->busy_s);
	kwhy_json_real(json, "modelled_j", kwhy_stat_cost_j(stat));
	kwhy_json_real(json, "all_s", cost->all_s);
	kwhy_json_real(json, "all_cpu_s", cost->all_cpu_s);
	kwhy_json_count(json, "reads", cost->reads);
	kwhy_json_count(json, "missed_deadlines", cost->missed);
	kwhy_json_real(json, "longest_read_s", cost->longest_read_s);
	kwhy_json_real(json, "clock_drift_ratio", cost->drift_ratio);
	kwhy_json_real(json, "clock_step_s", cost->step_s);
	kwhy_json_count(json, "lost_readings", cost->lost);
	kwhy_json_count(json, "failed_readings", cost->failures);
	kwhy_json_object_end(json);
}

static void write_missing(
	struct kwhy_json *json, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	kwhy_json_array(json, "not_available");
	for (size_t i = 0; i < stat->absence_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "backend", stat->absences[i].backend);
		kwhy_json_string(json, "text", stat->absences[i].text);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_array(json, "notes");
	for (size_t i = 0; i < summary->note_count; i++)
		kwhy_json_string(json, NULL, summary->notes[i]);
	kwhy_json_array_end(json);
}

static void write_time(struct kwhy_json *json, const struct kwhy_stat_summary *summary)
{
	kwhy_json_object(json, "time");
	write_figure(json, "elapsed_s", &summary->elapsed_s);
	write_figure(json, "user_s", &summary->user_s);
	write_figure(json, "system_s", &summary->system_s);
	kwhy_json_real(json, "max_rss_bytes", summary->max_rss_bytes);
	kwhy_json_object_end(json);
}

static void write_arrays(
	struct kwhy_json *json, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++)
		write_domain(json, &stat->domains[d], &summary->domains[d]);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "work");
	for (size_t w = 0; w < stat->work_count; w++)
		write_work(json, stat, summary, w);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "metrics");
	for (size_t m = 0; m < stat->metric_count; m++)
		write_metric(json, &stat->metrics[m]);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "intervals");
	for (size_t i = 0; i < stat->interval_count; i++)
		write_interval(json, stat, i);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "runs");
	for (size_t r = 0; r < stat->run_count; r++)
		write_run(json, stat, &stat->runs[r]);
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_stat_json(const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_stat_summary summary;
	struct kwhy_json json;
	enum kwhy_status status = kwhy_stat_summary_make(stat, &summary, error);

	if (status)
		return status;
	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	write_head(&json, stat);
	write_time(&json, &summary);
	write_arrays(&json, stat, &summary);
	write_cost(&json, stat);
	write_missing(&json, stat, &summary);
	kwhy_json_object_end(&json);
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
