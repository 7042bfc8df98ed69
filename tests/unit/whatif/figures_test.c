/* SPDX-License-Identifier: Apache-2.0 */
#include "../expected_text.h"
#include "base/text.h"
#include "cmocka_all.h"
#include "ok.h"
#include "unit/guarded_memory.h"
#include "varied.h"
#include "whatif/busy.h"
#include "whatif/critical.h"
#include "whatif/parts.h"
#include "whatif/project.h"
#include "whatif/stretch.h"
#include "whatif/whatif.h"

#include <ctype.h>
#include <inttypes.h>
#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Compares with stored files, for many small random recordings: the graph of each, its costs, and every
 * figure of every change and of plans. The allocator puts guards around memory, so that reading beyond an
 * array changes figures.
 */

static struct kwhy_error error;

enum { CASES = 100, DIGESTED = 350, MIXED = 600, FILES = 4 };

static void free_plan(struct kwhy_plan *plan)
{
	check_arena_guards(true);
	kwhy_plan_free(plan);
}

/*
 * Returns a projection of the recording. Arenas made earlier are not checked any more; free_plan() checks the
 * guards of those made from here on.
 */
static struct kwhy_whatif *whatif_of(const struct varied *varied)
{
	struct kwhy_whatif *whatif;

	OK(kwhy_whatif_new(varied->recording, varied->ledger, varied->has_profile ? &varied->profile : NULL,
		&whatif, &error));
	check_arena_guards(false);
	return whatif;
}

/* Appends the numbers in a sentence, without its words. */
static void write_figures(struct kwhy_text *out, const char *text)
{
	while (*text) {
		size_t length = strspn(text, "0123456789.,");

		if (isdigit((unsigned char)*text))
			kwhy_text_addf(out, " %.*s", (int)length, text);
		text += length + (length == 0);
	}
}

static void write_energy(struct kwhy_text *out, int64_t nj)
{
	if (nj == KWHY_UNKNOWN_NJ)
		kwhy_text_add(out, " -");
	else
		kwhy_text_addf(out, " %.8g", (double)nj);
}

static void write_real(struct kwhy_text *out, double value)
{
	if (isnan(value))
		kwhy_text_add(out, " -");
	else
		kwhy_text_addf(out, " %.7g", value);
}

static void write_projection(struct kwhy_text *out, const struct kwhy_projection *projection)
{
	kwhy_text_addf(out, " %" PRId64 " %" PRId64 " %" PRId64 " ns", projection->time_ns,
		projection->time_low_ns, projection->time_high_ns);
	write_energy(out, projection->energy_nj);
	write_energy(out, projection->energy_low_nj);
	write_energy(out, projection->energy_high_nj);
	write_energy(out, projection->net_nj);
	write_energy(out, projection->net_low_nj);
	write_energy(out, projection->net_high_nj);
}

/*
 * Appends for each kind of link of the graph: number of links, sum of the distances (difference of indices)
 * of the nodes that they join, and sum of their lags, ns.
 */
static void write_graph(struct kwhy_text *out, const struct kwhy_whatif_graph *graph)
{
	static const char *const names[] = {"order", "issue", "cross", "join"};

	for (int link = 0; link < KWHY_LINK_COUNT; link++) {
		int64_t count = 0, away = 0, lag_ns = 0;

		for (size_t i = 0; i < graph->node_count; i++)
			if (graph->nodes[i].from[link] != KWHY_NONE) {
				count++;
				away += (int64_t)i * (graph->nodes[i].from[link] % 97);
				lag_ns += (int64_t)(i % 13 + 1) *
					kwhy_whatif_lag_ns(graph, &graph->nodes[i], (size_t)link);
			}
		kwhy_text_addf(out, " %s %" PRId64 " %" PRId64 " %" PRId64, names[link], count, away, lag_ns);
	}
	kwhy_text_addf(out, " nodes %zu\n", graph->node_count);
}

