/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WHATIF_GRAPH_H
#define KWHY_WHATIF_GRAPH_H

#include "base/status.h"
#include "model/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording as a dependency graph that can be simulated: the starts and ends of its nodes are computed from
 * its links. Every activity and every outermost API call is a node. A node starts when all nodes that it
 * follows have started or ended (each link says which) and the lag of each link has passed since. The
 * unchanged graph gives exactly the recorded starts and ends.
 *
 * Nodes [0, activity_count) are the activities in the order of the recording, followed by all calls in their
 * order, then by the joints of collectives. Times are those of the recording.
 */

/*
 * Links from a node to earlier nodes that it follows. The first three bound its start, the last one its end.
 */
enum kwhy_whatif_link {
	KWHY_LINK_ORDER, /* to the end of the previous activity of the stream, or of the previous call of the
			    thread */
	KWHY_LINK_ISSUE, /* from an activity to the start of the call that issued it */
	/*
	 * from an activity to the end of one in another stream of the device; from a call to the end of a
	 * call on another thread
	 */
	KWHY_LINK_CROSS,
	/*
	 * from a call that waits to the end of the work that it waited for; from an activity of a collective
	 * to a joint, which starts when the collective's activities on all ranks have started
	 */
	KWHY_LINK_JOIN,
	KWHY_LINK_COUNT
};

enum kwhy_whatif_kind {
	KWHY_NODE_ACTIVITY,
	KWHY_NODE_CALL,
	KWHY_NODE_JOINT, /* a joint: starts when the nodes that it follows, up to three, have started */
	KWHY_NODE_INNER	 /* a call inside another call, which is not part of the graph */
};

enum kwhy_whatif_flag {
	KWHY_NODE_DROPPED = 1, /* removed: takes no time, so what follows it starts as if it followed what the
				  removed node follows */
	/* its ORDER link leads to a start, since in the recording it overlapped the node before it */
	KWHY_NODE_OVERLAPS = 2,
	KWHY_NODE_CHANGED = 4,	     /* its work or length differs from the recorded one */
	KWHY_NODE_FOLLOWS_START = 8, /* its CROSS link leads to a start */
	KWHY_NODE_PACKED = 16,	     /* a copy that carries the bytes of other copies, too */
	KWHY_NODE_PINNED = 32	     /* a copy whose host memory a change made page-locked */
};

/*
 * Node of the graph. Its start is the latest of (time to which a link leads + lag) over the links that bound
 * the start. If it has no such link, lag[KWHY_LINK_ORDER] is its start itself. Its end is its start + own or,
 * if later, the time to which the JOIN link leads + lag of that link.
 *
 * There are many nodes, so times are stored as codes of 32 bits. The functions below read and set them in ns.
 */
struct kwhy_whatif_node {
	int32_t own; /* length of an activity, or of a call without its wait for the device */
	int32_t lag[KWHY_LINK_COUNT];
	uint32_t from[KWHY_LINK_COUNT]; /* for each kind of link, the earlier node that this node waits for;
					  KWHY_NONE: no link */
	uint8_t kind;			/* enum kwhy_whatif_kind */
	uint8_t flags;
};

/*
 * What the name of a call tells in addition to its class. The strings are the parts of names that are
 * searched for.
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
	 * [kind before][kind after] gap between two activities of a stream, if the second one was launched
	 * before the first one ended ("queued")
	 */
	int64_t queued_ns[KWHY_ACTIVITY_KIND_COUNT][KWHY_ACTIVITY_KIND_COUNT];
	/* gap between two kernels of one graph launch, a median of at least 8 samples */
	int64_t graph_queued_ns;
	/*
	 * [name_count] mean gap before the queued kernels of each name. The gap of a kernel that starts
	 * before the previous one ends counts as 0. -1: too few kernels of the name were queued
	 */
	int32_t *queued_of_name;
	/* first and third quartile of the gaps between queued kernels, each divided by their median */
	double queued_fast_ratio, queued_slow_ratio;
	/*
	 * time from the start of the call to the start of its activity in an idle stream, by kind of activity
	 */
	int64_t issue_ns[KWHY_ACTIVITY_KIND_COUNT];
	/*
	 * Shortest time from the end of the work to the return of a call that waited for it, by class of
	 * call. A class whose calls never waited gets the shortest time of all classes, without that of calls
	 * that waited for large copies. If no call of any class waited, each class gets its least_call_ns.
	 */
	int64_t return_ns[KWHY_CALL_CLASS_COUNT];
	int64_t launch_call_ns;			      /* median length of a launch call */
	int64_t least_call_ns[KWHY_CALL_CLASS_COUNT]; /* length of the shortest call of each class */
};

/* Block of memory in which journal.c stores old values of edited nodes. used: bytes in use. */
struct kwhy_whatif_piece {
	uint8_t *bytes;
	size_t used;
};

struct kwhy_whatif_journal {
	uint32_t *edited; /* [journal_count] index of the node of each edit */
	size_t edited_capacity;
	struct kwhy_whatif_piece *pieces; /* [count] blocks of memory with one entry (old values) for each
					     edit but the last one */
	size_t used, count, capacity;	  /* used: number of blocks with entries; count: number of allocated
					     blocks; capacity: of the array `pieces` */
	struct kwhy_whatif_node before; /* if `pending`: node of the last edit, as it was before that edit */
	bool pending;			/* the last edit has no entry in a block yet */
};

