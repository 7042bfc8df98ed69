/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/llm.h"

#include "import/own_result.h"
#include "import/results/values.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 160 };

/* Width of a 95 % interval over that of a 90 % interval of a normally distributed figure. */
#define TO_95 (1.959964 / 1.644854)

/*
 * Where a figure is in the JSON: in the member `member` of the object `object`, or, if that is NULL, directly
 * in the load (for of_loads) or in the whole result (for of_all). `widening` is the factor by which the
 * file's interval is widened to one of 95 %.
 */
struct source {
	const char *name, *unit, *object, *member;
	bool is_main;
	double widening;
};

static const struct source of_loads[] = {
	{"throughput", "/s", NULL, "tokens_per_s", true, 1},
	{"goodput", "/s", NULL, "good_per_s", true, 1},
	{"ttft.mean", "s", "first_s", "mean", false, 1},
	{"ttft.p50", "s", "first_s", "p50", true, 1},
	{"ttft.p95", "s", "first_s", "p95", false, 1},
	{"ttft.p99", "s", "first_s", "p99", true, 1},
	{"tpot.mean", "s", "token_s", "mean", false, 1},
	{"tpot.p50", "s", "token_s", "p50", true, 1},
	{"tpot.p95", "s", "token_s", "p95", false, 1},
	{"tpot.p99", "s", "token_s", "p99", true, 1},
	{"itl.mean", "s", "gap_s", "mean", false, 1},
	{"itl.p50", "s", "gap_s", "p50", false, 1},
	{"itl.p95", "s", "gap_s", "p95", false, 1},
	{"itl.p99", "s", "gap_s", "p99", false, 1},
	{"e2e.mean", "s", "answer_s", "mean", false, 1},
	{"e2e.p50", "s", "answer_s", "p50", true, 1},
	{"e2e.p95", "s", "answer_s", "p95", false, 1},
	{"e2e.p99", "s", "answer_s", "p99", true, 1},
	{"joules-per-token", "J", "energy", "j_a_token", true, 1},
	{"above-idle-joules-per-token", "J", "energy", "above_idle_j_a_token", false, 1},
	{"tokens-per-joule", "", "energy", "tokens_a_j", false, 1},
	{"joules-per-request", "J", "energy", "j_a_request", true, 1},
	{"above-idle-joules-per-request", "J", "energy", "above_idle_j_a_request", false, 1},
};

static const struct source of_all[] = {
	{"joules-per-prompt-token", "J", "requests_energy", "j_a_prompt_token_with_batches", true, TO_95},
	{"joules-per-cached-prompt-token", "J", "requests_energy", "j_a_cached_prompt_token", false, TO_95},
	{"joules-per-output-token", "J", "requests_energy", "j_an_output_token_with_steps", true, TO_95},
	{"joules-per-prompt-batch", "J", "requests_energy", "j_a_prompt_batch", false, TO_95},
	{"joules-per-step", "J", "requests_energy", "j_a_step", false, TO_95},
	{"joules-per-context-token", "J", "requests_energy", "j_a_context_token", false, TO_95},
	{"idle-power", "W", NULL, "idle_w", false, 1},
};

/* Names of figures that add_value() and add_length() compute from several members. */
static const char failed_ratio[] = "failed-ratio", answers[] = "answers", of_length[] = "length-joules";

struct reading {
	struct kwhy_read_llm *llm;
	bool no_memory;
};

enum {
	LOAD_FIGURES = sizeof(of_loads) / sizeof(of_loads[0]),
	ALL_FIGURES = sizeof(of_all) / sizeof(of_all[0]),
	OTHER_FIGURES = 3
};

struct kwhy_read_llm_name kwhy_read_llm_name_at(size_t index)
{
	const struct kwhy_read_llm_name others[OTHER_FIGURES] = {
		{answers, "/s"}, {failed_ratio, ""}, {of_length, "J"}};

	if (index < LOAD_FIGURES)
		return (struct kwhy_read_llm_name){of_loads[index].name, of_loads[index].unit};
	index -= LOAD_FIGURES;
	if (index < ALL_FIGURES)
		return (struct kwhy_read_llm_name){of_all[index].name, of_all[index].unit};
	index -= ALL_FIGURES;
	return index < OTHER_FIGURES ? others[index] : (struct kwhy_read_llm_name){NULL, NULL};
}

static const char *keep(struct reading *reading, const char *text)
{
	const char *copy = kwhy_arena_copy(&reading->llm->arena, text);

	reading->no_memory |= !copy;
	return copy ? copy : "";
}

/*
 * The figure in a member that is a number, or an object with `value`, `low` and `high`; its interval is
 * widened by `widening`. A missing member gives count 0 and NAN.
 */
static struct kwhy_estimate estimate_of(const json_t *figure, double widening)
{
	struct kwhy_estimate estimate = {0, NAN, NAN, NAN, NAN, NAN, NAN};

