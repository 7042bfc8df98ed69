/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/changes.h"

#include "base/map.h"
#include "base/quantity.h"
#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/segments.h"

#include <math.h>
#include <stdlib.h>

/*
 * Captures repeated sequences of launches as CUDA graphs. One call then launches what many calls did, and the
 * device runs the work without waiting for launches. Capturing runs no work, so the first of several equal
 * sequences is launched as a graph, too; but not for the lower bound of the saving, since programs often run
 * a sequence once uncaptured to warm up.
 *
 * A step that ranges name becomes one graph if its threads neither wait nor pause inside it, even if several
 * threads issue its work, as in PyTorch's backward pass. Apart from launching the graph, the host then does
 * nothing during the step.
 */

enum {
	GRAPH_MIN = 4, /* least number of launches in a graph */
	/*
	 * Number of nodes of a graph that the driver prepares before the first one starts. The profile
	 * measures graphs of two lengths; this is the shorter one.
	 */
	TOGETHER = 16
};

/*
 * Value in the map `repeats` that replaces the number of occurrences of a sequence once capture_repeated()
 * has visited the first of these.
 */
#define CAPTURED UINT32_MAX

/* What one process issues in one step that a range names. */
struct step {
	uint32_t call;	 /* first call that issues work of the step; KWHY_NONE: none does */
	bool is_divided; /* the step cannot become one graph: a thread pauses, waits or allocates in it, or a
			    part of it does not repeat */
	int64_t first_ns, last_ns; /* starts of the first and the last call that issues work of the step */
	size_t row_count;
};

struct capture {
	struct kwhy_whatif *whatif;
	struct step *steps_of_process; /* [process_count * whatif->step_count]; NULL: no step is captured as a
					  whole, because steps have no names or `steps` was given */
	struct kwhy_map repeats; /* hash of a sequence of work -> number of its occurrences, or CAPTURED */
	uint64_t graphs, launches;
	/*
	 * number of steps in one graph, as the user gave it; 0: not given. Then a graph covers one named step
	 * or, where steps have no names, all work between two waits of the host
	 */
	uint32_t steps;
	/*
	 * host time in ns of the call that launches a graph. call_ns: for a graph of costs.graph_nodes nodes;
	 * call_node_ns: additional time for each further node
	 */
	double call_ns, call_node_ns;
	/*
	 * additional time in ns from the launch of a graph to the start of its first kernel, for each node
	 * beyond TOGETHER
	 */
	double start_node_ns;
};

static uint64_t mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9E3779B97F4A7C15);
	return hash ^ hash >> 29;
}

static uint64_t hash_of(const struct kwhy_whatif *whatif, const struct kwhy_whatif_segment *segment)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint64_t hash = segment->row_count;

	for (size_t i = 0; i < segment->row_count; i++) {
		uint32_t row = segment->rows[i];

		hash = mix(hash, (uint64_t)rows->name[row] << 8 | rows->kind[row]);
		hash = mix(hash, (uint64_t)rows->stream[row] << 8 | rows->copy_kind[row]);
	}
	return hash;
}

/*
 * The step of an activity, which must have a call; NULL: it is in no step, or capture->steps_of_process is
 * NULL.
 */
static struct step *step_of_row(const struct capture *capture, uint32_t row)
{
	const struct kwhy_whatif *whatif = capture->whatif;
	const struct kwhy_recording *recording = whatif->recording;
	const uint32_t thread = recording->calls.thread[kwhy_whatif_call_of(whatif, row)];

	return whatif->step[row] == KWHY_NONE || !capture->steps_of_process
		? NULL
		: &capture->steps_of_process[recording->threads[thread].process * whatif->step_count +
			  whatif->step[row]];
}

static uint32_t first_issuing_call(
	const struct kwhy_whatif *whatif, const struct kwhy_whatif_segment *segment)
{
	return kwhy_whatif_call_of(whatif, segment->rows[0]);
}

/*
 * Limits a gap in ns between two activities of a graph to the time of an empty kernel in a graph and the gap
 * after it, by the profile (graph_node_ns; 0: no limit). Where the host launches kernels no faster than they
 * run, recorded gaps include launch time, which graphs do not have.
 */
static int64_t no_longer_than_a_node_ns(const struct kwhy_whatif *whatif, int64_t queued_ns)
{
	int64_t node_ns = (int64_t)whatif->costs.graph_node_ns;

	return node_ns && queued_ns > node_ns ? node_ns : queued_ns;
}

