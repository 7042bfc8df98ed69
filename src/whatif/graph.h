/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_GRAPH_H
#define KWHY_WHATIF_GRAPH_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording as a graph that can be played again: every activity and every outermost API call is a node, and
 * each begins when the latest of what it follows has got far enough. Played unchanged, every start and every
 * end is exactly the recorded one. Nodes [0, activity_count) are the activities in their rows, then come the
 * calls in their rows, then the joints of collectives. Times are those of the recording.
 */

/* What a node follows. Of an activity the first three bound its start, the last its end. */
enum kwhy_whatif_link {
	KWHY_LINK_ORDER, /* end of what came before it: in the stream, on the thread */
	KWHY_LINK_ISSUE, /* start of the call that issued it */
	KWHY_LINK_CROSS, /* end of work in another stream, of a call on another thread */
	KWHY_LINK_JOIN, /* bounds the end: of a waiting call, end of the work waited for; of a collective, the
			   joint, at which the last of its ranks has begun */
	KWHY_LINK_COUNT
};

enum kwhy_whatif_kind {
	KWHY_NODE_ACTIVITY,
	KWHY_NODE_CALL,
	KWHY_NODE_JOINT, /* follows the starts of up to three others */
	KWHY_NODE_INNER	 /* a call inside another call: no part of the graph */
};

enum kwhy_whatif_flag {
	KWHY_NODE_DROPPED = 1,	     /* takes no time; what followed it follows what it followed */
	KWHY_NODE_OVERLAPS = 2,	     /* its link of order is to a start: it ran beside the one before */
	KWHY_NODE_CHANGED = 4,	     /* its work is not what was recorded */
	KWHY_NODE_FOLLOWS_START = 8, /* its link of crossing is to a start */
	KWHY_NODE_PACKED = 16,	     /* a copy that has the bytes of others, too */
	KWHY_NODE_PINNED = 32	     /* a copy whose memory of the host is page-locked now */
};

/*
 * start = latest of (from + lag) over the links that bound it; lag_ns[ORDER] alone, as a time, without any.
 * end = start + own, or JOIN + lag if that is later.
 */
struct kwhy_whatif_node {
	int64_t own_ns; /* length of an activity; what a call takes by itself */
	int64_t lag_ns[KWHY_LINK_COUNT];
	uint32_t from[KWHY_LINK_COUNT]; /* node; KWHY_NONE: no such link */
	uint8_t kind;			/* enum kwhy_whatif_kind */
	uint8_t flags;
	uint32_t edited; /* in the journal: which node it was */
};

/* What the name of a call holds that its class does not tell. */
enum kwhy_whatif_mark {
	KWHY_MARK_ASYNC = 1,	    /* stream-ordered: "Async" */
	KWHY_MARK_LAUNCH = 2,	    /* "aunch" */
	KWHY_MARK_GRAPH = 4,	    /* "GraphLaunch" */
	KWHY_MARK_EVENT = 8,	    /* "EventRecord" */
	KWHY_MARK_STREAM_WAIT = 16, /* "StreamWaitEvent" */
	KWHY_MARK_STREAM_SYNC = 32, /* "StreamSync" */
	KWHY_MARK_ELSEWHERE = 64    /* memory that is no plain memory of a device: "Host", "Array" */
};

/* An activity that is not as recorded. */
struct kwhy_whatif_changed {
	uint32_t row;
	int64_t longer_ns;
};

/* The journal's nodes come in pieces: none is ever moved. */
enum { KWHY_WHATIF_PIECE_NODES = 32768 };

/* From the call to the start of what waits for nothing: longer than that, something held up the device. Ours:
 * twenty times a launch. */
enum { KWHY_WHATIF_STALL_NS = 100000 };

/*
 * What the recording shows of delays that are nobody's choice: medians, in nanoseconds; -1: it shows none.
 */
