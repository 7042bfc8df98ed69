/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/warmups.h"

#include "base/column.h"
#include "whatif/edits.h"
#include "whatif/parts.h"
#include "whatif/samples.h"

#include <stdlib.h>

/*
 * Finds warm-up outliers. A call after thousands of calls of other kinds finds the processor's cache cold,
 * and takes several times as long as one right after a call of its own kind. A call counts as a warm-up
 * outlier if its length is an outlier among calls of its kind (struct sort), and other calls came between it
 * and the previous one of its kind on the thread.
 */

enum {
	/*
	 * largest number of kinds of calls; programs make about a dozen, and calls of further kinds are never
	 * outliers
	 */
	SORTS_MAX = 64,
	SAMPLES_MIN = 8
};

/*
 * A kind of calls: those of one name that issue the same kind of work (`piece`: kind of activity and
 * direction of copies) and do not wait. usual_ns: median length; far_ns: length above which a call is an
 * outlier.
 */
struct sort {
	uint32_t name, piece;
	struct kwhy_whatif_samples lengths;
	int64_t usual_ns, far_ns;
	/* last call of this sort on the thread that is being read; KWHY_NONE: no call yet */
	uint32_t last;
};

struct sorts {
	struct sort *items;
	size_t count;
};

static uint32_t piece_of(const struct kwhy_whatif *whatif, size_t call)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	uint32_t row = whatif->issued[whatif->first_issued[call]];
	uint32_t copy_kind = rows->kind[row] == KWHY_ACTIVITY_COPY ? rows->copy_kind[row] : 0;

	return rows->kind[row] * (uint32_t)KWHY_COPY_KIND_COUNT + copy_kind;
}

static bool is_plain(const struct kwhy_whatif *whatif, size_t call)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;

	return graph->outer[call] == call && whatif->first_issued[call] < whatif->first_issued[call + 1] &&
		graph->nodes[graph->activity_count + call].from[KWHY_LINK_JOIN] == KWHY_NONE;
}

/*
 * The kind of a call that issues work and does not wait, which is added if it is new; NULL: there would be
 * more than SORTS_MAX.
 */
static struct sort *sort_of(struct sorts *sorts, const struct kwhy_whatif *whatif, size_t call)
{
	uint32_t name = whatif->recording->calls.name[call], piece = piece_of(whatif, call);
	struct sort *sort = sorts->items;

	for (; sort < sorts->items + sorts->count; sort++)
		if (sort->name == name && sort->piece == piece)
			return sort;
	if (sorts->count == SORTS_MAX)
		return NULL;
	sorts->count++;
	sort->name = name;
	sort->piece = piece;
	return sort;
}

static int64_t length_of(const struct kwhy_whatif *whatif, size_t call)
{
	return whatif->recording->calls.end_ns[call] - whatif->recording->calls.start_ns[call];
}

static void find_usual(struct sort *sort)
{
	int64_t low_ns = kwhy_whatif_quantile(&sort->lengths, 0.25),
		high_ns = kwhy_whatif_quantile(&sort->lengths, 0.75);

	sort->usual_ns = kwhy_whatif_quantile(&sort->lengths, 0.5);
	sort->far_ns = high_ns + 3 * (high_ns - low_ns);
	if (sort->far_ns < 2 * sort->usual_ns)
		sort->far_ns = 2 * sort->usual_ns;
	if (sort->lengths.count < SAMPLES_MIN)
		sort->far_ns = INT64_MAX;
}

/*
 * Gives memset calls the usual length of kernel launches, if their own usual length would be an outlier among
 * kernel launches. To the driver a memset is a launch; a program that makes one memset in each step, after
 * all other work of the step, makes all of them with cold caches.
 */
static void take_memsets_for_launches(struct sorts *sorts)
{
	const uint32_t of_kernels = KWHY_ACTIVITY_KERNEL * (uint32_t)KWHY_COPY_KIND_COUNT,
		       of_memsets = KWHY_ACTIVITY_MEMSET * (uint32_t)KWHY_COPY_KIND_COUNT;
	const struct sort *launches = NULL;

	for (size_t i = 0; i < sorts->count; i++)
		if (sorts->items[i].piece == of_kernels &&
			(!launches || sorts->items[i].lengths.seen > launches->lengths.seen))
			launches = &sorts->items[i];
	for (size_t i = 0; launches && i < sorts->count; i++)
		if (sorts->items[i].piece == of_memsets && sorts->items[i].usual_ns > launches->far_ns) {
			sorts->items[i].usual_ns = launches->usual_ns;
			sorts->items[i].far_ns = launches->far_ns;
		}
}

