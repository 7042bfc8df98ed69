/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/whatif.h"

#include "whatif/edits.h"
#include "whatif/project.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * A plan takes changes one by one, each time the one with the largest gain in addition to those already taken
 * (a greedy search). Gains mostly fall as changes are taken, so the gain of a candidate is computed again
 * only when it is the largest known one. Before the plan ends, all remaining candidates are tried again,
 * since some changes gain something only after others.
 */

struct candidate {
	const struct kwhy_whatif_change *change;
	/*
	 * gain (gain_ratio()) in addition to the changes that were taken when it was last tried; -INFINITY:
	 * the change was refused
	 */
	double gain_ratio;
	/*
	 * the larger of two shares that the change saves: of the time and of the energy of the run without
	 * any change. The change is only taken if this share is at least planner.min_gain_ratio
	 */
	double share_ratio;
	size_t tried; /* number of changes that were taken when it was last tried; SIZE_MAX: never */
	/* barred: the change is never tried, for the reason that effect.words states */
	bool taken, barred;
	struct kwhy_whatif_effect effect;
	struct kwhy_projection after;
};

struct planner {
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;
	struct candidate *candidates;
	size_t count;
	double min_gain_ratio;
	/*
	 * candidate whose edits are in the graph, after the first edits_taken edits, which are those of the
	 * taken changes; NULL: none
	 */
	const struct candidate *made;
	size_t edits_taken;
	struct kwhy_error *error;
};

static enum kwhy_status plan_new(struct kwhy_plan **out, size_t changes, struct kwhy_error *error)
{
	struct kwhy_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return kwhy_fail_memory(error, "the plan");
	plan->busy_before_ratio = plan->busy_after_ratio = NAN;
	plan->changes = kwhy_arena_alloc(&plan->arena, changes + 1, sizeof(*plan->changes));
	plan->refused = kwhy_arena_alloc(&plan->arena, changes + 1, sizeof(*plan->refused));
	if (!plan->changes || !plan->refused) {
		kwhy_plan_free(plan);
		return kwhy_fail_memory(error, "the plan");
	}
	*out = plan;
	return KWHY_OK;
}

void kwhy_plan_free(struct kwhy_plan *plan)
{
	if (!plan)
		return;
	kwhy_arena_done(&plan->arena);
	free(plan);
}

static int64_t saved_nj(const struct kwhy_projection *before, const struct kwhy_projection *after)
{
	return before->energy_nj == KWHY_UNKNOWN_NJ ? KWHY_UNKNOWN_NJ : before->energy_nj - after->energy_nj;
}

/*
 * Kind of bound that a saving is: that which change->bound states, or an upper bound in two cases. If
 * activities were lost in recording, idle time that the change removes may have been work. If a cost is only
 * assumed (is_generic), the real cost may be higher, since assumed costs are low ones.
 */
static enum kwhy_bound bound_of(const struct kwhy_whatif *whatif, const struct kwhy_whatif_change *change,
	const struct kwhy_whatif_effect *effect)
{
	return effect->is_generic || kwhy_lost_work(&whatif->recording->lost) ? KWHY_BOUND_UPPER
									      : change->bound;
}

/*
 * Appends a change to the plan, with its projection and what it saves in addition to the changes before it.
 */
static enum kwhy_status add_change(struct planner *planner, const struct kwhy_whatif_request *change_request,
	const struct kwhy_whatif_effect *effect, const struct kwhy_projection *after)
{
	struct kwhy_plan *plan = planner->plan;
	const struct kwhy_projection *before = kwhy_plan_after(plan);
	const struct kwhy_whatif_change *change = change_request->change;
	char *words = kwhy_arena_copy(&plan->arena, effect->words);

	if (!words)
		return kwhy_fail_memory(planner->error, "the plan");
	plan->changes[plan->change_count] = (struct kwhy_projected_change){
		.id = change->id,
		.title = change->title,
		.finding = change->finding,
		.number = change->argument ? change_request->number : 0,
		.bound = bound_of(planner->whatif, change, effect),
		.effort = change->effort,
		.risk = change->risk,
		.places = effect->places,
		.assumption = words,
		.after = *after,
		.saved_ns = before->time_ns - after->time_ns,
		.saved_nj = saved_nj(before, after),
	};
	plan->change_count++;
	return KWHY_OK;
}