static void write_delays(struct kwhy_text *out, const struct kwhy_whatif_delays *delays)
{
	kwhy_text_add(out, " queued");
	for (int i = 0; i < KWHY_ACTIVITY_KIND_COUNT; i++)
		for (int k = 0; k < KWHY_ACTIVITY_KIND_COUNT; k++)
			if (delays->queued_ns[i][k] >= 0)
				kwhy_text_addf(out, " %d%d:%" PRId64, i, k, delays->queued_ns[i][k]);
	kwhy_text_addf(out, " graph %" PRId64 " ratios", delays->graph_queued_ns);
	write_real(out, delays->queued_fast_ratio);
	write_real(out, delays->queued_slow_ratio);
	kwhy_text_add(out, " issue");
	for (int i = 0; i < KWHY_ACTIVITY_KIND_COUNT; i++)
		kwhy_text_addf(out, " %" PRId64, delays->issue_ns[i]);
	kwhy_text_addf(out, " launch %" PRId64 " return and least", delays->launch_call_ns);
	for (int i = 0; i < KWHY_CALL_CLASS_COUNT; i++)
		kwhy_text_addf(out, " %" PRId64 " %" PRId64, delays->return_ns[i], delays->least_call_ns[i]);
	kwhy_text_add(out, "\n");
}

static void write_cost(struct kwhy_text *out, const char *name, const struct kwhy_whatif_cost *cost)
{
	kwhy_text_addf(out, " %s", name);
	write_real(out, cost->fast_ns);
	write_real(out, cost->expected_ns);
	write_real(out, cost->slow_ns);
	kwhy_text_add(out, cost->is_generic ? " generic" : "");
}

static void write_costs(struct kwhy_text *out, const struct kwhy_whatif_costs *costs)
{
	write_cost(out, "graph", &costs->graph_launch);
	write_real(out, costs->graph_nodes);
	write_cost(out, "node", &costs->graph_launch_node);
	write_cost(out, "start", &costs->graph_start_node);
	write_real(out, costs->graph_node_ns);
	write_real(out, costs->graph_saves_ns);
	write_cost(out, "launch", &costs->launch);
	write_cost(out, "event", &costs->event);
	write_cost(out, "pool", &costs->pool);
	write_real(out, costs->least_kernel_ns);
	write_cost(out, "small", &costs->small_kernel);
	kwhy_text_add(out, "\n  gaps");
	for (int i = 0; i < KWHY_CALL_CLASS_COUNT; i++)
		kwhy_text_addf(out, " %" PRId64 " %" PRId64, costs->usual_gap_ns[i], costs->far_gap_ns[i]);
	for (int kind = KWHY_COPY_H2D; kind <= KWHY_COPY_D2H; kind++)
		for (int memory = KWHY_MEMORY_PAGEABLE; memory <= KWHY_MEMORY_PINNED; memory++)
			for (double bytes = 1000; bytes < 1e8; bytes *= 300) {
				bool up = kind == KWHY_COPY_H2D;
				struct kwhy_whatif_cost cost = kwhy_whatif_copy_cost(costs, kind,
					up ? memory : KWHY_MEMORY_DEVICE, up ? KWHY_MEMORY_DEVICE : memory,
					bytes);

				write_cost(out, "copy", &cost);
			}
	kwhy_text_add(out, "\n");
}

static void write_whatif(struct kwhy_text *out, const struct kwhy_whatif *whatif)
{
	int64_t steps = 0, warm = 0;

	write_graph(out, whatif->graph);
	write_delays(out, &whatif->graph->delays);
	write_costs(out, &whatif->costs);
	for (size_t i = 0; i < whatif->recording->activities.count; i++)
		steps += whatif->step[i] == KWHY_NONE ? 0 : (int64_t)(i + 1) * (whatif->step[i] + 1);
	for (size_t i = 0; i < whatif->warmup_count; i++)
		warm += whatif->warmups[i].call * (int64_t)(i + 1) + whatif->warmups[i].after +
			whatif->warmups[i].usual_ns;
	kwhy_text_addf(out, " steps %u %" PRId64 " warm-ups %zu %" PRId64 " host %" PRId64 " scatter",
		(unsigned)whatif->step_count, steps, whatif->warmup_count, warm,
		kwhy_whatif_host_limited_ns(whatif->graph));
	write_real(out, whatif->scatter_ratio);
	kwhy_text_add(out, "\n");
}

static void write_plan(struct kwhy_text *out, const struct kwhy_plan *plan)
{
	for (size_t i = 0; i < plan->change_count; i++) {
		const struct kwhy_projected_change *change = &plan->changes[i];

		kwhy_text_addf(out, " %s %u: %" PRIu64 " %s", change->id, (unsigned)change->number,
			change->places, kwhy_bound_name(change->bound));
		write_projection(out, &change->after);
		write_figures(out, change->assumption);
		kwhy_text_add(out, "\n");
	}
}

static void write_refused(struct kwhy_text *out, const struct kwhy_plan *plan)
{
	for (size_t i = 0; i < plan->refused_count; i++) {
		kwhy_text_addf(out, " %s", plan->refused[i].id);
		if (plan->refused[i].saved_ns != KWHY_UNKNOWN_NS)
			kwhy_text_addf(out, " %" PRId64, plan->refused[i].saved_ns);
		write_figures(out, plan->refused[i].reason);
	}
}

