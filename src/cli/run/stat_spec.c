/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/stat_spec.h"

#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES_MAX = 40 };

/*
 * Splits the value of --work or --metric at its first '='. *out_name is the name before it, of at most
 * NAME_BYTES_MAX letters, digits and "_.-"; *out_rest is the text after it, and is unchanged if there is no
 * '='. Both are in stat's arena.
 */
static enum kwhy_status split(const char *option, const char *spec, struct kwhy_stat *stat,
	const char **out_name, const char **out_rest, struct kwhy_error *error)
{
	size_t length = strcspn(spec, "=");
	const char *rest = spec[length] ? spec + length + 1 : NULL;

	if (length == 0 || length > NAME_BYTES_MAX ||
		strspn(spec, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-") < length)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s '%.100s': write NAME=..., with a name of letters, digits and _ . - of up to %d",
			option, spec, NAME_BYTES_MAX);
	*out_name = kwhy_arena_printf(&stat->arena, "%.*s", (int)length, spec);
	if (rest)
		*out_rest = kwhy_arena_copy(&stat->arena, rest);
	return *out_name && (!rest || *out_rest) ? KWHY_OK : kwhy_fail_memory(error, "the command line");
}

/* The number that the whole text consists of; NAN: it is no finite number. */
static double number_of(const char *text)
{
	char *end;
	double value = strtod(text, &end);

	return end != text && !*end && isfinite(value) ? value : NAN;
}

/* Reads the text after the "=" of --work: a number or a regular expression. */
static enum kwhy_status read_amount(struct kwhy_stat_specs *specs, struct kwhy_stat_work *work,
	const char *rest, struct kwhy_error *error)
{
	double stated = number_of(rest);
	char option[NAME_BYTES_MAX + 16];

	snprintf(option, sizeof(option), "--work %s", work->unit);
	if (stated <= 0)
		return kwhy_fail(error, KWHY_E_USAGE, "%s: an amount of work is above 0", option);
	if (isfinite(stated)) {
		work->from = KWHY_STAT_WORK_STATED;
		specs->stated[specs->work_count] = stated;
		return KWHY_OK;
	}
	work->from = KWHY_STAT_WORK_OUTPUT;
	work->pattern = rest;
	specs->watching = true;
	return kwhy_pattern_init(&specs->work[specs->work_count], option, rest, error);
}

static enum kwhy_status add_work(
	struct kwhy_stat_specs *specs, const char *spec, struct kwhy_stat *stat, struct kwhy_error *error)
{
	struct kwhy_stat_work *work = &stat->work[stat->work_count];
	const char *rest = NULL;
	enum kwhy_status status = split("--work", spec, stat, &work->unit, &rest, error);

	if (!status && !rest) {
		work->from = KWHY_STAT_WORK_REPORTED;
		specs->reporting = true;
	} else if (!status) {
		status = read_amount(specs, work, rest, error);
	}
	if (status)
		return status;
	specs->from[specs->work_count++] = work->from;
	stat->work_count++;
	return KWHY_OK;
}

static enum kwhy_status add_metric(
	struct kwhy_stat_specs *specs, const char *spec, struct kwhy_stat *stat, struct kwhy_error *error)
{
	struct kwhy_stat_metric *metric = &stat->metrics[stat->metric_count];
	char option[NAME_BYTES_MAX + 16];
	enum kwhy_status status = split("--metric", spec, stat, &metric->name, &metric->pattern, error);
	struct kwhy_pattern *pattern = &specs->metrics[specs->metric_count];

	if (status)
		return status;
	snprintf(option, sizeof(option), "--metric %s", metric->name);
	if (!metric->pattern)
		return kwhy_fail(error, KWHY_E_USAGE, "%s: write --metric %s=REGEX", option, metric->name);
	status = kwhy_pattern_init(pattern, option, metric->pattern, error);
	if (status)
		return status;
	specs->metric_count++;
	stat->metric_count++;
	specs->watching = true;
	if (!pattern->captures)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s: '%.200s' has no parentheses to mark the value to read", option, metric->pattern);
	return KWHY_OK;
}

static enum kwhy_status reserve(struct kwhy_stat_specs *specs, const struct kwhy_strings *work,
	const struct kwhy_strings *metrics, struct kwhy_stat *stat, struct kwhy_error *error)
{
	specs->work = calloc(work->count + 1, sizeof(*specs->work));
	specs->metrics = calloc(metrics->count + 1, sizeof(*specs->metrics));
	specs->stated = calloc(work->count + 1, sizeof(*specs->stated));
	specs->from = calloc(work->count + 1, sizeof(*specs->from));
	stat->work = kwhy_arena_alloc(&stat->arena, work->count + 1, sizeof(*stat->work));
	stat->metrics = kwhy_arena_alloc(&stat->arena, metrics->count + 1, sizeof(*stat->metrics));
	if (!specs->work || !specs->metrics || !specs->stated || !specs->from || !stat->work ||
		!stat->metrics)
		return kwhy_fail_memory(error, "the command line");
	return KWHY_OK;
}

enum kwhy_status kwhy_stat_specs_init(struct kwhy_stat_specs *specs, const struct kwhy_strings *work,
	const struct kwhy_strings *metrics, struct kwhy_stat *stat, struct kwhy_error *error)
{
	enum kwhy_status status;

	*specs = (struct kwhy_stat_specs){0};
	status = reserve(specs, work, metrics, stat, error);
	for (size_t i = 0; !status && i < work->count; i++)
		status = add_work(specs, work->items[i], stat, error);
	for (size_t i = 0; !status && i < metrics->count; i++)
		status = add_metric(specs, metrics->items[i], stat, error);
	if (status)
		kwhy_stat_specs_done(specs);
	return status;
}

void kwhy_stat_specs_done(struct kwhy_stat_specs *specs)
{
	for (size_t i = 0; specs->work && i < specs->work_count; i++)
		if (specs->from[i] == KWHY_STAT_WORK_OUTPUT)
			kwhy_pattern_done(&specs->work[i]);
	for (size_t i = 0; specs->metrics && i < specs->metric_count; i++)
		kwhy_pattern_done(&specs->metrics[i]);
	free(specs->work);
	free(specs->metrics);
	free(specs->stated);
	free(specs->from);
	*specs = (struct kwhy_stat_specs){0};
}