static enum kwhy_status add_refusal(struct planner *planner, const struct kwhy_whatif_change *change,
	const char *reason, int64_t saved_ns, int64_t energy_nj)
{
	struct kwhy_plan *plan = planner->plan;
	char *words = kwhy_arena_copy(&plan->arena, reason);

	if (!words)
		return kwhy_fail_memory(planner->error, "the plan");
	plan->refused[plan->refused_count++] = (struct kwhy_refused_change){
		change->id, change->title, words, change->premise, saved_ns, energy_nj};
	return KWHY_OK;
}

static void widen(struct kwhy_projection *projection, const struct kwhy_projection *corner)
{
	if (corner->time_low_ns < projection->time_low_ns)
		projection->time_low_ns = corner->time_low_ns;
	if (corner->time_high_ns > projection->time_high_ns)
		projection->time_high_ns = corner->time_high_ns;
	if (corner->energy_low_nj < projection->energy_low_nj)
		projection->energy_low_nj = corner->energy_low_nj;
	if (corner->energy_high_nj > projection->energy_high_nj)
		projection->energy_high_nj = corner->energy_high_nj;
	if (corner->net_low_nj < projection->net_low_nj)
		projection->net_low_nj = corner->net_low_nj;
	if (corner->net_high_nj > projection->net_high_nj)
		projection->net_high_nj = corner->net_high_nj;
}

/*
 * Makes the changes of the plan again with all costs at one end of their intervals (`corner`), and widens the
 * intervals of each change's projection to include that of its result. A change that is refused there saves
 * nothing: the run then takes as long as with the changes before it.
 */
static enum kwhy_status widen_to(struct planner *planner, enum kwhy_whatif_corner corner)
{
	struct kwhy_plan *plan = planner->plan;
	enum kwhy_status status = KWHY_OK;

	kwhy_whatif_undo(planner->whatif->graph, 0);
	planner->whatif->corner = corner;
	for (size_t i = 0; !status && i < plan->change_count; i++) {
		struct kwhy_projected_change *change = &plan->changes[i];
		struct kwhy_whatif_request change_request = {
			kwhy_whatif_change_find(change->id), change->number};
		struct kwhy_whatif_effect effect;
		struct kwhy_projection played;

		status = kwhy_whatif_make(planner->whatif, &change_request, &effect, planner->error);
		if (!status && !effect.places)
			status = kwhy_whatif_play(planner->whatif->graph, planner->error);
		if (status)
			break;
		played = kwhy_whatif_as_played(planner->whatif);
		widen(&change->after, &played);
	}
	planner->whatif->corner = KWHY_CORNER_EXPECTED;
	return status;
}

enum kwhy_status kwhy_whatif_play_plan(
	struct kwhy_whatif *whatif, const struct kwhy_plan *plan, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	kwhy_whatif_undo(whatif->graph, 0);
	for (size_t i = 0; !status && i < plan->change_count; i++) {
		struct kwhy_whatif_request change_request = {
			kwhy_whatif_change_find(plan->changes[i].id), plan->changes[i].number};
		struct kwhy_whatif_effect effect;

		status = kwhy_whatif_edit_graph(whatif, &change_request, &effect, error);
	}
	return status ? status : kwhy_whatif_play(whatif->graph, error);
}