struct kwhy_whatif_delays {
	/* between an activity of one kind and one of another that was queued after it in time */
	int64_t queued_ns[KWHY_ACTIVITY_KIND_COUNT][KWHY_ACTIVITY_KIND_COUNT];
	/* between two kernels of one graph launch; 8 are needed */
	int64_t graph_queued_ns;
	int32_t *queued_of_name; /* [names] mean before kernels of that name: some may begin before those
				    before them have quite ended; -1: too few were queued */
	double queued_fast_ratio,
		queued_slow_ratio;		    /* quartiles of those between kernels over their median */
	int64_t issue_ns[KWHY_ACTIVITY_KIND_COUNT]; /* from the call to the start, in an idle stream */
	int64_t return_ns[KWHY_CALL_CLASS_COUNT];   /* from the end of the work to the return of the call that
						  waited: the shortest; without one the shortest call */
	int64_t launch_call_ns;			    /* a call that launches */
	int64_t least_call_ns[KWHY_CALL_CLASS_COUNT]; /* the shortest call of its class */
};

struct kwhy_whatif_graph {
	const struct kwhy_recording *recording; /* borrowed */
	struct kwhy_whatif_node *nodes;
	size_t node_count, activity_count, call_count;
	uint8_t *dropped;  /* [node_count] as the nodes' flags, for looking at many */
	uint32_t *outer;   /* [call_count] the outermost call around a call */
	uint32_t *by_end;  /* [activity_count] rows of each device by end; NULL: rows are in that order */
	int64_t *start_ns; /* [node_count] as last played */
	int64_t *end_ns;   /* [node_count] */
	struct kwhy_whatif_delays delays;

	uint8_t *marks; /* [names] enum kwhy_whatif_mark */

	/* Of the last play: when the first work that is left starts and the last ends (INT64_MAX and
	   INT64_MIN without any), and what is dropped or changed. */
	int64_t first_ns, last_ns;
	struct kwhy_whatif_changed *changed;
	size_t changed_count;

	/* of play.c: an order in which everything comes behind what it follows */
	uint32_t *order; /* [order_count], and as many zeros as are fetched ahead */
	uint32_t *stack;
	uint32_t *place; /* [2 * node_count] of each node's start and end in the order */
	uint8_t *state;
	size_t order_count, stack_depth;
	size_t unordered; /* the edit, from 1, that first let a node follow a later one; 0: none did */

	/* nodes before the edits since the graph was made, undone by kwhy_whatif_undo() */
	struct kwhy_whatif_node **journal; /* [journal_pieces] */
	size_t journal_count, journal_pieces, journal_capacity;
};

/* Of a finished recording, which must outlive the graph. */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_graph_new(
	const struct kwhy_recording *recording, struct kwhy_whatif_graph **out, struct kwhy_error *error);
void kwhy_whatif_graph_free(struct kwhy_whatif_graph *graph);

/*
 * Computes start_ns and end_ns of every node. Edits may take a JOIN away, but give none to a node that had
 * none. KWHY_E_INPUT where edits made a node follow itself: then the times are of no use until that is undone
 * and played again. Time O(nodes).
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/* The node for changing it, after noting what it was; NULL: no memory. */
struct kwhy_whatif_node *kwhy_whatif_edit(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * Right after kwhy_whatif_edit() of that node: lets it follow another one, the start of a call that issues
 * it, else its end. Links are changed by this alone, or taken away.
 */
void kwhy_whatif_follow(struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link,
	uint32_t from, int64_t lag_ns);

/* As kwhy_whatif_edit(), of a node that is dropped now. */
struct kwhy_whatif_node *kwhy_whatif_drop(struct kwhy_whatif_graph *graph, uint32_t node);

/* Takes back all edits but the first `count`. */
void kwhy_whatif_undo(struct kwhy_whatif_graph *graph, size_t count);

/*
 * A node is a line of the cache of its own, and there are more than caches hold: what walks over rows or
 * calls fetches the nodes that it will change so many before it comes to them.
 */
enum { KWHY_WHATIF_AHEAD = 16 };

/* What does nothing but fetch has no effect in gcc's eyes: a call of it is left out, unless it is no call. */
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

/* The node of an edit, counted from the first one, as it was before. */
static inline struct kwhy_whatif_node *kwhy_whatif_before(const struct kwhy_whatif_graph *graph, size_t edit)
{
	return &graph->journal[edit / KWHY_WHATIF_PIECE_NODES][edit % KWHY_WHATIF_PIECE_NODES];
}

static inline bool kwhy_whatif_is_dropped(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	return graph->dropped[node];
}

#endif
