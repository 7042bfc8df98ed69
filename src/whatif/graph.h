/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_GRAPH_H
#define KWHY_WHATIF_GRAPH_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording as a dependency graph that can be simulated: the starts and ends of its nodes are computed
 * from its links. Every activity and every outermost API call is a node. A node starts when all nodes that
 * it follows have started or ended, as the link says, and the lag of each link has passed. The unchanged
 * graph gives exactly the recorded starts and ends.
 *
 * Nodes [0, activity_count) are the activities in the order of the recording, followed by the calls in
 * their order, then by the joints of collectives. Times are those of the recording.
 */

/*
 * The links of a node to the nodes that it follows. The first three bound its start, the last one its end.
 */
enum kwhy_whatif_link {
	KWHY_LINK_ORDER, /* link to the end of the node before it in its stream or on its thread */
	KWHY_LINK_ISSUE, /* link to the start of the call that issued the activity */
	/*
	 * link to the end of work in another stream or, for a call, to the end of a call on another thread
	 */
	KWHY_LINK_CROSS,
	/*
	 * bounds the end. For a waiting call: to the end of the work waited for. For a collective: to the
	 * joint, which starts when the last of its ranks has started.
	 */
	KWHY_LINK_JOIN,
	KWHY_LINK_COUNT
};

enum kwhy_whatif_kind {
	KWHY_NODE_ACTIVITY,
	KWHY_NODE_CALL,
	KWHY_NODE_JOINT, /* a joint: starts when up to three other nodes have started */
	KWHY_NODE_INNER	 /* a call inside another call, which is not part of the graph */
};

enum kwhy_whatif_flag {
	KWHY_NODE_DROPPED = 1, /* removed; it takes no time, so its followers start as if they followed its
				  predecessors */
	/* its ORDER link leads to a start, since it ran concurrently with the node before it */
	KWHY_NODE_OVERLAPS = 2,
	KWHY_NODE_CHANGED = 4,	     /* its work or length differs from the recorded one */
	KWHY_NODE_FOLLOWS_START = 8, /* its CROSS link leads to a start */
	KWHY_NODE_PACKED = 16,	     /* a copy that carries the bytes of other copies, too */
	KWHY_NODE_PINNED = 32	     /* a copy whose host memory a change made page-locked */
};

/*
 * Times of a node. start is the latest of (time of the node followed + lag) over the links that bound the
 * start. If there is no such link, start is the lag of KWHY_LINK_ORDER, which is then a time. end is start +
 * own or, if later, (time of the JOIN link's node + its lag).
 *
 * There are many nodes, so their times are stored in 32 bits, as codes (kwhy_whatif_ns()). Functions below
 * read and set them in ns.
 */
struct kwhy_whatif_node {
	int32_t own; /* length of an activity, or time of a call without its wait */
	int32_t lag[KWHY_LINK_COUNT];
	uint32_t from[KWHY_LINK_COUNT]; /* for each kind of link, the earlier node that this node waits for;
					  KWHY_NONE: no link */
	uint8_t kind;			/* enum kwhy_whatif_kind */
	uint8_t flags;
};

/*
 * What the name of a call says beyond its class. The strings in the comments are the parts of names that
 * are searched for.
 */
enum kwhy_whatif_mark {
	KWHY_MARK_ASYNC = 1,	    /* name contains "Async": the call is stream-ordered */
	KWHY_MARK_LAUNCH = 2,	    /* name contains "aunch", as cuLaunchKernel and cudaLaunchKernel do */
	KWHY_MARK_GRAPH = 4,	    /* name contains "GraphLaunch" */
	KWHY_MARK_EVENT = 8,	    /* name contains "EventRecord" */
	KWHY_MARK_STREAM_WAIT = 16, /* name contains "StreamWaitEvent" */
	KWHY_MARK_STREAM_SYNC = 32, /* name contains "StreamSync" */
	KWHY_MARK_ELSEWHERE = 64 /* name contains "Host" or "Array": the memory is not plain device memory */
};

/*
 * In ns. If work that has nothing to wait for starts later than this after its call, something stalled the
 * device. The value is chosen: twenty times the time of a launch.
 */
enum { KWHY_WHATIF_STALL_NS = 100000 };

