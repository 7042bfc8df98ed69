/* SPDX-License-Identifier: Apache-2.0 */
#include "llm/joules.h"

#include <stdlib.h>
#include <string.h>

static void done_load(struct kwhy_llm_load_joules *load)
{
	kwhy_llm_run_done(&load->run);
	kwhy_llm_shares_done(&load->shares);
	free(load->readings);
	free(load->requests);
	free(load->windows);
}

void kwhy_llm_joules_done(struct kwhy_llm_joules *joules)
{
	for (size_t i = 0; i < joules->count; i++)
		done_load(&joules->loads[i]);
	free(joules->loads);
	kwhy_llm_power_rows_done(&joules->rows);
	*joules = (struct kwhy_llm_joules){0};
}

static struct kwhy_llm_metered metered_of(const struct kwhy_llm_load_joules *load)
{
	return (struct kwhy_llm_metered){load->readings, load->reading_count, load->run.records,
		load->run.count, load->run.steady_start_ns, load->run.steady_end_ns};
}

enum kwhy_status kwhy_llm_joules_add(struct kwhy_llm_joules *joules, struct kwhy_llm_run *run,
	const struct kwhy_llm_reading *readings, size_t count, struct kwhy_error *error)
{
	struct kwhy_llm_load_joules *grown = realloc(joules->loads, (joules->count + 1) * sizeof(*grown)),
				    *load;
	struct kwhy_llm_metered metered;
	enum kwhy_status status;

	if (!grown)
		return kwhy_fail_memory(error, "the requests");
	joules->loads = grown;
	load = &grown[joules->count++];
	*load = (struct kwhy_llm_load_joules){.run = *run};
	*run = (struct kwhy_llm_run){0};
	if (count < 2)
		return KWHY_OK;
	load->readings = malloc(count * sizeof(*readings));
	if (!load->readings)
		return kwhy_fail_memory(error, "the readings of the meters");
	memcpy(load->readings, readings, count * sizeof(*readings));
	load->reading_count = count;
	metered = metered_of(load);
	status = kwhy_llm_shares_make(&metered, &load->shares, error);
	if (!status)
		status = kwhy_llm_power_rows_add(&joules->rows, &metered, &load->shares, error);
	return status;
}

static enum kwhy_status divide(
	struct kwhy_llm_load_joules *load, const struct kwhy_llm_power_fit *fit, struct kwhy_error *error)
{
	const struct kwhy_llm_metered metered = metered_of(load);
	enum kwhy_status status;

	load->requests = calloc(load->run.count + 1, sizeof(*load->requests));
	load->windows = calloc(load->reading_count, sizeof(*load->windows));
	if (!load->requests || !load->windows)
		return kwhy_fail_memory(error, "the joules of the requests");
	status = kwhy_llm_divide(&metered, &load->shares, fit, load->requests, load->windows, error);
	for (size_t i = 0; !status && i + 1 < load->reading_count; i++) {
		load->idle_nj += load->windows[i].idle_nj;
		load->prefill_nj += load->windows[i].prefill_nj;
		load->decode_nj += load->windows[i].decode_nj;
	}
	return status;
}

enum kwhy_status kwhy_llm_joules_finish(struct kwhy_llm_joules *joules, struct kwhy_error *error)
{
	size_t answered = 0, unknown = 0;
	enum kwhy_status status;

	for (size_t i = 0; i < joules->count; i++) {
		answered += joules->loads[i].shares.answered;
		unknown += joules->loads[i].shares.unknown_prompts;
	}
	if (unknown * 10 > answered)
		status = kwhy_fail(&joules->missing, KWHY_E_INPUT,
			"%zu of %zu answers state no tokens of their prompts in their usage", unknown,
			answered);
	else
		status = kwhy_llm_power_fit_of(&joules->rows, &joules->fit, &joules->missing);
	if (status == KWHY_E_INPUT)
		return KWHY_OK;
	if (status) {
		*error = joules->missing;
		return status;
	}
	joules->missing.status = KWHY_OK;
	for (size_t i = 0; !status && i < joules->count; i++)
		if (joules->loads[i].reading_count)
			status = divide(&joules->loads[i], &joules->fit, error);
	return status;
}

