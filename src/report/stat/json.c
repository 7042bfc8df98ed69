/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat.h"
#include "report/stat/columns.h"
#include "report/stat/kernels.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static void write_domain(struct kwhy_json *json, const struct kwhy_stat_row *row)
{
	kwhy_json_object(json, NULL);
	kwhy_columns_json(&kwhy_stat_domain_columns, json, row);
	kwhy_json_row(json, "idle");
	kwhy_columns_json(&kwhy_stat_idle_columns, json, row);
	kwhy_json_object_end(json);
	kwhy_json_object_end(json);
}

static void write_work(struct kwhy_json *json, const struct kwhy_stat *stat,
	const struct kwhy_stat_summary *summary, size_t w)
{
	struct kwhy_stat_row row = kwhy_stat_row_of(stat, summary, KWHY_STAT_NO_DOMAIN, w);

	kwhy_json_object(json, NULL);
	kwhy_columns_json(&kwhy_stat_work_columns, json, &row);
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++) {
		row = kwhy_stat_row_of(stat, summary, d, w);
		kwhy_json_object(json, NULL);
		kwhy_columns_json(&kwhy_stat_work_domain_columns, json, &row);
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

static void write_run(struct kwhy_json *json, const struct kwhy_stat *stat, size_t r)
{
	struct kwhy_stat_row row = kwhy_stat_run_row_of(stat, r, KWHY_STAT_NO_DOMAIN);

	kwhy_json_object(json, NULL);
	kwhy_columns_json(&kwhy_stat_run_columns, json, &row);
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++) {
		row = kwhy_stat_run_row_of(stat, r, d);
		kwhy_json_row(json, NULL);
		kwhy_columns_json(&kwhy_stat_run_domain_columns, json, &row);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_list(json, "work");
	for (size_t w = 0; w < stat->work_count; w++)
		kwhy_json_real(json, NULL, row.run.work[w]);
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

static void write_member(
	struct kwhy_json *json, const char *key, const struct kwhy_columns *columns, const void *row)
{
	kwhy_json_object(json, key);
	kwhy_columns_json(columns, json, row);
	kwhy_json_object_end(json);
}

static void write_arrays(
	struct kwhy_json *json, const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary)
{
	kwhy_json_array(json, "domains");
	for (size_t d = 0; d < stat->domain_count; d++) {
		const struct kwhy_stat_row row = kwhy_stat_row_of(stat, summary, d, KWHY_STAT_NO_WORK);

		write_domain(json, &row);
	}
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
		write_run(json, stat, r);
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_stat_json(const struct kwhy_stat *stat, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_stat_summary summary;
	struct kwhy_stat_row whole;
	struct kwhy_json json;
	enum kwhy_status status = kwhy_stat_summary_make(stat, &summary, error);

	if (status)
		return status;
	whole = kwhy_stat_row_of(stat, &summary, KWHY_STAT_NO_DOMAIN, KWHY_STAT_NO_WORK);
	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	write_head(&json, stat);
	write_member(&json, "time", &kwhy_stat_time_columns, &whole);
	write_arrays(&json, stat, &summary);
	kwhy_stat_kernels_json(stat, &json);
	write_member(&json, "own_cost", &kwhy_stat_cost_columns, stat);
	write_missing(&json, stat, &summary);
	kwhy_json_object_end(&json);
	kwhy_stat_summary_done(&summary);
	return kwhy_text_check(out, error);
}
