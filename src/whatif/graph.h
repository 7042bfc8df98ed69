/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_GRAPH_H
#define KWHY_WHATIF_GRAPH_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording as a graph that can be played again. Every activity and every outermost API call is a node,
 * which begins when the latest of the nodes that it follows has got far enough. Played unchanged, every start
 * and every end is exactly the recorded one. Nodes [0, activity_count) are the activities in the order of
 * their rows; the calls follow in the order of their rows, then the joints of collectives. Times are those of
 * the recording.
 */

/*
 * The links of a node to the nodes that it follows. For an activity the first three bound its start, the last
 * one its end.
 */
enum kwhy_whatif_link {
	KWHY_LINK_ORDER, /* end of the node before it in its stream or on its thread */
	KWHY_LINK_ISSUE, /* start of the call that issued it */
	KWHY_LINK_CROSS, /* end of work in another stream, or of a call on another thread */
	KWHY_LINK_JOIN,	 /* bounds the end: for a waiting call, the end of the work waited for; for a
			    collective, the joint, at which the last of its ranks has begun */
	KWHY_LINK_COUNT
};

enum kwhy_whatif_kind {
	KWHY_NODE_ACTIVITY,
	KWHY_NODE_CALL,
	KWHY_NODE_JOINT, /* follows the starts of up to three other nodes */
	KWHY_NODE_INNER	 /* a call inside another call, not part of the graph */
};

enum kwhy_whatif_flag {
	KWHY_NODE_DROPPED = 1, /* takes no time; nodes that followed it follow what it followed */
	/* its ORDER link is to a start: it ran concurrently with the node before it */
	KWHY_NODE_OVERLAPS = 2,
	KWHY_NODE_CHANGED = 4,	     /* its work differs from what was recorded */
	KWHY_NODE_FOLLOWS_START = 8, /* its CROSS link is to a start */
	KWHY_NODE_PACKED = 16,	     /* a copy that carries the bytes of other copies, too */
	KWHY_NODE_PINNED = 32	     /* a copy whose host memory is page-locked now */
};

/*
 * start = latest of (from + lag) over the links that bound the start. Without such a link it is
 * lag_ns[ORDER], which is then a time.
 * end = start + own, or JOIN + lag if that is later.
 */
struct kwhy_whatif_node {
	int64_t own_ns; /* length of an activity, or time of a call without its wait */
	int64_t lag_ns[KWHY_LINK_COUNT];
	uint32_t from[KWHY_LINK_COUNT]; /* node that the link leads to; KWHY_NONE: no such link */
	uint8_t kind;			/* enum kwhy_whatif_kind */
	uint8_t flags;
	uint32_t edited; /* in entries of the journal: number of the node that the entry saves */
};

/* What the name of a call says beyond its class. */
enum kwhy_whatif_mark {
	KWHY_MARK_ASYNC = 1,	    /* stream-ordered: "Async" */
	KWHY_MARK_LAUNCH = 2,	    /* "aunch" */
	KWHY_MARK_GRAPH = 4,	    /* "GraphLaunch" */
	KWHY_MARK_EVENT = 8,	    /* "EventRecord" */
	KWHY_MARK_STREAM_WAIT = 16, /* "StreamWaitEvent" */
	KWHY_MARK_STREAM_SYNC = 32, /* "StreamSync" */
	KWHY_MARK_ELSEWHERE = 64    /* memory other than plain device memory: "Host", "Array" */
};

/* An activity that differs from the recording. */
struct kwhy_whatif_changed {
	uint32_t row;
	int64_t longer_ns;
};

/* Nodes in one piece of the journal. Pieces are never moved. */
enum { KWHY_WHATIF_PIECE_NODES = 32768 };

/*
 * A longer time than this from a call to the start of work that waits for nothing means that something held
 * up the device. Our choice: twenty times a launch.
 */
enum { KWHY_WHATIF_STALL_NS = 100000 };

/* Delays that no program chooses, as the recording shows them: medians in nanoseconds; -1: unknown. */
struct kwhy_whatif_delays {
	/* between an activity of one kind and an activity of another kind that was queued in time */
	int64_t queued_ns[KWHY_ACTIVITY_KIND_COUNT][KWHY_ACTIVITY_KIND_COUNT];
	/* between two kernels of one graph launch, from at least 8 samples */
	int64_t graph_queued_ns;
	int32_t *queued_of_name; /* [names] mean gap before queued kernels of that name, counting 0 for
				    kernels that begin as the one before ends; -1: too few were queued */
	double queued_fast_ratio,
		queued_slow_ratio; /* quartiles of the gaps between kernels, over their median */
	int64_t issue_ns[KWHY_ACTIVITY_KIND_COUNT]; /* from the start of the call to the start of its work in
						       an idle stream */
	/*
	 * from the end of the work to the return of the call that waited for it: the shortest; without such a
	 * call, the shortest of any class but of large copies, else the length of the class's shortest call
	 */
	int64_t return_ns[KWHY_CALL_CLASS_COUNT];
	int64_t launch_call_ns;			      /* length of a call that launches */
	int64_t least_call_ns[KWHY_CALL_CLASS_COUNT]; /* shortest call of the class */
};