/*
 * Gap in ns between two activities of a graph. It is 0 if the cost of a graph launch is only assumed. For the
 * lower bound of the saving, and unless both activities are kernels, it is the gap of queued work. Otherwise
 * it is, if shorter than that, the recorded gap between kernels of graphs; if none was recorded, it is the
 * gap of queued work less what a graph saves by the machine profile.
 */
static int64_t graph_queued_ns(const struct kwhy_whatif *whatif, uint32_t before, uint32_t row)
{
	const uint8_t *kind = whatif->recording->activities.kind;
	int64_t queued_ns = kwhy_whatif_queued_at_corner_ns(whatif, before, row);
	bool kernels = kind[before] == KWHY_ACTIVITY_KERNEL && kind[row] == KWHY_ACTIVITY_KERNEL;
	int64_t seen_ns = whatif->graph->delays.graph_queued_ns,
		saves_ns = (int64_t)whatif->costs.graph_saves_ns;

	if (whatif->costs.graph_launch.is_generic)
		return 0;
	if (!kernels || whatif->corner == KWHY_CORNER_SLOW)
		return queued_ns;
	if (seen_ns >= 0)
		return seen_ns < queued_ns ? seen_ns : queued_ns;
	return queued_ns > saves_ns ? no_longer_than_a_node_ns(whatif, queued_ns - saves_ns) : 0;
}

/*
 * Makes an activity follow the call that launches its graph, with a lag of issue_ns, and shortens gaps before
 * it to that inside a graph.
 */
static void capture_row(struct capture *capture, uint32_t row, uint32_t call_node, int64_t issue_ns)
{
	struct kwhy_whatif *whatif = capture->whatif;
	struct kwhy_whatif_node *node = kwhy_whatif_edit(whatif->graph, row);

	whatif->out_of_memory |= !node;
	if (!node)
		return;
	kwhy_whatif_follow(whatif->graph, row, KWHY_LINK_ISSUE, call_node, issue_ns);
	for (size_t link = 0; link < KWHY_LINK_JOIN; link++) {
		int64_t queued_ns;

		if (link == KWHY_LINK_ISSUE || node->from[link] == KWHY_NONE)
			continue;
		queued_ns = graph_queued_ns(whatif, node->from[link], row);
		if (kwhy_whatif_lag_ns(whatif->graph, node, link) > queued_ns ||
			whatif->corner == KWHY_CORNER_SLOW)
			kwhy_whatif_set_lag(whatif->graph, node, link, queued_ns);
	}
}

static double call_ns(const struct capture *capture, double nodes)
{
	return fmax(
		capture->call_ns + capture->call_node_ns * (nodes - capture->whatif->costs.graph_nodes), 0);
}

/*
 * Time in ns by which the first kernel of a graph of that many nodes starts later after its call than one
 * that is launched alone. The first TOGETHER nodes are prepared before it starts; later ones cost less, since
 * they are prepared while it runs.
 */
static int64_t later_ns(const struct capture *capture, size_t nodes)
{
	size_t together = nodes < TOGETHER ? nodes : TOGETHER;

	return (int64_t)(capture->call_node_ns * (double)(together - 1) +
		capture->start_node_ns * (double)(nodes - together));
}

/*
 * The step of a segment (a thread's launches without a wait, whatif/segments.h), if the step is captured as a
 * whole; NULL: the segment is captured by itself.
 */
static struct step *whole_step_of(const struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	struct step *step = step_of_row(capture, segment->rows[0]);

	return step && !step->is_divided && step->row_count >= GRAPH_MIN ? step : NULL;
}

static void drop_captured_call(struct kwhy_whatif *whatif, uint32_t call, bool with_step)
{
	if (with_step && whatif->corner != KWHY_CORNER_SLOW)
		kwhy_whatif_drop_call_and_pause(whatif, call);
	else
		kwhy_whatif_drop_captured_call(whatif, call);
}

static void capture_segment(struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	struct kwhy_whatif *whatif = capture->whatif;
	const struct step *step = whole_step_of(capture, segment);
	const uint32_t first = step ? step->call : first_issuing_call(whatif, segment);
	const size_t nodes = step ? step->row_count : segment->row_count;
	const uint32_t call_node = kwhy_whatif_call_node(whatif->graph, first);
	const int64_t issue_ns = kwhy_whatif_issue_ns(whatif->graph, segment->rows[0]) +
		later_ns(capture, nodes);
	const bool has_first = first >= segment->first_call && first < segment->end_call;

	for (uint32_t call = segment->first_call; call < segment->end_call; call++)
		if (call != first && whatif->graph->outer[call] == call)
			drop_captured_call(whatif, call, step != NULL);
	if (has_first)
		kwhy_whatif_unblock_call(whatif, first, call_ns(capture, (double)nodes));
	for (size_t i = 0; i < segment->row_count; i++)
		capture_row(capture, segment->rows[i], call_node, issue_ns);
	capture->graphs += has_first;
	capture->launches += segment->row_count;
}