	if (json_is_number(figure))
		estimate.mean = json_number_value(figure);
	else if (json_is_object(figure)) {
		estimate.mean = kwhy_json_real_of(figure, "value");
		estimate.low = estimate.mean + widening * (kwhy_json_real_of(figure, "low") - estimate.mean);
		estimate.high = estimate.mean +
			widening * (kwhy_json_real_of(figure, "high") - estimate.mean);
	}
	estimate.count = isfinite(estimate.mean);
	return estimate;
}

static void add(struct reading *reading, const char *of, const char *name, const char *unit, bool is_main,
	struct kwhy_estimate estimate)
{
	struct kwhy_read_llm *llm = reading->llm;

	llm->figures[llm->figure_count++] = (struct kwhy_read_llm_figure){of, name, unit, is_main, estimate};
}

static void add_value(struct reading *reading, const char *of, const char *name, const char *unit,
	bool is_main, double value)
{
	add(reading, of, name, unit, is_main,
		(struct kwhy_estimate){isfinite(value), value, NAN, NAN, NAN, NAN, NAN});
}

static void add_sources(struct reading *reading, const json_t *object, const char *of,
	const struct source *sources, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct source *source = &sources[i];
		const json_t *in = source->object ? json_object_get(object, source->object) : object;

		add(reading, of, source->name, source->unit, source->is_main,
			estimate_of(json_object_get(in, source->member), source->widening));
	}
}

/*
 * Name of a load: the name that the file states, or its concurrency ("8 concurrent") or rate ("4 /s"), so
 * that equal loads of different results have equal names. If an earlier load of this result has the name, a
 * number follows it.
 */
static const char *name_of(struct reading *reading, const json_t *load)
{
	const char *name = kwhy_json_text_of(load, "name");
	double rate = kwhy_json_real_of(load, "rate_per_s"), at_once = kwhy_json_real_of(load, "concurrency");
	char text[NAME_BYTES], numbered[NAME_BYTES];
	size_t equal = 0;

	if (*name)
		snprintf(text, sizeof(text), "%.100s", name);
	else if (strcmp(kwhy_json_text_of(load, "loop"), "closed") == 0)
		snprintf(text, sizeof(text), "%.0f concurrent", at_once);
	else
		snprintf(text, sizeof(text), "%.4g /s", rate);
	for (size_t i = 0; i < reading->llm->load_count; i++)
		equal += strncmp(reading->llm->loads[i], text, strlen(text)) == 0 &&
			strchr(" ", reading->llm->loads[i][strlen(text)]) != NULL;
	if (equal)
		snprintf(numbered, sizeof(numbered), "%.120s (%zu)", text, equal + 1);
	return keep(reading, equal ? numbered : text);
}

static void read_load(struct reading *reading, const json_t *load)
{
	const char *of = name_of(reading, load);
	double done = kwhy_json_real_of(json_object_get(load, "outcomes"), "done"),
	       requests = kwhy_json_real_of(load, "requests");

	reading->llm->loads[reading->llm->load_count++] = of;
	add_sources(reading, load, of, of_loads, LOAD_FIGURES);
	add_value(reading, of, answers, "/s", false, done / kwhy_json_real_of(load, "steady_s"));
	add_value(reading, of, failed_ratio, "", true, requests > 0 ? 1 - done / requests : NAN);
}

/*
 * Adds the figures of the best load: of the loads that keep the limits (slo), the one with the most good
 * answers per second. Without limits there is no best load. If no load keeps them, its goodput is 0.
 */
static void read_best(struct reading *reading, const json_t *root)
{
	static const char best[] = "the best load";
	const json_t *number = json_object_get(root, "best_load"),
		     *load = json_array_get(
			     json_object_get(root, "loads"), (size_t)json_integer_value(number) - 1);

	if (!*reading->llm->slo)
		return;
	add_value(reading, best, "goodput", "/s", true, load ? kwhy_json_real_of(load, "good_per_s") : 0);
	if (load)
		add(reading, best, "joules-per-token", "J", true,
			estimate_of(json_object_get(json_object_get(load, "energy"), "j_a_token"), 1));
}

/*
 * Adds the mean joules of a request of one range of lengths: prefill plus decode. The half-widths of their
 * intervals are added, which is an upper limit of the sum's half-width whatever the correlation of their
 * errors.
 */
static void add_length(struct reading *reading, const char *of, const json_t *group)
{
	double mean = kwhy_json_real_of(group, "mean_prefill_j") + kwhy_json_real_of(group, "mean_decode_j");
	double half = TO_95 *
		(kwhy_json_real_of(group, "half_prefill_j") + kwhy_json_real_of(group, "half_decode_j"));

	add(reading, of, of_length, "J", true,
		(struct kwhy_estimate){isfinite(mean), mean, mean - half, mean + half, NAN, NAN, NAN});
}

static void read_lengths(struct reading *reading, const json_t *groups)
{
	const json_t *group;
	size_t i;

	json_array_foreach((json_t *)groups, i, group)
	{
		double from = kwhy_json_real_of(group, "tokens_from"),
		       to = kwhy_json_real_of(group, "tokens_to");
		char of[NAME_BYTES];

		if (isfinite(to))
			snprintf(of, sizeof(of), "%.0f to %.0f tokens", from, to - 1);
		else
			snprintf(of, sizeof(of), "%.0f tokens and more", from);
		add_length(reading, keep(reading, of), group);
	}
}