struct kwhy_whatif_graph {
	const struct kwhy_recording *recording; /* borrowed */
	struct kwhy_whatif_node *nodes;
	size_t node_count, activity_count, call_count;
	uint8_t *dropped;  /* [node_count] copy of KWHY_NODE_DROPPED, compact for loops over many nodes */
	uint32_t *outer;   /* [call_count] the outermost call around a call */
	uint32_t *by_end;  /* [activity_count] rows of each device sorted by end; NULL: rows are in that order
			      already */
	int64_t *start_ns; /* [node_count] from the last play */
	int64_t *end_ns;   /* [node_count] */
	struct kwhy_whatif_delays delays;

	uint8_t *marks; /* [names] enum kwhy_whatif_mark */

	/*
	 * From the last play: the first start and the last end of work that is not dropped (INT64_MAX and
	 * INT64_MIN without any), and the activities that are dropped or changed.
	 */
	int64_t first_ns, last_ns;
	struct kwhy_whatif_changed *changed;
	size_t changed_count;

	/* used by play.c: an order in which every node comes after the nodes that it follows */
	uint32_t *order; /* [order_count], followed by as many zeros as are prefetched */
	uint32_t *stack;
	uint32_t *place; /* [2 * node_count] positions in the order of each node's start and end */
	uint8_t *state;
	size_t order_count, stack_depth;
	size_t unordered; /* number, from 1, of the first edit that let a node follow a later one; 0: no such
			     edit */

	/* nodes as they were before each edit, for kwhy_whatif_undo() */
	struct kwhy_whatif_node **journal; /* [journal_pieces] */
	size_t journal_count, journal_pieces, journal_capacity;
};

/* Makes the graph of a finished recording, which must outlive it. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_graph_new(
	const struct kwhy_recording *recording, struct kwhy_whatif_graph **out, struct kwhy_error *error);
void kwhy_whatif_graph_free(struct kwhy_whatif_graph *graph);

/*
 * Computes start_ns and end_ns of every node. Edits may remove a JOIN link, but not add one to a node that
 * had none. KWHY_E_INPUT where edits made a node follow itself: the times are invalid until those edits are
 * undone and the graph is played again. Time O(nodes).
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* Saves the node in the journal and gives it for changing; NULL: out of memory. */
struct kwhy_whatif_node *kwhy_whatif_edit(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * Right after kwhy_whatif_edit() of that node: sets a link to `from`, to its start where it is the call that
 * issues the node, else to its end. Links are set by this function only; an edit may remove them.
 */
void kwhy_whatif_follow(struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link,
	uint32_t from, int64_t lag_ns);

/* As kwhy_whatif_edit(), and marks the node as dropped. */
struct kwhy_whatif_node *kwhy_whatif_drop(struct kwhy_whatif_graph *graph, uint32_t node);

/* Undoes all edits but the first `count`. */
void kwhy_whatif_undo(struct kwhy_whatif_graph *graph, size_t count);

/*
 * Each node fills a cache line of its own, and a graph has more nodes than caches hold. Loops over rows or
 * calls prefetch the nodes that they will change this many iterations ahead.
 */
enum { KWHY_WHATIF_AHEAD = 16 };

/* gcc sees no effect in a function that only prefetches and removes calls of it unless they are inlined. */
#define KWHY_WHATIF_FETCHES static inline __attribute__((always_inline))

KWHY_WHATIF_FETCHES void kwhy_whatif_fetch(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	__builtin_prefetch(&graph->nodes[node], 1);
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

/* The node of an edit, counted from 0, as it was before that edit. */
static inline struct kwhy_whatif_node *kwhy_whatif_before(const struct kwhy_whatif_graph *graph, size_t edit)
{
	return &graph->journal[edit / KWHY_WHATIF_PIECE_NODES][edit % KWHY_WHATIF_PIECE_NODES];
}

static inline bool kwhy_whatif_is_dropped(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	return graph->dropped[node];
}

#endif