/*
 * Index of the group for a number of tokens. The groups end below 64, 256, 1024, ... tokens, each bound 4
 * times the one before; the last group has no end.
 */
static size_t group_of(int64_t tokens)
{
	size_t group = 0;

	for (int64_t bound = 64; group + 1 < KWHY_LLM_LENGTH_GROUPS && tokens >= bound; bound *= 4)
		group++;
	return group;
}

/*
 * The group of a request by the tokens of prompt and answer; NULL: it was not answered in full, or one of
 * these numbers is unknown.
 */
static struct kwhy_llm_length_group *find_group(
	struct kwhy_llm_length_group groups[KWHY_LLM_LENGTH_GROUPS], const struct kwhy_llm_record *record)
{
	if (record->outcome != KWHY_LLM_DONE || record->prompt_tokens < 0 || record->completion_tokens < 0)
		return NULL;
	return &groups[group_of(record->prompt_tokens + record->completion_tokens)];
}

static void add_request(struct kwhy_llm_length_group groups[KWHY_LLM_LENGTH_GROUPS],
	const struct kwhy_llm_record *record, const struct kwhy_llm_request_energy *energy)
{
	struct kwhy_llm_length_group *group = find_group(groups, record);

	if (!group)
		return;
	group->count++;
	group->prompt_tokens += (double)record->prompt_tokens;
	group->output_tokens += (double)record->completion_tokens;
	group->prefill_j += (double)energy->prefill_nj * 1e-9;
	group->decode_j += (double)energy->decode_nj * 1e-9;
}

/*
 * Adds the work of the requests of a load, which shares state for each interval, to the sums of their groups.
 */
static void add_work(
	struct kwhy_llm_length_group groups[KWHY_LLM_LENGTH_GROUPS], const struct kwhy_llm_load_joules *load)
{
	for (size_t i = 0; i < load->shares.count; i++) {
		const struct kwhy_llm_share *share = &load->shares.items[i];
		struct kwhy_llm_length_group *group = find_group(groups, &load->run.records[share->request]);

		for (size_t kind = 0; group && kind < KWHY_LLM_WORK_COUNT; kind++)
			group->work[kind] += share->work[kind];
	}
}

static void set_halves(struct kwhy_llm_length_group *group, const struct kwhy_llm_power_fit *fit)
{
	double prefill[KWHY_LLM_WORK_COUNT] = {0}, decode[KWHY_LLM_WORK_COUNT] = {0};

	for (size_t kind = 0; kind < KWHY_LLM_WORK_COUNT; kind++)
		*(kind < KWHY_LLM_WORK_DECODE ? &prefill[kind] : &decode[kind]) = group->work[kind];
	group->prefill_half_j = kwhy_llm_power_fit_half(fit, prefill);
	group->decode_half_j = kwhy_llm_power_fit_half(fit, decode);
}

void kwhy_llm_joules_by_length(
	const struct kwhy_llm_joules *joules, struct kwhy_llm_length_group out[KWHY_LLM_LENGTH_GROUPS])
{
	int64_t bound = 64;

	for (size_t i = 0; i < KWHY_LLM_LENGTH_GROUPS; i++, bound *= 4)
		out[i] = (struct kwhy_llm_length_group){.tokens_from = i ? bound / 4 : 0,
			.tokens_to = i + 1 < KWHY_LLM_LENGTH_GROUPS ? bound : INT64_MAX};
	for (size_t i = 0; i < joules->count; i++) {
		const struct kwhy_llm_load_joules *load = &joules->loads[i];

		for (size_t k = 0; load->requests && k < load->run.count; k++)
			add_request(out, &load->run.records[k], &load->requests[k]);
		if (load->requests)
			add_work(out, load);
	}
	for (size_t i = 0; i < KWHY_LLM_LENGTH_GROUPS; i++)
		set_halves(&out[i], &joules->fit);
}
