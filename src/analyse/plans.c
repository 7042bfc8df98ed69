/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/analysis.h"
#include "base/c_locale.h"
#include "report/plan.h"
#include "whatif/busy.h"

#include <stdlib.h>

/* What is asked for: a plan of requested changes, or one of those that save most. */
struct question {
	const struct kwhy_whatif_request *requests; /* NULL: the plan takes the changes that save most */
	size_t request_count;
	bool numerics;
};

static enum kwhy_status answer(struct kwhy_analysis *analysis, const struct question *question,
	struct kwhy_plan **out, struct kwhy_error *error)
{
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;
	enum kwhy_status status = analysis->recording->activities.count
		? kwhy_analysis_graph(analysis, &whatif, error)
		: kwhy_fail(error, KWHY_E_UNSUPPORTED, "no device did anything");

	if (status)
		return status;
	status = question->requests
		? kwhy_whatif_project(whatif, question->requests, question->request_count, &plan, error)
		: kwhy_whatif_plan(whatif, analysis->min_gain_ratio, question->numerics, &plan, error);
	if (status)
		return status;
	status = kwhy_whatif_add_busy(whatif, plan, error);
	if (status)
		kwhy_plan_free(plan);
	else
		*out = plan;
	return status;
}

static enum kwhy_status fail_unknown(const char *id, struct kwhy_error *error)
{
	struct kwhy_text names = {0};

	for (size_t i = 0; i < kwhy_whatif_change_count; i++)
		kwhy_text_addf(&names, "%s%s", i ? ", " : "", kwhy_whatif_changes[i].id);
	kwhy_error_set(error, KWHY_E_USAGE, "there is no change '%.60s'; choose among %s", id ? id : "",
		names.data ? names.data : "others");
	kwhy_text_done(&names);
	return KWHY_E_USAGE;
}

static enum kwhy_status request_of(
	const struct kwhy_analysis_change *change, struct kwhy_whatif_request *out, struct kwhy_error *error)
{
	const struct kwhy_whatif_change *found = change->id ? kwhy_whatif_change_find(change->id) : NULL;

	if (!found)
		return fail_unknown(change->id, error);
	*out = (struct kwhy_whatif_request){found, change->number ? change->number : found->number};
	if (out->number < found->least)
		return kwhy_fail(error, KWHY_E_USAGE, "--%s takes a number from %u to %u", found->id,
			found->least, UINT32_MAX);
	return KWHY_OK;
}

static enum kwhy_status project(struct kwhy_analysis *analysis, const struct kwhy_analysis_change *changes,
	size_t change_count, struct kwhy_plan **out, struct kwhy_error *error)
{
	struct kwhy_whatif_request *requests = calloc(change_count + 1, sizeof(*requests));
	enum kwhy_status status = requests ? KWHY_OK : kwhy_fail_memory(error, "changes");

	for (size_t i = 0; !status && i < change_count; i++)
		status = request_of(&changes[i], &requests[i], error);
	if (!status)
		status = answer(analysis, &(struct question){requests, change_count, false}, out, error);
	free(requests);
	return status;
}

int kwhy_analysis_project(struct kwhy_analysis *analysis, const struct kwhy_analysis_change *changes,
	size_t change_count, struct kwhy_plan **out, char *message, size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_error error;

	return project(analysis, changes, change_count, out, &error)
		? kwhy_analysis_say(&error, message, message_bytes)
		: KWHY_ANALYSE_OK;
}

int kwhy_analysis_plan(struct kwhy_analysis *analysis, int numerics, struct kwhy_plan **out, char *message,
	size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_error error;

	return answer(analysis, &(struct question){.numerics = numerics}, out, &error)
		? kwhy_analysis_say(&error, message, message_bytes)
		: KWHY_ANALYSE_OK;
}

void kwhy_analysis_plan_free(struct kwhy_plan *plan)
{
	kwhy_plan_free(plan);
}

int kwhy_plan_info(const struct kwhy_plan *plan, struct kwhy_plan_info *out)
{
	const struct kwhy_projection *after = kwhy_plan_after(plan);
	const struct kwhy_plan_info info = {.before_ns = plan->before.time_ns,
		.before_nj = plan->before.energy_nj,
		.after_ns = after->time_ns,
		.low_ns = after->time_low_ns,
		.high_ns = after->time_high_ns,
		.after_nj = after->energy_nj,
		.low_nj = after->energy_low_nj,
		.high_nj = after->energy_high_nj,
		.busy_before_ratio = plan->busy_before_ratio,
		.busy_after_ratio = plan->busy_after_ratio,
		.bound = (int32_t)kwhy_plan_bound(plan),
		.change_count = plan->change_count,
		.refused_count = plan->refused_count};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

int kwhy_plan_change(const struct kwhy_plan *plan, size_t change, struct kwhy_plan_change_info *out)
{
	if (change >= plan->change_count)
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_projected_change *made = &plan->changes[change];
	const struct kwhy_plan_change_info info = {.id = made->id,
		.title = made->title,
		.effort = kwhy_effort_name(made->effort),
		.risk = kwhy_risk_name(made->risk),
		.assumption = made->assumption,
		.places = made->places,
		.saved_ns = made->saved_ns,
		.saved_nj = made->saved_nj,
		.number = made->number,
		.bound = (int32_t)made->bound};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

int kwhy_plan_refusal(const struct kwhy_plan *plan, size_t refusal, struct kwhy_plan_refusal_info *out)
{
	if (refusal >= plan->refused_count)
		return KWHY_ANALYSE_E_USAGE;
	const struct kwhy_refused_change *refused = &plan->refused[refusal];
	const struct kwhy_plan_refusal_info info = {.id = refused->id,
		.title = refused->title,
		.reason = refused->reason,
		.saved_ns = refused->saved_ns,
		.saved_nj = refused->saved_nj};

	return kwhy_analysis_give(out, &info, sizeof(info));
}

int kwhy_analysis_plan_json(const struct kwhy_analysis *analysis, const struct kwhy_plan *plan, char **out,
	char *message, size_t message_bytes)
{
	KWHY_C_LOCALE;
	struct kwhy_text text = {0};
	struct kwhy_error error;

	if (kwhy_plan_json(plan, &analysis->report, &text, &error)) {
		kwhy_text_done(&text);
		return kwhy_analysis_say(&error, message, message_bytes);
	}
	*out = text.data;
	return KWHY_ANALYSE_OK;
}