static void count(struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	struct kwhy_map_slot *repeat;
	struct kwhy_error error;

	if (kwhy_map_add(&capture->repeats, hash_of(capture->whatif, segment), 0, &repeat, &error))
		capture->whatif->out_of_memory = true;
	else
		repeat->value++;
}

/*
 * Map slot of a segment, whose value is the number of segments with equal work, or CAPTURED; NULL: it was not
 * counted, because memory ran out.
 */
static struct kwhy_map_slot *repeats_of(
	const struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	return kwhy_map_find(&capture->repeats, hash_of(capture->whatif, segment));
}

/* Adds the work of a segment to its step, and marks the step as divided if the segment does not repeat. */
static void add_to_step(struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	const struct kwhy_map_slot *repeat = repeats_of(capture, segment);
	const uint32_t first = first_issuing_call(capture->whatif, segment);
	const int64_t *start_ns = capture->whatif->recording->calls.start_ns;
	struct step *step = step_of_row(capture, segment->rows[0]);

	if (!step)
		return;
	step->is_divided |= !repeat || repeat->value < 2;
	step->row_count += segment->row_count;
	if (step->call == KWHY_NONE || start_ns[first] < start_ns[step->call])
		step->call = first;
}

static void capture_repeated(struct capture *capture, const struct kwhy_whatif_segment *segment)
{
	struct kwhy_map_slot *repeat = repeats_of(capture, segment);
	bool first;

	if (!repeat || repeat->value < 2 ||
		(segment->row_count < GRAPH_MIN && !whole_step_of(capture, segment)))
		return;
	first = repeat->value != CAPTURED;
	repeat->value = CAPTURED;
	if (!first || capture->whatif->corner != KWHY_CORNER_SLOW)
		capture_segment(capture, segment);
}

static void walk(struct capture *capture, void (*visit)(struct capture *, const struct kwhy_whatif_segment *))
{
	struct kwhy_whatif_segments segments;
	struct kwhy_whatif_segment segment;

	if (!kwhy_whatif_segments_init(&segments, capture->whatif))
		return;
	segments.steps = capture->steps;
	while (kwhy_whatif_segments_next(&segments, &segment))
		visit(capture, &segment);
	kwhy_whatif_segments_done(&segments);
}

/* The step of the first activity that a call issues; NULL: it issues none, or no step has it. */
static struct step *step_of_call(const struct capture *capture, uint32_t call)
{
	const struct kwhy_whatif *whatif = capture->whatif;

	return whatif->first_issued[call] == whatif->first_issued[call + 1]
		? NULL
		: step_of_row(capture, whatif->issued[whatif->first_issued[call]]);
}

/* Extends first_ns and last_ns of the steps to the calls of a thread that issue their work. */
static void extend_steps(struct capture *capture, size_t thread)
{
	const struct kwhy_calls *calls = &capture->whatif->recording->calls;

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		struct step *step = step_of_call(capture, (uint32_t)i);

		if (!step)
			continue;
		if (calls->start_ns[i] < step->first_ns)
			step->first_ns = calls->start_ns[i];
		if (calls->start_ns[i] > step->last_ns)
			step->last_ns = calls->start_ns[i];
	}
}

/* Whether a call ends the launching of a graph: a wait, blocking copy, allocation, free or graph launch. */
static bool is_wait(const struct kwhy_whatif *whatif, uint32_t call)
{
	const uint8_t class = whatif->recording->calls.class[call];

	return (class != KWHY_CALL_LAUNCH && class != KWHY_CALL_OTHER) ||
		(class == KWHY_CALL_LAUNCH && kwhy_whatif_call_is(whatif->graph, call, KWHY_MARK_GRAPH));
}

/*
 * Marks a step as divided if a call that waits at wait_ns lies between calls, of any threads, that issue its
 * work.
 */
static void divide_at(struct step *step, int64_t wait_ns)
{
	if (step && wait_ns > step->first_ns && wait_ns < step->last_ns)
		step->is_divided = true;
}