static void write_words(struct kwhy_text *out, const struct kwhy_plan *plan)
{
	for (size_t i = 0; i < plan->change_count; i++)
		kwhy_text_addf(out, "%s\n", plan->changes[i].assumption);
	for (size_t i = 0; i < plan->refused_count; i++)
		kwhy_text_addf(out, "%s\n", plan->refused[i].reason);
}

static void write_changes(struct kwhy_text *out, struct kwhy_whatif *whatif, uint64_t *state, bool words)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 8, 50, 200};
	struct kwhy_text refused = {0};

	for (size_t i = 0; i < kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change *change = &kwhy_whatif_changes[i];
		struct kwhy_whatif_request requests[2] = {{change, change->number}, {change, 0}};
		uint32_t number = numbers[varied_below(state, 8)];
		struct kwhy_plan *plan;

		if (change->argument && number >= change->least)
			requests[0].number = number;
		requests[1].change = &kwhy_whatif_changes[varied_below(state, KWHY_WHATIF_CHANGES)];
		requests[1].number = requests[1].change->number < requests[1].change->least
			? 200
			: requests[1].change->number;
		OK(kwhy_whatif_project(whatif, requests, 1 + varied_below(state, 2), &plan, &error));
		assert_int_equal(whatif->graph->journal_count, 0);
		write_plan(out, plan);
		write_refused(&refused, plan);
		if (words)
			write_words(out, plan);
		free_plan(plan);
	}
	kwhy_text_addf(out, " not%s\n", refused.data ? refused.data : "");
	kwhy_text_done(&refused);
}

static void write_best(struct kwhy_text *out, struct kwhy_whatif *whatif, uint64_t *state)
{
	static const double gains[] = {0, 0.01, 0.05};
	bool numerics = varied_below(state, 2);
	double gain = gains[varied_below(state, 3)];
	struct kwhy_plan *plan;

	OK(kwhy_whatif_plan(whatif, gain, numerics, &plan, &error));
	OK(kwhy_whatif_add_busy(whatif, plan, &error));
	OK(kwhy_whatif_add_stretch(whatif, plan, &error));
	assert_int_equal(whatif->graph->journal_count, 0);
	kwhy_text_add(out, " best\n");
	write_plan(out, plan);
	kwhy_text_add(out, " not");
	write_refused(out, plan);
	kwhy_text_add(out, "\n busy");
	write_real(out, plan->busy_before_ratio);
	write_real(out, plan->busy_after_ratio);
	if (plan->stretch) {
		int64_t sum_ns = 0;

		for (size_t i = 0; i < plan->stretch->item_count; i++)
			if (plan->stretch->items[i].after_start_ns != KWHY_UNKNOWN_TIME)
				sum_ns += (int64_t)(i + 1) *
					(plan->stretch->items[i].after_start_ns +
						plan->stretch->items[i].after_end_ns);
		kwhy_text_addf(out,
			" stretch %u-%u of %u, %" PRId64 " to %" PRId64 ", %zu items %zu left out, %" PRId64,
			plan->stretch->first_step, plan->stretch->end_step, plan->stretch->step_count,
			plan->stretch->before_ns, plan->stretch->after_ns, plan->stretch->item_count,
			plan->stretch->left_out_count, sum_ns);
	}
	kwhy_text_add(out, "\n");
	free_plan(plan);
}

static void write_case(struct kwhy_text *out, uint64_t seed, bool words)
{
	struct varied varied = varied_new(seed, true);
	uint64_t state = seed + 1;
	struct kwhy_whatif *whatif = whatif_of(&varied);

	kwhy_text_addf(out, "case %" PRIu64 "\n", seed);
	write_whatif(out, whatif);
	write_changes(out, whatif, &state, words);
	write_best(out, whatif, &state);
	kwhy_whatif_free(whatif);
	varied_free(&varied);
}

static void the_figures_of_projections_are_as_before(void **state)
{
	(void)state;
	for (unsigned file = 0; file < FILES; file++) {
		struct kwhy_text out = {0};
		char name[64];

		for (uint64_t seed = file; seed < CASES; seed += FILES)
			write_case(&out, seed, false);
		snprintf(name, sizeof(name), "whatif/figures-%u.expected", file);
		assert_expected_text(name, out.data);
		kwhy_text_done(&out);
	}
}