struct kwhy_whatif_graph {
	const struct kwhy_recording *recording; /* borrowed */
	struct kwhy_whatif_node *nodes;
	size_t node_count, activity_count, call_count;
	/*
	 * Times whose codes are indices into this array, because they do not fit into 32 bits. Codes in the
	 * journal must stay valid, so times are only appended. When all edits are undone, those from index
	 * far_recorded on are dropped.
	 */
	int64_t *far_ns;
	size_t far_count, far_capacity, far_recorded;
	bool out_of_memory; /* there was no memory for a time; the next simulation fails */
	/* [node_count] KWHY_NODE_DROPPED or 0: a compact copy of that flag, for loops over many nodes */
	uint8_t *dropped;
	uint32_t *outer; /* [call_count] the outermost call that contains each call */
	/*
	 * [activity_count] activities of each device, one device after the other, sorted by end; NULL: that
	 * is the order of the recording
	 */
	uint32_t *by_end;
	int64_t *start_ns; /* [node_count] starts by the last simulation */
	int64_t *end_ns;   /* [node_count] ends by the last simulation */
	struct kwhy_whatif_delays delays;

	uint8_t *marks; /* [name_count] marks (bits of enum kwhy_whatif_mark) of each name of a call */

	/*
	 * Results of the last simulation: first start and last end of the activities that are not removed
	 * (INT64_MAX and INT64_MIN if there are none), and the activities that are removed or changed.
	 */
	int64_t first_ns, last_ns;
	uint32_t *changed;
	size_t changed_count;

	/* Fields of play.c. Its vertices are 2 * node for the start of a node, 2 * node + 1 for its end. */
	/*
	 * [order_count] vertices, each after the vertices to which its links lead; followed by
	 * KWHY_WHATIF_AHEAD zeros, which are prefetched
	 */
	uint32_t *order;
	uint32_t *stack;
	uint32_t *place; /* [2 * node_count] positions in `order` of each node's start and end */
	uint8_t *state;
	size_t order_count, stack_depth, stack_capacity;
	/*
	 * 1 + index of the first edit that made a node follow one that is later in `order`; 0: no edit did.
	 * If it is not 0, simulation is slower.
	 */
	size_t unordered;

	size_t journal_count; /* number of edits that are not undone */
	struct kwhy_whatif_journal journal;
};

/*
 * Makes the graph of a finished recording, which must outlive the graph, and simulates it once. The caller
 * frees it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_graph_new(
	const struct kwhy_recording *recording, struct kwhy_whatif_graph **out, struct kwhy_error *error);
void kwhy_whatif_graph_free(struct kwhy_whatif_graph *graph);

/*
 * Simulates the graph: computes start_ns and end_ns of every node. Edits may remove the JOIN link of a node,
 * but not add one to a node that had none. KWHY_E_INPUT: links form a cycle, so that a node would follow
 * itself; times are invalid until those edits are undone and the graph is simulated again. Takes O(nodes)
 * time.
 */
KWHY_MUST_USE enum kwhy_status kwhy_whatif_play(struct kwhy_whatif_graph *graph, struct kwhy_error *error);

/*
 * Begins an edit: saves a node in the journal, so that kwhy_whatif_undo() can restore it, and returns it for
 * changing. It must be changed before the next edit begins. NULL: out of memory.
 */
struct kwhy_whatif_node *kwhy_whatif_edit(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * Sets a link of a node to the node `from`, with its lag: an ISSUE link leads to the start of `from`, others
 * to its end. Must be called during an edit of the node (after kwhy_whatif_edit()). Only this function adds
 * links; edits may remove them by writing KWHY_NONE.
 */
void kwhy_whatif_follow(struct kwhy_whatif_graph *graph, uint32_t node, enum kwhy_whatif_link link,
	uint32_t from, int64_t lag_ns);

/* As kwhy_whatif_edit(), and marks the node as removed. */
struct kwhy_whatif_node *kwhy_whatif_drop(struct kwhy_whatif_graph *graph, uint32_t node);

/*
 * Codes of times: from KWHY_WHATIF_NEAR_MIN on the time itself in ns; below it KWHY_WHATIF_FAR + the index of
 * the time in far_ns. If memory for another time in far_ns cannot be allocated, the code is 0, and the next
 * simulation fails.
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
 * Number of iterations by which loops over activities or calls prefetch nodes that they will change. A graph
 * is larger than caches.
 */
enum { KWHY_WHATIF_AHEAD = 16 };

/*
 * For functions that only prefetch: they must be inlined, because gcc sees no effect in them and would remove
 * calls of them.
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

/* Index of the node that an edit changed; edits are numbered from 0. */
static inline uint32_t kwhy_whatif_edited(const struct kwhy_whatif_graph *graph, size_t edit)
{
	return graph->journal.edited[edit];
}

static inline bool kwhy_whatif_is_dropped(const struct kwhy_whatif_graph *graph, uint32_t node)
{
	return graph->dropped[node];
}

#endif