/* Delays in ns that do not depend on the program, as medians of the recorded ones; -1: unknown. */
struct kwhy_whatif_delays {
	/*
	 * [before][after] gap between two activities of a stream by their kinds, if the second was queued
	 * before the first ended
	 */
	int64_t queued_ns[KWHY_ACTIVITY_KIND_COUNT][KWHY_ACTIVITY_KIND_COUNT];
	/* gap between two kernels of one graph launch, a median of at least 8 samples */
	int64_t graph_queued_ns;
	/*
	 * [names] mean gap before queued kernels of each name, where a kernel that starts before the one
	 * before it has ended counts as 0; -1: too few kernels were queued
	 */
	int32_t *queued_of_name;
	/* first and third quartile of the gaps between queued kernels, each divided by their median */
	double queued_fast_ratio, queued_slow_ratio;
	/* time from the start of the call to the start of its work in an idle stream, by kind of work */
	int64_t issue_ns[KWHY_ACTIVITY_KIND_COUNT];
	/*
	 * Shortest time from the end of the work to the return of the call that waited for it, by class of
	 * call. A class without waiting calls gets the shortest time of any class, calls for large copies
	 * excluded. If no call waited, it gets the length of the class's shortest call.
	 */
	int64_t return_ns[KWHY_CALL_CLASS_COUNT];
	int64_t launch_call_ns;			      /* length of a launch call */
	int64_t least_call_ns[KWHY_CALL_CLASS_COUNT]; /* length of the shortest call of each class */
};

/* Memory in which journal.c stores what is needed to undo edits. */
struct kwhy_whatif_piece {
	uint8_t *bytes;
	size_t used;
};

struct kwhy_whatif_journal {
	uint32_t *edited; /* [journal_count] number of the node of each edit */
	size_t edited_capacity;
	struct kwhy_whatif_piece
		*pieces;	      /* blocks of memory with the entries of all edits but the last one */
	size_t used, count, capacity; /* number of blocks that hold entries, of allocated blocks, and capacity
					 of `pieces` */
	struct kwhy_whatif_node before; /* node of the last edit as it was before the edit, if `pending` */
	bool pending;			/* the last edit has no entry yet */
};

struct kwhy_whatif_graph {
	const struct kwhy_recording *recording; /* borrowed */
	struct kwhy_whatif_node *nodes;
	size_t node_count, activity_count, call_count;
	/*
	 * Times that do not fit a code. They are only appended, so that codes in the journal stay valid,
	 * until all edits are undone: then those after the first `far_recorded` go.
	 */
	int64_t *far_ns;
	size_t far_count, far_capacity, far_recorded;
	bool out_of_memory; /* a time could not be stored; the next simulation fails */
	/*
	 * [node_count] whether each node is KWHY_NODE_DROPPED, as a compact copy for loops over many nodes
	 */
	uint8_t *dropped;
	uint32_t *outer; /* [call_count] the outermost call that contains each call */
	/*
	 * [activity_count] activities of each device sorted by end; NULL: the recording's order already is
	 * that order
	 */
	uint32_t *by_end;
	int64_t *start_ns; /* [node_count] starts by the last simulation */
	int64_t *end_ns;   /* [node_count] ends by the last simulation */
	struct kwhy_whatif_delays delays;

	uint8_t *marks; /* [names] enum kwhy_whatif_mark of the calls of each name */

	/*
	 * Results of the last simulation: first start and last end of the work that is not removed
	 * (INT64_MAX and INT64_MIN where there is none), and the activities that are removed or changed.
	 */
	int64_t first_ns, last_ns;
	uint32_t *changed;
	size_t changed_count;

	/*
	 * Fields of play.c: an order in which every node comes after the nodes that it follows. A node has
	 * one vertex for its start and one for its end.
	 */
	/* [order_count] vertices in that order, followed by as many zeros as are prefetched */
	uint32_t *order;
	uint32_t *stack;
	uint32_t *place; /* [2 * node_count] positions in `order` of each node's start and end */
	uint8_t *state;
	size_t order_count, stack_depth, stack_capacity;
	/*
	 * number of the first edit, counted from 1, that let a node follow one later in `order`; 0: no edit
	 * did
	 */
	size_t unordered;

	size_t journal_count; /* number of edits that are not undone */
	struct kwhy_whatif_journal journal;
};