/*
 * Marks the steps that a thread divides: by a wait between the step's first and last launches, which may be
 * those of other threads; or by a wait or pause between two of its own launches of the step. A wait counts
 * for the step of the thread's launch before it and for that of its launch after it.
 */
static void divide_steps(struct capture *capture, size_t thread)
{
	const struct kwhy_whatif *whatif = capture->whatif;
	const struct kwhy_calls *calls = &whatif->recording->calls;
	struct step *step = NULL;
	int64_t wait_ns = INT64_MIN; /* start of the latest wait since the previous launch */
	bool waited = false;	     /* whether the thread has waited or paused since its previous launch */

	for (size_t i = calls->first[thread]; i < calls->first[thread + 1]; i++) {
		const uint32_t call = (uint32_t)i;
		struct step *here;

		if (whatif->graph->outer[call] != call || kwhy_whatif_call_is_dropped(whatif, call))
			continue;
		if (is_wait(whatif, call)) {
			wait_ns = calls->start_ns[call];
			divide_at(step, wait_ns);
			waited = true;
		}
		waited |= kwhy_whatif_is_after_pause(whatif, call);
		if (whatif->first_issued[call] == whatif->first_issued[call + 1])
			continue;
		here = step_of_call(capture, call);
		divide_at(here, wait_ns);
		if (here && here == step && waited)
			here->is_divided = true;
		step = here;
		wait_ns = INT64_MIN;
		waited = false;
	}
}

/* Sets steps_of_process, and decides which of these steps are captured as a whole. */
static void find_whole_steps(struct capture *capture)
{
	const struct kwhy_whatif *whatif = capture->whatif;
	const size_t count = whatif->recording->process_count * whatif->step_count;

	if (!whatif->steps_named || capture->steps || !count)
		return;
	capture->steps_of_process = malloc(count * sizeof(*capture->steps_of_process));
	if (!capture->steps_of_process) {
		capture->whatif->out_of_memory = true;
		return;
	}
	for (size_t i = 0; i < count; i++)
		capture->steps_of_process[i] = (struct step){
			.call = KWHY_NONE, .first_ns = INT64_MAX, .last_ns = INT64_MIN};
	for (size_t thread = 0; thread < whatif->recording->thread_count; thread++)
		extend_steps(capture, thread);
	for (size_t thread = 0; thread < whatif->recording->thread_count; thread++)
		divide_steps(capture, thread);
	walk(capture, add_to_step);
}

static void say(const struct capture *capture, struct kwhy_whatif_effect *effect)
{
	const struct kwhy_whatif_cost *launch = &capture->whatif->costs.graph_launch;
	const char *launches = KWHY_WHATIF_COUNT(capture->launches);
	const char *graphs = KWHY_WHATIF_COUNT(capture->graphs);
	char cost[KWHY_QUANTITY_BYTES];

	effect->is_generic = launch->is_generic;
	kwhy_whatif_say(effect,
		"%s launches of repeated sequences become %s graph launches of %s on average (%s)%s; "
		"capturing them is not counted",
		launches, graphs,
		kwhy_whatif_time_words(
			cost, call_ns(capture, (double)capture->launches / (double)capture->graphs)),
		launch->source,
		launch->is_generic ? ", and their work follows immediately: a machine profile would show it"
				   : "");
}

void kwhy_whatif_capture_graph(struct kwhy_whatif *whatif, uint32_t number, struct kwhy_whatif_effect *effect)
{
	struct capture capture = {.whatif = whatif,
		.steps = number,
		.call_ns = kwhy_whatif_cost_at(&whatif->costs.graph_launch, whatif->corner),
		.call_node_ns = kwhy_whatif_cost_at(&whatif->costs.graph_launch_node, whatif->corner),
		.start_node_ns = kwhy_whatif_cost_at(&whatif->costs.graph_start_node, whatif->corner)};

	if (number && !whatif->step_count) {
		kwhy_whatif_refuse(effect, "no steps are known, of which a graph could have %u", number);
		return;
	}
	if (!isfinite(capture.call_node_ns))
		capture.call_node_ns = 0;
	if (!isfinite(capture.start_node_ns))
		capture.start_node_ns = capture.call_node_ns;
	walk(&capture, count);
	find_whole_steps(&capture);
	walk(&capture, capture_repeated);
	free(capture.steps_of_process);
	kwhy_map_done(&capture.repeats);
	effect->places = capture.launches;
	if (capture.graphs)
		say(&capture, effect);
	else
		kwhy_whatif_refuse(effect, "no sequence of %d launches without a wait repeats", GRAPH_MIN);
}
