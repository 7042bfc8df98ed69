/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/plan.h"

#include "base/file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AT_ONCE_MAX = 1024, RATE_MAX = 100000, PROMPT_BYTES_MAX = 64 << 20 };

static enum kwhy_status check_times(const struct kwhy_llm_options *options, struct kwhy_error *error)
{
	if (!(options->seconds > 0 && options->seconds <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--seconds takes more than 0, up to 3600, a load");
	if (!(options->ramp >= 0 && 2 * options->ramp < options->seconds))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--ramp is cut off at both ends: it takes less than half of --seconds");
	if (!(options->stall > 0 && options->stall <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--stall takes more than 0, up to 3600 seconds");
	if (!(options->idle >= 1 && options->idle <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--idle takes 1 to 60 seconds");
	if (options->words < 1 || options->words > 1000000 || options->max_tokens < 1 ||
		options->max_tokens > 1000000)
		return kwhy_fail(error, KWHY_E_USAGE, "--prompt-words and --max-tokens take 1 to 1000000");
	return KWHY_OK;
}

static enum kwhy_status add_load(
	struct kwhy_llm_plan *plan, double rate_per_s, double at_once, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;

	if (plan->row_count == KWHY_LLM_LOADS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "at most %d loads at a time", KWHY_LLM_LOADS_MAX);
	plan->rows[plan->row_count].words = options->words;
	plan->rows[plan->row_count].max_tokens = options->max_tokens;
	plan->rows[plan->row_count++].load = (struct kwhy_llm_load){.rate_per_s = rate_per_s,
		.concurrency = (uint32_t)at_once,
		.duration_ns = (int64_t)(options->seconds * 1e9),
		.ramp_ns = (int64_t)(options->ramp * 1e9),
		.stall_ns = (int64_t)(options->stall * 1e9),
		.seed = options->seed};
	return KWHY_OK;
}

static bool is_load(double value, bool is_rate)
{
	return value > 0 && value <= (is_rate ? RATE_MAX : AT_ONCE_MAX) && (is_rate || value == floor(value));
}

/* Reads a list of loads: "1,2,4". Each is at most `most`, and a whole number unless loads are rates. */
static enum kwhy_status add_loads(
	struct kwhy_llm_plan *plan, const char *list, bool is_rate, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	const char *at = list;

	do {
		char *end;
		double value = strtod(at, &end);

		if (end == at || (*end && (*end != ',' || !end[1])) || !is_load(value, is_rate))
			return kwhy_fail(error, KWHY_E_USAGE,
				"--%s takes %s up to %d with commas between, not '%.40s'",
				is_rate ? "rate" : "concurrency",
				is_rate ? "requests a second" : "whole numbers",
				is_rate ? RATE_MAX : AT_ONCE_MAX, list);
		status = is_rate ? add_load(plan, value, AT_ONCE_MAX, error)
				 : add_load(plan, NAN, value, error);
		at = *end ? end + 1 : end;
	} while (!status && *at);
	return status;
}

static enum kwhy_status read_prompts(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	size_t lines = 1, count = 0;
	enum kwhy_status status = kwhy_file_read(
		plan->options->prompts, PROMPT_BYTES_MAX, &plan->text, error);

	if (status)
		return status;
	for (size_t i = 0; i < plan->text.length; i++)
		lines += plan->text.data[i] == '\n';
	plan->prompts = calloc(lines, sizeof(*plan->prompts));
	if (!plan->prompts)
		return kwhy_fail_memory(error, "the prompts");
	for (char *rest = plan->text.data, *line; rest && (line = strtok_r(rest, "\n", &rest));)
		plan->prompts[count++] = line;
	if (!count)
		return kwhy_fail(error, KWHY_E_INPUT, "%s has no line with a prompt", plan->options->prompts);
	plan->question.prompts = plan->prompts;
	plan->question.prompt_count = count;
	return KWHY_OK;
}

static enum kwhy_status set_question(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	bool is_chat = strcmp(options->endpoint, "chat") == 0;

	if (!is_chat && strcmp(options->endpoint, "completions") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--endpoint takes chat or completions, not '%.40s'",
			options->endpoint);
	plan->question = (struct kwhy_llm_question){
		.endpoint = is_chat ? KWHY_LLM_CHAT : KWHY_LLM_COMPLETIONS,
		.model = options->model,
		.words = options->words,
		.max_tokens = options->max_tokens,
		.seed = options->seed,
		.ignore_eos = options->ignore_eos,
	};
	return options->prompts ? read_prompts(plan, error) : KWHY_OK;
}

/* Checks that at most one source of energy is given. */
static enum kwhy_status check_meters(const struct kwhy_llm_options *options, struct kwhy_error *error)
{
	if (!options->meters && (options->meters_token || options->meters_ca))
		return kwhy_fail(error, KWHY_E_USAGE, "--meters-token and --meters-ca go with --meters");
	if (options->meters && (options->replay || options->no_energy))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--meters does not go with --power-file or --no-energy");
	return KWHY_OK;
}

/*
 * Loads between which prompts, outputs and steps differ most, so that a fit can distinguish their joules:
 * prompts alone, answers alone one at a time and many at a time, and two mixtures.
 */
static enum kwhy_status add_design(struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	const struct kwhy_llm_options *options = plan->options;
	const uint64_t words = options->words, tokens = options->max_tokens;
	const struct {
		const char *name;
		double at_once;
		uint64_t words, tokens;
	} loads[] = {
		{"prompts", 1, 4 * words, 1},
		{"answers", 1, 8, tokens},
		{"16 answers", 16, 8, tokens},
		{"4 mixed", 4, words, tokens},
		{"8 short", 8, words, tokens > 4 ? tokens / 4 : 1},
	};
	enum kwhy_status status = KWHY_OK;

	if (options->concurrency || options->rate || options->prompts || options->no_energy)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--design makes its own loads: it does not go with --concurrency, --rate, --prompts "
			"or "
			"--no-energy");
	for (size_t i = 0; !status && i < sizeof(loads) / sizeof(loads[0]); i++) {
		status = add_load(plan, NAN, loads[i].at_once, error);
		plan->rows[i].name = loads[i].name;
		plan->rows[i].words = loads[i].words;
		plan->rows[i].max_tokens = loads[i].tokens;
	}
	return status;
}

enum kwhy_status kwhy_llm_plan_make(
	const struct kwhy_llm_options *options, struct kwhy_llm_plan *plan, struct kwhy_error *error)
{
	enum kwhy_status status;

	*plan = (struct kwhy_llm_plan){.options = options};
	if (!options->url)
		return kwhy_fail(error, KWHY_E_USAGE,
			"which server? name it with --url, like http://localhost:8000/v1");
	status = check_times(options, error);
	if (!status)
		status = check_meters(options, error);
	if (!status && options->design)
		status = add_design(plan, error);
	if (!status && options->concurrency)
		status = add_loads(plan, options->concurrency, false, error);
	if (!status && options->rate)
		status = add_loads(plan, options->rate, true, error);
	if (!status && !plan->row_count)
		status = add_loads(plan, "1,2,4,8", false, error);
	return status ? status : set_question(plan, error);
}

void kwhy_llm_plan_done(struct kwhy_llm_plan *plan)
{
	free(plan->prompts);
	kwhy_text_done(&plan->text);
}