/* Makes the graph of a finished recording, which must outlive it. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_graph_new(
	const struct kwhy_recording *recording, struct kwhy_whatif_graph **out, struct kwhy_error *error);
void kwhy_whatif_graph_free(struct kwhy_whatif_graph *graph);

/*
 * Simulates the graph: computes start_ns and end_ns of every node. Edits may remove a JOIN link, but not
 * add one to a node that had none. KWHY_E_INPUT: edits made a node follow itself; times are invalid until
 * those edits are undone and the graph is simulated again. Takes O(nodes) time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Saves a node in the journal and returns it for changing. The change must be made before the next edit.
 * NULL: out of memory.
 */
struct kwhy_whatif_node *kwhy_whatif_edit(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * Links a node to the node `from`: to the start of `from` if `from` is the call that issues the node, else to
 * the end of `from`. Call this function right after kwhy_whatif_edit() of the node. Only this function sets
 * links; an edit may remove them.
 */
void kwhy_whatif_follow(struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link,
	uint32_t from, int64_t lag_ns);

/* As kwhy_whatif_edit(), and marks the node as removed. */
struct kwhy_whatif_node *kwhy_whatif_drop(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * A code is the time itself in ns, or KWHY_WHATIF_FAR + the index of a time in `far_ns`. If there is no
 * memory for one more such time, the code is 0, and the next simulation fails.
 */
#define KWHY_WHATIF_FAR INT32_MIN
#define KWHY_WHATIF_NEAR_MIN (INT32_MIN / 2)

int32_t kwhy_whatif_far_code(struct kwhy_whatif_graph *graph, int64_t time_ns);

static inline int32_t kwhy_whatif_code(struct kwhy_whatif_graph *graph, int64_t time_ns)
{
	return time_ns >= KWHY_WHATIF_NEAR_MIN && time_ns <= INT32_MAX ? (int32_t)time_ns
								       : kwhy_whatif_far_code(graph, time_ns);
}

static inline int64_t kwhy_whatif_ns(const struct kwhy_whatif_graph *graph, int32_t code)
{
	return code >= KWHY_WHATIF_NEAR_MIN ? code : graph->far_ns[(int64_t)code - KWHY_WHATIF_FAR];
}

static inline int64_t kwhy_whatif_own_ns(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node)
{
	return kwhy_whatif_ns(graph, node->own);
}

static inline int64_t kwhy_whatif_lag_ns(
	const struct kwhy_whatif_graph *graph, const struct kwhy_whatif_node *node, size_t link)
{
	return kwhy_whatif_ns(graph, node->lag[link]);
}

static inline void kwhy_whatif_set_own(
	struct kwhy_whatif_graph *graph, struct kwhy_whatif_node *node, int64_t own_ns)
{
	node->own = kwhy_whatif_code(graph, own_ns);
}

static inline void kwhy_whatif_set_lag(
	struct kwhy_whatif_graph *graph, struct kwhy_whatif_node *node, size_t link, int64_t lag_ns)
{
	node->lag[link] = kwhy_whatif_code(graph, lag_ns);
}

/* Undoes all edits after the first `count`. */
void kwhy_whatif_undo(struct kwhy_whatif_graph *graph, size_t count);
void kwhy_whatif_journal_done(struct kwhy_whatif_journal *journal);

/*
 * By how many iterations loops over activities or calls prefetch the nodes that they will change. A graph has
 * more nodes than caches hold.
 */
enum { KWHY_WHATIF_AHEAD = 16 };

/*
 * Marks a function that only prefetches as inline. gcc sees no effect in a function that only prefetches
 * and would remove calls of it.
 */
#define KWHY_WHATIF_FETCHES static inline __attribute__((always_inline))

KWHY_WHATIF_FETCHES void kwhy_whatif_fetch(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	const char *at = (const char *)&graph->nodes[node];

	__builtin_prefetch(at, 1);
	__builtin_prefetch(at + sizeof(*graph->nodes) - 1, 1); /* a node may lie in two cache lines */
}

static inline uint32_t kwhy_whatif_call_node(const struct kwhy_whatif_graph *graph, uint32_t call)
{
	return (uint32_t)graph->activity_count + call;
}

static inline bool kwhy_whatif_call_is(
	const struct kwhy_whatif_graph *graph, size_t call, enum kwhy_whatif_mark mark)
{
	return graph->marks[graph->recording->calls.name[call]] & mark;
}

/* Number of the node that an edit changed; edits are counted from 0. */
static inline uint32_t kwhy_whatif_edited(const struct kwhy_whatif_graph *graph, size_t edit)
{
	return graph->journal.edited[edit];
}

static inline bool kwhy_whatif_is_dropped(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	return graph->dropped[node];
}

#endif