static void write_names(struct kwhy_text *out, const struct kwhy_whatif_graph *graph)
{
	for (uint32_t i = 0; i < graph->recording->names.count; i++)
		kwhy_text_addf(out, " %" PRId32, graph->delays.queued_of_name[i]);
	kwhy_text_add(out, "\n");
}

/*
 * Appends what a change made of the graph: sums over nodes, each weighted by its index, of removed
 * nodes, starts (ns) and ends (ns), without calls inside other calls (KWHY_NODE_INNER); then the
 * number of changed nodes, the host-limited time and the projection.
 */
static void write_made(struct kwhy_text *out, const struct kwhy_whatif *whatif)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;
	struct kwhy_projection played = kwhy_whatif_as_played(whatif);
	int64_t dropped = 0, starts_ns = 0, ends_ns = 0;

	for (uint32_t i = 0; i < graph->node_count; i++) {
		int64_t weight = i % 89 + 1;

		if (graph->nodes[i].kind == KWHY_NODE_INNER)
			continue;
		dropped += kwhy_whatif_is_dropped(graph, i) * weight;
		starts_ns += graph->start_ns[i] * weight;
		ends_ns += graph->end_ns[i] * weight;
	}
	kwhy_text_addf(out, " dropped %" PRId64 " times %" PRId64 " %" PRId64 " changed %zu host %" PRId64,
		dropped, starts_ns, ends_ns, graph->changed_count, kwhy_whatif_host_limited_ns(graph));
	write_projection(out, &played);
}

/*
 * Makes random changes one after the other, each with expected, fast or slow costs, and appends the figures.
 * After some of them all changes are undone.
 */
static void write_sequences(struct kwhy_text *out, struct kwhy_whatif *whatif, uint64_t *state)
{
	static const uint32_t numbers[] = {0, 1, 2, 3, 4, 8, 50, 200};

	for (size_t i = 0; i < 2 * kwhy_whatif_change_count; i++) {
		const struct kwhy_whatif_change
			*change = &kwhy_whatif_changes[varied_below(state, KWHY_WHATIF_CHANGES)];
		uint32_t number = numbers[varied_below(state, 8)];
		struct kwhy_whatif_request request = {
			change, number < change->least ? change->least + number : number};
		struct kwhy_whatif_effect effect = {0};

		whatif->corner = (enum kwhy_whatif_corner)((int)varied_below(state, 3) - 1);
		OK(kwhy_whatif_make(whatif, &request, &effect, &error));
		kwhy_text_addf(out, " %s %u: %" PRIu64 " %s", change->id, (unsigned)request.number,
			effect.places, effect.words);
		if (effect.places)
			write_made(out, whatif);
		kwhy_text_add(out, "\n");
		if (varied_below(state, 2))
			kwhy_whatif_undo(whatif->graph, 0);
	}
	whatif->corner = KWHY_CORNER_EXPECTED;
	kwhy_whatif_undo(whatif->graph, 0);
	OK(kwhy_whatif_play(whatif->graph, &error));
}

static void check_recorded(const struct kwhy_whatif *whatif, uint64_t seed)
{
	for (uint32_t node = 0; node < whatif->graph->node_count; node++)
		if (whatif->graph->nodes[node].kind != KWHY_NODE_INNER &&
			(whatif->graph->start_ns[node] != kwhy_whatif_recorded_start(whatif->graph, node) ||
				whatif->graph->end_ns[node] != kwhy_whatif_recorded_end(whatif->graph, node)))
			fail_msg("case %" PRIu64 ": node %u is not as recorded", seed, (unsigned)node);
}

static bool is_inside(int64_t low, int64_t middle, int64_t high)
{
	return low <= middle && middle <= high;
}

static void check_projection(const struct kwhy_projection *projection, const char *id, uint64_t seed)
{
	if (!is_inside(projection->time_low_ns, projection->time_ns, projection->time_high_ns) ||
		!is_inside(projection->energy_low_nj, projection->energy_nj, projection->energy_high_nj) ||
		!is_inside(projection->net_low_nj, projection->net_nj, projection->net_high_nj))
		fail_msg("case %" PRIu64 ": bounds of %s", seed, id);
}

/*
 * Checks for each link of the graph that kwhy_whatif_is_in_order() accepts it, and refuses the opposite link.
 */