static enum kwhy_status finish(struct planner *planner, enum kwhy_status status, struct kwhy_plan **out)
{
	if (!status)
		status = widen_to(planner, KWHY_CORNER_FAST);
	if (!status)
		status = widen_to(planner, KWHY_CORNER_SLOW);
	kwhy_whatif_undo(planner->whatif->graph, 0);
	if (status)
		kwhy_plan_free(planner->plan);
	else
		*out = planner->plan;
	return status;
}

/* Appends a change that was tried to the plan or, if it was refused, to the list of refused changes. */
static enum kwhy_status add_played(struct planner *planner, const struct kwhy_whatif_request *change_request,
	const struct kwhy_whatif_effect *effect, const struct kwhy_projection *played)
{
	return effect->places ? add_change(planner, change_request, effect, played)
			      : add_refusal(planner, change_request->change, effect->words, KWHY_UNKNOWN_NS,
					KWHY_UNKNOWN_NJ);
}

static struct kwhy_whatif_alone *alone_of(
	struct kwhy_whatif *whatif, const struct kwhy_whatif_request *change_request)
{
	const struct kwhy_whatif_change *change = change_request->change;

	return change_request->number == change->number ? &whatif->alone[change - kwhy_whatif_changes] : NULL;
}

/*
 * Makes one change on the unchanged graph, simulates it at the expected costs, and keeps the result in
 * `alone`.
 */
static enum kwhy_status play_alone(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_alone *alone,
	struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_whatif_make(whatif, change_request, &alone->effect, error);

	if (status)
		return status;
	if (alone->effect.places)
		alone->expected = kwhy_whatif_as_played(whatif);
	alone->is_played = true;
	return KWHY_OK;
}

/*
 * Completes a plan of one change with its default argument, and writes it to *out. Results that `alone` has
 * from earlier calls are used again.
 */
static enum kwhy_status project_alone(struct planner *planner,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_alone *alone,
	struct kwhy_plan **out)
{
	enum kwhy_status status = alone->is_played
		? KWHY_OK
		: play_alone(planner->whatif, change_request, alone, planner->error);

	if (!status)
		status = add_played(planner, change_request, &alone->effect,
			alone->is_widened ? &alone->after : &alone->expected);
	if (!status && (alone->is_widened || !alone->effect.places)) {
		*out = planner->plan;
		return KWHY_OK;
	}
	status = finish(planner, status, out);
	if (!status) {
		alone->after = (*out)->changes[0].after;
		alone->is_widened = true;
	}
	return status;
}

enum kwhy_status kwhy_whatif_project(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_requests, size_t change_request_count,
	struct kwhy_plan **out, struct kwhy_error *error)
{
	struct planner planner = {.whatif = whatif, .error = error};
	struct kwhy_whatif_alone *alone = change_request_count == 1 ? alone_of(whatif, change_requests)
								    : NULL;
	enum kwhy_status status = plan_new(&planner.plan, change_request_count, error);

	if (status)
		return status;
	kwhy_whatif_undo(whatif->graph, 0);
	planner.plan->before = kwhy_whatif_baseline(whatif);
	if (alone)
		return project_alone(&planner, change_requests, alone, out);
	for (size_t i = 0; !status && i < change_request_count; i++) {
		struct kwhy_whatif_effect effect;
		struct kwhy_projection played;

		status = kwhy_whatif_make(whatif, &change_requests[i], &effect, error);
		if (status)
			break;
		played = kwhy_whatif_as_played(whatif);
		status = add_played(&planner, &change_requests[i], &effect, &played);
	}
	return finish(&planner, status, out);
}

static double ratio_of(int64_t saved, int64_t whole)
{
	return whole > 0 ? (double)saved / (double)whole : 0;
}

/*
 * Gain of a change, by which candidates are ranked: saved energy as a share of the energy of the run without
 * any change or, if energies are unknown, saved time as a share of its time. A change that makes the run
 * slower has the negative gain in time, whatever energy it saves.
 */
