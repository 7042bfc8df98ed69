/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/stat.h"

#include "import/own_result.h"
#include "import/results/values.h"

#include <math.h>
#include <string.h>

/* A result that is being read. no_memory: an allocation failed. */
struct reading {
	struct kwhy_read_stat *stat;
	bool no_memory;
};

static const char *keep(struct reading *reading, const char *text)
{
	const char *copy = kwhy_arena_copy(&reading->stat->arena, text);

	reading->no_memory |= !copy;
	return copy ? copy : "";
}

/* Memory for `count` items, owned by the result. NULL: `count` is 0, or memory is exhausted (no_memory). */
static void *list_for(struct reading *reading, size_t count, size_t item_bytes)
{
	void *list = count ? kwhy_arena_alloc(&reading->stat->arena, count, item_bytes) : NULL;

	reading->no_memory |= count && !list;
	return list;
}

static struct kwhy_estimate estimate_of(const json_t *figure)
{
	const json_int_t count = json_integer_value(json_object_get(figure, "count"));

	return (struct kwhy_estimate){
		.count = count > 0 ? (size_t)count : 0,
		.mean = kwhy_json_real_of(figure, "mean"),
		.low = kwhy_json_real_of(figure, "low"),
		.high = kwhy_json_real_of(figure, "high"),
		.deviation = kwhy_json_real_of(figure, "deviation"),
		.least = kwhy_json_real_of(figure, "least"),
		.most = kwhy_json_real_of(figure, "most"),
	};
}

/*
 * Reads the figures of an object: its members that are objects with a member "mean". Other members are left
 * out.
 */
static struct kwhy_read_figures read_figures(struct reading *reading, const json_t *object)
{
	struct kwhy_read_figures figures = {
		list_for(reading, json_object_size(object), sizeof(*figures.items)), 0};
	const char *key;
	json_t *member;

	if (!figures.items)
		return figures;
	json_object_foreach((json_t *)object, key, member)
	{
		if (json_is_object(member) && json_object_get(member, "mean"))
			figures.items[figures.count++] = (struct kwhy_read_figure){
				keep(reading, key), estimate_of(member)};
	}
	return figures;
}

static struct kwhy_read_domain *read_domains(struct reading *reading, const json_t *array, size_t *out_count)
{
	struct kwhy_read_domain *domains = list_for(reading, json_array_size(array), sizeof(*domains));
	size_t i;
	json_t *item;

	*out_count = domains ? json_array_size(array) : 0;
	if (!domains)
		return NULL;
	json_array_foreach((json_t *)array, i, item) domains[i] = (struct kwhy_read_domain){
		keep(reading, kwhy_json_text_of(item, "name")), read_figures(reading, item)};
	return domains;
}

static void read_work(struct reading *reading, const json_t *array)
{
	struct kwhy_read_stat *stat = reading->stat;
	size_t i;
	json_t *item;

	stat->work = list_for(reading, json_array_size(array), sizeof(*stat->work));
	if (!stat->work)
		return;
	json_array_foreach((json_t *)array, i, item)
	{
		struct kwhy_read_stat_work *work = &stat->work[stat->work_count++];

		work->unit = keep(reading, kwhy_json_text_of(item, "unit"));
		work->figures = read_figures(reading, item);
		work->domains = read_domains(reading, json_object_get(item, "domains"), &work->domain_count);
	}
}

static void read_metric(struct reading *reading, const json_t *item, struct kwhy_read_metric *metric)
{
	const json_t *points = json_object_get(item, "points");
	size_t i;
	json_t *point;

	metric->name = keep(reading, kwhy_json_text_of(item, "name"));
	metric->points = list_for(reading, json_array_size(points), sizeof(*metric->points));
	if (!metric->points)
		return;
	json_array_foreach((json_t *)points, i, point)
		metric->points[metric->point_count++] = (struct kwhy_read_point){
		kwhy_json_real_of(point, "run"), kwhy_json_real_of(point, "value"),
		kwhy_json_real_of(point, "joules"), kwhy_json_real_of(point, "time_s")};
}

static void read_metrics(struct reading *reading, const json_t *array)
{
	struct kwhy_read_stat *stat = reading->stat;
	size_t i;
	json_t *item;

	stat->metrics = list_for(reading, json_array_size(array), sizeof(*stat->metrics));
	if (!stat->metrics)
		return;
	json_array_foreach((json_t *)array, i, item)
		read_metric(reading, item, &stat->metrics[stat->metric_count++]);
}

static void read_all(struct reading *reading, const json_t *root)
{
	struct kwhy_read_stat *stat = reading->stat;
	const json_t *domains = json_object_get(root, "domains");
	const json_t *main_domain = kwhy_json_main_domain(domains);

	stat->command = keep(reading, kwhy_json_text_of(root, "command"));
	stat->run_count = json_array_size(json_object_get(root, "runs"));
	stat->time = read_figures(reading, json_object_get(root, "time"));
	stat->domains = read_domains(reading, domains, &stat->domain_count);
	if (main_domain)
		stat->main_domain = keep(reading, kwhy_json_text_of(main_domain, "name"));
	read_work(reading, json_object_get(root, "work"));
	read_metrics(reading, json_object_get(root, "metrics"));
}

static enum kwhy_status check_schema(const char *label, const char *schema, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (strcmp(schema, "kwhy.stat/1") == 0)
		return KWHY_OK;
	status = kwhy_own_result_refuse(label, schema, "a result of kwhy stat like the first", error);
	if (status)
		return status;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%.300s is not a result of kwhy stat that this version knows: its \"schema\" is %s%.40s%s "
		"and not \"kwhy.stat/1\"; write it again with kwhy stat --json",
		label, *schema ? "\"" : "", *schema ? schema : "missing", *schema ? "\"" : "");
}

enum kwhy_status kwhy_read_stat_of(struct kwhy_read_stat *stat, const char *label, const char *json,
	size_t length, struct kwhy_error *error)
{
	struct reading reading = {.stat = stat};
	enum kwhy_status status;
	json_error_t where;
	json_t *root = json_loadb(json, length, 0, &where);

	*stat = (struct kwhy_read_stat){0};
	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s line %d: %s; write it again with kwhy stat --json", label, where.line,
			where.text);
	stat->label = keep(&reading, label);
	status = check_schema(label, kwhy_json_text_of(root, "schema"), error);
	if (!status)
		read_all(&reading, root);
	if (!status && reading.no_memory)
		status = kwhy_fail_memory(error, "a result of kwhy stat");
	json_decref(root);
	if (status)
		kwhy_read_stat_done(stat);
	return status;
}

void kwhy_read_stat_done(struct kwhy_read_stat *stat)
{
	kwhy_arena_done(&stat->arena);
	*stat = (struct kwhy_read_stat){0};
}

struct kwhy_estimate kwhy_read_figure_of(const struct kwhy_read_figures *figures, const char *key)
{
	for (size_t i = 0; figures && i < figures->count; i++)
		if (strcmp(figures->items[i].key, key) == 0)
			return figures->items[i].estimate;
	return (struct kwhy_estimate){
		.mean = NAN, .low = NAN, .high = NAN, .deviation = NAN, .least = NAN, .most = NAN};
}

const struct kwhy_read_domain *kwhy_read_domain_of(
	const struct kwhy_read_domain *domains, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (strcmp(domains[i].name, name) == 0)
			return &domains[i];
	return NULL;
}