static void check_order(const struct kwhy_whatif_graph *graph, uint64_t seed)
{
	for (uint32_t node = 0; node < graph->node_count; node++)
		for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
			uint32_t from = graph->nodes[node].from[link], kept;

			if (from == KWHY_NONE)
				continue;
			kept = graph->nodes[from].from[link];
			graph->nodes[from].from[link] = node;
			if (!kwhy_whatif_is_in_order(graph, node, link) ||
				kwhy_whatif_is_in_order(graph, from, link))
				fail_msg("case %" PRIu64 ": order of %u and %u", seed, node, from);
			graph->nodes[from].from[link] = kept;
		}
}

/* Checks that no change, and host-speed at 100 %, give the time and energy of the recording. */
static void check_same(struct kwhy_whatif *whatif, uint64_t seed)
{
	struct kwhy_whatif_request request = {kwhy_whatif_change_find("host-speed"), 100};
	struct kwhy_plan *plan;

	for (size_t count = 0; count < 2; count++) {
		OK(kwhy_whatif_project(whatif, &request, count, &plan, &error));
		if (kwhy_plan_after(plan)->time_ns != plan->before.time_ns ||
			kwhy_plan_after(plan)->energy_nj != plan->before.energy_nj ||
			kwhy_plan_after(plan)->net_nj != plan->before.net_nj)
			fail_msg("case %" PRIu64 ": a change of nothing, but %" PRId64
				 " ns instead of %" PRId64 "",
				seed, kwhy_plan_after(plan)->time_ns, plan->before.time_ns);
		free_plan(plan);
	}
}

static void projections_keep_their_laws(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < CASES; seed++) {
		struct varied varied = varied_new(seed, true);
		struct kwhy_whatif *whatif = whatif_of(&varied);
		struct kwhy_plan *plan;

		check_recorded(whatif, seed);
		check_order(whatif->graph, seed);
		check_same(whatif, seed);
		OK(kwhy_whatif_plan(whatif, 0, true, &plan, &error));
		for (size_t i = 0; i < plan->change_count; i++)
			check_projection(&plan->changes[i].after, plan->changes[i].id, seed);
		free_plan(plan);
		kwhy_whatif_free(whatif);
		varied_free(&varied);
	}
}

static void write_mixed_case(struct kwhy_text *out, uint64_t seed)
{
	struct varied varied = varied_mixed_new(seed);
	uint64_t state = seed + 1;
	struct kwhy_whatif *whatif = whatif_of(&varied);

	check_recorded(whatif, seed);
	check_order(whatif->graph, seed);
	write_whatif(out, whatif);
	write_names(out, whatif->graph);
	write_sequences(out, whatif, &state);
	check_recorded(whatif, seed);
	write_best(out, whatif, &state);
	kwhy_whatif_free(whatif);
	varied_free(&varied);
}

/*
 * Appends the digest of the text (figures and words) of recording `number`; numbers from DIGESTED on are
 * mixed recordings. If the environment has KWHY_SHOW_CASE=N, the text of case N is printed.
 */
static void write_digest(struct kwhy_text *out, uint64_t number)
{
	const char *shown = getenv("KWHY_SHOW_CASE");
	struct kwhy_text text = {0};

	if (number < DIGESTED)
		write_case(&text, number, true);
	else
		write_mixed_case(&text, number);
	kwhy_text_addf(out, "case %" PRIu64 " %" PRIu32 "\n", number, digest_of_text(text.data));
	if (shown && strtoull(shown, NULL, 10) == number)
		printf("%s", text.data);
	kwhy_text_done(&text);
}

static void check_digests(const char *file, uint64_t first, uint64_t end)
{
	struct kwhy_text out = {0};

	for (uint64_t number = first; number < end; number++)
		write_digest(&out, number);
	assert_expected_text(file, out.data);
	kwhy_text_done(&out);
}

static void the_digests_of_projections_are_as_before(void **state)
{
	(void)state;
	check_digests("whatif/figures-digests.expected", CASES, DIGESTED);
}

static void the_digests_of_mixed_recordings_are_as_before(void **state)
{
	(void)state;
	check_digests("whatif/figures-mixed.expected", DIGESTED, DIGESTED + MIXED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(projections_keep_their_laws),
		cmocka_unit_test(the_figures_of_projections_are_as_before),
		cmocka_unit_test(the_digests_of_projections_are_as_before),
		cmocka_unit_test(the_digests_of_mixed_recordings_are_as_before)};

	/* each case allocates large arrays: from the heap, which is never trimmed, they need no new pages */
	mallopt(M_MMAP_THRESHOLD, 1 << 30);
	mallopt(M_TRIM_THRESHOLD, 1 << 30);
	return kwhy_test_main(tests, NULL, NULL);
}