static double gain_ratio(const struct kwhy_plan *plan, const struct kwhy_projection *after)
{
	const struct kwhy_projection *before = kwhy_plan_after(plan);
	double time_ratio = ratio_of(before->time_ns - after->time_ns, plan->before.time_ns);

	if (plan->before.energy_nj <= 0 || time_ratio < 0)
		return time_ratio;
	return ratio_of(before->energy_nj - after->energy_nj, plan->before.energy_nj);
}

/*
 * Share of the run without any change that a change saves, in time or in gain_ratio(), whichever is larger.
 * Findings are judged by the same rule.
 */
static double share_ratio(const struct kwhy_plan *plan, const struct kwhy_projection *after)
{
	const struct kwhy_projection *before = kwhy_plan_after(plan);

	return fmax(
		ratio_of(before->time_ns - after->time_ns, plan->before.time_ns), gain_ratio(plan, after));
}

/*
 * Makes the change of a candidate in addition to the taken changes, in place of that of the previous
 * candidate, and simulates it. Its edits stay in the graph, since in most cases it is taken next.
 */
static enum kwhy_status make_candidate(struct planner *planner, struct candidate *candidate)
{
	struct kwhy_whatif *whatif = planner->whatif;
	struct kwhy_whatif_request change_request = {candidate->change, candidate->change->number};
	enum kwhy_status status;

	kwhy_whatif_undo(whatif->graph, planner->edits_taken);
	planner->made = candidate;
	status = kwhy_whatif_make(whatif, &change_request, &candidate->effect, planner->error);
	if (!status && candidate->effect.places)
		candidate->after = kwhy_whatif_as_played(whatif);
	return status;
}

/*
 * As make_candidate(), for the case that no change is taken yet. The result is kept in whatif->alone for
 * later calls.
 */
static enum kwhy_status make_first(struct planner *planner, struct candidate *candidate)
{
	struct kwhy_whatif_request change_request = {candidate->change, candidate->change->number};
	struct kwhy_whatif_alone *alone = alone_of(planner->whatif, &change_request);
	enum kwhy_status status = KWHY_OK;

	if (!alone->is_played) {
		kwhy_whatif_undo(planner->whatif->graph, 0);
		planner->made = candidate;
		status = play_alone(planner->whatif, &change_request, alone, planner->error);
	}
	candidate->effect = alone->effect;
	candidate->after = alone->expected;
	return status;
}

static enum kwhy_status try_candidate(struct planner *planner, struct candidate *candidate)
{
	enum kwhy_status status = planner->plan->change_count ? make_candidate(planner, candidate)
							      : make_first(planner, candidate);

	if (status)
		return status;
	candidate->tried = planner->plan->change_count;
	candidate->gain_ratio = candidate->share_ratio = -INFINITY;
	if (candidate->effect.places) {
		candidate->gain_ratio = gain_ratio(planner->plan, &candidate->after);
		candidate->share_ratio = share_ratio(planner->plan, &candidate->after);
	}
	return KWHY_OK;
}

static bool is_enough(const struct planner *planner, const struct candidate *candidate)
{
	return candidate->gain_ratio > 0 && candidate->share_ratio >= planner->min_gain_ratio;
}

/* The candidate with the largest gain, of those that saved enough when they were last tried. */
static struct candidate *best(const struct planner *planner)
{
	struct candidate *best = NULL;

	for (size_t i = 0; i < planner->count; i++) {
		struct candidate *candidate = &planner->candidates[i];

		if (!candidate->taken && !candidate->barred && !candidate->change->premise &&
			is_enough(planner, candidate) && (!best || candidate->gain_ratio > best->gain_ratio))
			best = candidate;
	}
	return best;
}

/*
 * Tries the candidate with the largest known gain again, in addition to all taken changes, until the
 * candidate with the largest gain is one that has been tried in addition to exactly these changes. *out is
 * NULL if no candidate saves enough.
 */
static enum kwhy_status find_best(struct planner *planner, struct candidate **out)
{
	enum kwhy_status status = KWHY_OK;