/*
 * Appends `words` and the member `key` of the result, a number or a text, to the description of the requests;
 * nothing if the member is missing. If "prompt_tokens" is missing and nothing was appended before, the
 * prompts came from a file, which is appended.
 */
static void add_asked(struct kwhy_text *out, const json_t *root, const char *key, const char *words)
{
	const json_t *member = json_object_get(root, key);

	if (json_is_number(member))
		kwhy_text_addf(out, "%s%s%.10g", out->length ? ", " : "", words, json_number_value(member));
	else if (json_is_string(member))
		kwhy_text_addf(out, "%s%s%.100s", out->length ? ", " : "", words, json_string_value(member));
	else if (strcmp(key, "prompt_tokens") == 0 && !out->length)
		kwhy_text_add(out, "prompts of a file");
}

static void read_head(struct reading *reading, const json_t *root)
{
	struct kwhy_read_llm *llm = reading->llm;
	struct kwhy_text asked = {0};

	llm->url = keep(reading, kwhy_json_text_of(root, "url"));
	llm->model = keep(reading, kwhy_json_text_of(root, "model"));
	llm->slo = keep(reading, kwhy_json_text_of(root, "slo"));
	add_asked(&asked, root, "prompt_words", "words of a prompt ");
	add_asked(&asked, root, "prompt_tokens", "tokens of a prompt ");
	add_asked(&asked, root, "max_tokens", "at most tokens ");
	add_asked(&asked, root, "endpoint", "");
	if (json_is_false(json_object_get(root, "streams")))
		kwhy_text_add(&asked, ", answers in one piece");
	reading->no_memory |= asked.failed;
	llm->asked = keep(reading, asked.data ? asked.data : "");
	kwhy_text_done(&asked);
}

static struct kwhy_read_llm_steady steady_of(const json_t *load)
{
	return (struct kwhy_read_llm_steady){
		json_integer_value(json_object_get(load, "steady_start_unix_ns")),
		kwhy_json_real_of(load, "steady_s"), kwhy_json_real_of(load, "answers"),
		kwhy_json_real_of(load, "prompt_tokens"), kwhy_json_real_of(load, "tokens")};
}

static enum kwhy_status read_all(struct reading *reading, const json_t *root, struct kwhy_error *error)
{
	struct kwhy_read_llm *llm = reading->llm;
	const json_t *loads = json_object_get(root, "loads"), *load,
		     *groups = json_object_get(json_object_get(root, "requests_energy"), "by_length");
	size_t count = json_array_size(loads), i;

	if (!count)
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s has no load; run kwhy llm again", llm->label);
	llm->loads = kwhy_arena_alloc(&llm->arena, count, sizeof(*llm->loads));
	llm->figures = kwhy_arena_alloc(&llm->arena,
		(count + 2) * (LOAD_FIGURES + ALL_FIGURES + OTHER_FIGURES) + json_array_size(groups),
		sizeof(*llm->figures));
	llm->steady = kwhy_arena_alloc(&llm->arena, count, sizeof(*llm->steady));
	if (!llm->loads || !llm->steady || !llm->figures)
		return kwhy_fail_memory(error, "a result of kwhy llm");
	read_head(reading, root);
	json_array_foreach((json_t *)loads, i, load)
	{
		llm->steady[i] = steady_of(load);
		read_load(reading, load);
	}
	read_best(reading, root);
	read_lengths(reading, groups);
	add_sources(reading, root, "all loads", of_all, ALL_FIGURES);
	return reading->no_memory ? kwhy_fail_memory(error, "a result of kwhy llm") : KWHY_OK;
}

static enum kwhy_status check_schema(const char *label, const char *schema, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (strcmp(schema, "kwhy.llm/1") == 0)
		return KWHY_OK;
	status = kwhy_own_result_refuse(label, schema, "a result of kwhy llm like the first", error);
	if (status)
		return status;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%.300s is not a result of kwhy llm that this version knows: its \"schema\" is %s%.40s%s and "
		"not "
		"\"kwhy.llm/1\"; write it again with kwhy llm --json",
		label, *schema ? "\"" : "", *schema ? schema : "missing", *schema ? "\"" : "");
}

enum kwhy_status kwhy_read_llm_of(struct kwhy_read_llm *llm, const char *label, const char *json,
	size_t length, struct kwhy_error *error)
{
	struct reading reading = {.llm = llm};
	enum kwhy_status status;
	json_error_t where;
	json_t *root = json_loadb(json, length, 0, &where);

	*llm = (struct kwhy_read_llm){0};
	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s line %d: %s; write it again with kwhy llm --json", label, where.line,
			where.text);
	llm->label = keep(&reading, label);
	status = check_schema(label, kwhy_json_text_of(root, "schema"), error);
	if (!status)
		status = read_all(&reading, root, error);
	json_decref(root);
	if (status)
		kwhy_read_llm_done(llm);
	return status;
}

void kwhy_read_llm_done(struct kwhy_read_llm *llm)
{
	kwhy_arena_done(&llm->arena);
	*llm = (struct kwhy_read_llm){0};
}