static enum kwhy_status list_thread(struct kwhy_whatif *whatif, size_t thread, struct sorts *sorts,
	size_t *capacity, struct kwhy_error *error)
{
	const size_t *first = whatif->recording->calls.first;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; i < sorts->count; i++)
		sorts->items[i].last = KWHY_NONE;
	for (size_t call = first[thread]; !status && call < first[thread + 1]; call++) {
		struct sort *sort = is_plain(whatif, call) ? sort_of(sorts, whatif, call) : NULL;

		if (!sort)
			continue;
		if (length_of(whatif, call) > sort->far_ns && sort->last != KWHY_NONE &&
			sort->last + 1 < call) {
			status = kwhy_column_reserve((void **)&whatif->warmups, capacity,
				whatif->warmup_count + 1, sizeof(*whatif->warmups), "calls that took long",
				error);
			if (!status)
				whatif->warmups[whatif->warmup_count++] = (struct kwhy_whatif_warmup){
					(uint32_t)call, sort->last, sort->usual_ns};
		}
		sort->last = (uint32_t)call;
	}
	return status;
}

static void sample_all(const struct kwhy_whatif *whatif, struct sorts *sorts)
{
	for (size_t call = 0; call < whatif->recording->calls.count; call++) {
		struct sort *sort = is_plain(whatif, call) ? sort_of(sorts, whatif, call) : NULL;

		if (sort)
			kwhy_whatif_sample(&sort->lengths, length_of(whatif, call));
	}
	for (size_t i = 0; i < sorts->count; i++)
		find_usual(&sorts->items[i]);
	take_memsets_for_launches(sorts);
}

enum kwhy_status kwhy_whatif_find_warmups(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	struct sorts sorts = {.items = calloc(SORTS_MAX, sizeof(*sorts.items))};
	size_t capacity = 0;
	enum kwhy_status status = KWHY_OK;

	if (!sorts.items)
		return kwhy_fail_memory(error, "calls that took long");
	sample_all(whatif, &sorts);
	for (size_t t = 0; !status && t < whatif->recording->thread_count; t++)
		status = list_thread(whatif, t, &sorts, &capacity, error);
	free(sorts.items);
	return status;
}

/*
 * Whether more than half of the outermost calls between an outlier and the previous call of its kind are
 * removed.
 */
static bool is_near_now(const struct kwhy_whatif *whatif, const struct kwhy_whatif_warmup *warmups)
{
	size_t gone = 0, between = 0;

	for (uint32_t call = warmups->after + 1; call < warmups->call; call++) {
		if (whatif->graph->outer[call] != call)
			continue;
		between++;
		gone += kwhy_whatif_call_is_dropped(whatif, call);
	}
	return 2 * gone > between;
}

/* Makes an activity start sooner after its call by saved_ns, but not sooner than is usual. */
static void warm_issued(struct kwhy_whatif *whatif, uint32_t row, int64_t saved_ns)
{
	int64_t lag_ns = kwhy_whatif_lag_ns(whatif->graph, &whatif->graph->nodes[row], KWHY_LINK_ISSUE);
	int64_t usual_ns;
	struct kwhy_whatif_node *node;

	usual_ns = kwhy_whatif_issue_ns(whatif->graph, row);
	if (kwhy_whatif_row_is_dropped(whatif, row) || lag_ns <= usual_ns)
		return;
	node = kwhy_whatif_edit(whatif->graph, row);
	whatif->out_of_memory |= !node;
	if (node)
		kwhy_whatif_set_lag(whatif->graph, node, KWHY_LINK_ISSUE,
			lag_ns - saved_ns > usual_ns ? lag_ns - saved_ns : usual_ns);
}

static void warm(struct kwhy_whatif *whatif, const struct kwhy_whatif_warmup *warmups)
{
	int64_t saved_ns = length_of(whatif, warmups->call) - warmups->usual_ns;

	kwhy_whatif_unblock_call(whatif, warmups->call, (double)warmups->usual_ns);
	for (size_t i = whatif->first_issued[warmups->call]; i < whatif->first_issued[warmups->call + 1]; i++)
		warm_issued(whatif, whatif->issued[i], saved_ns);
}

void kwhy_whatif_drop_warmups(struct kwhy_whatif *whatif)
{
	if (whatif->corner == KWHY_CORNER_SLOW)
		return;
	for (size_t i = 0; i < whatif->warmup_count; i++) {
		const struct kwhy_whatif_warmup *warmups = &whatif->warmups[i];
		uint32_t at = kwhy_whatif_call_node(whatif->graph, warmups->call);

		if (kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[at]) ==
				length_of(whatif, warmups->call) &&
			!kwhy_whatif_is_dropped(whatif->graph, at) && is_near_now(whatif, warmups))
			warm(whatif, warmups);
	}
}