	*out = best(planner);
	while (!status && *out && (*out)->tried != planner->plan->change_count) {
		status = try_candidate(planner, *out);
		*out = best(planner);
	}
	return status;
}

static enum kwhy_status try_all(struct planner *planner)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < planner->count; i++)
		if (!planner->candidates[i].taken && !planner->candidates[i].barred &&
			planner->candidates[i].tried != planner->plan->change_count)
			status = try_candidate(planner, &planner->candidates[i]);
	return status;
}

static enum kwhy_status take(struct planner *planner, struct candidate *candidate)
{
	struct kwhy_whatif_graph *graph = planner->whatif->graph;
	struct kwhy_whatif_request change_request = {candidate->change, candidate->change->number};
	enum kwhy_status status = add_change(planner, &change_request, &candidate->effect, &candidate->after);

	if (!status && planner->made != candidate) {
		kwhy_whatif_undo(graph, planner->edits_taken);
		status = kwhy_whatif_edit_graph(
			planner->whatif, &change_request, &candidate->effect, planner->error);
	}
	candidate->taken = true;
	planner->made = NULL;
	planner->edits_taken = graph->journal_count;
	return status;
}

static enum kwhy_status choose(struct planner *planner)
{
	for (;;) {
		struct candidate *next;
		enum kwhy_status status = find_best(planner, &next);

		if (!status && !next) {
			status = try_all(planner);
			next = best(planner);
		}
		if (status || !next)
			return status;
		status = take(planner, next);
		if (status)
			return status;
	}
}

/*
 * Adds the candidates that were not taken to the plan's list of refused changes: they save too little, were
 * refused, have a condition, or were never tried.
 */
static enum kwhy_status list_refused(struct planner *planner)
{
	const struct kwhy_projection *before = kwhy_plan_after(planner->plan);
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < planner->count; i++) {
		const struct candidate *candidate = &planner->candidates[i];
		bool made = candidate->effect.places;

		if (candidate->taken)
			continue;
		status = add_refusal(planner, candidate->change, candidate->effect.words,
			made ? before->time_ns - candidate->after.time_ns : KWHY_UNKNOWN_NS,
			made ? saved_nj(before, &candidate->after) : KWHY_UNKNOWN_NJ);
	}
	return status;
}

static void list_candidates(struct planner *planner, bool numerics)
{
	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		struct candidate *candidate = &planner->candidates[planner->count];

		if (change->number < change->least)
			continue;
		*candidate = (struct candidate){
			.change = change, .gain_ratio = 1, .share_ratio = 1, .tried = SIZE_MAX};
		candidate->barred = !numerics && change->risk == KWHY_RISK_NUMERICS;
		if (candidate->barred)
			kwhy_whatif_refuse(&candidate->effect,
				"not tried, since results would be other numbers; kwhy whatif --plan "
				"--numerics includes it");
		planner->count++;
	}
}

enum kwhy_status kwhy_whatif_plan(struct kwhy_whatif *whatif, double min_gain_ratio, bool numerics,
	struct kwhy_plan **out, struct kwhy_error *error)
{
	struct planner planner = {.whatif = whatif, .min_gain_ratio = min_gain_ratio, .error = error};
	enum kwhy_status status = plan_new(&planner.plan, kwhy_whatif_change_count, error);

	if (status)
		return status;
	planner.candidates = calloc(kwhy_whatif_change_count, sizeof(*planner.candidates));
	if (!planner.candidates)
		status = kwhy_fail_memory(error, "the plan");
	kwhy_whatif_undo(whatif->graph, 0);
	planner.plan->before = kwhy_whatif_baseline(whatif);
	if (!status) {
		list_candidates(&planner, numerics);
		status = choose(&planner);
	}
	if (!status)
		status = try_all(&planner);
	if (!status)
		status = list_refused(&planner);
	status = finish(&planner, status, out);
	free(planner.candidates);
	return status;
}
