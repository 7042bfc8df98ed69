/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACKS_H
#define KWHY_INJECT_LINES_STACKS_H

#include "inject/lines/python.h"

/*
 * Carries call stacks, taken at some of the program's CUDA calls, to the thread that writes them. At the
 * start and end of each CUDA call, CUPTI asks kwhy for the time, on the calling thread. There the thread
 * takes its own stack if it made no call for at least KWHY_STACKS_PAUSE_NS, and otherwise at one call in a
 * few hundred. No lock is taken and no function of the program is called. A thread takes no stack while its
 * budget of time for that is spent, or while the queue is full.
 */
enum {
	KWHY_STACKS_QUEUED = 64,
	KWHY_STACKS_PYTHON_THREADS = 16, /* number of elements of python_threads[]; a thread's index is its id
					    modulo this number */
	KWHY_STACKS_SHARE =
		200, /* a thread spends at most 1 / KWHY_STACKS_SHARE of its time on taking stacks */
	KWHY_STACKS_SAVED_NS = 200000, /* largest time budget of a thread, in ns, which it may spend on
					  several stacks in quick succession */
	KWHY_STACKS_PAUSE_NS =
		20000, /* least time in ns without a call that counts as a pause; a launch takes 2 to 10 us */
	KWHY_STACKS_EVERY = 1024 /* if calls follow without pause, one of KWHY_STACKS_EVERY / 2 starts and
				    ends of calls is sampled on average */
};

/* The queue of stacks. Zeroed memory is an empty queue. */
struct kwhy_stacks {
	struct kwhy_python python;
	atomic_uint_least64_t put;
	uint64_t got;
	/*
	 * Threads that had Python frames when their stack was last taken. While such a thread waits, threads
	 * without Python frames may call CUDA for it, as in PyTorch's backward pass.
	 */
	struct {
		_Atomic(const void *) thread;
		atomic_uint id;
		atomic_int_least64_t seen_mono_ns; /* time at which the thread's stack was last taken; 0: the
						      slot is free */
	} python_threads[KWHY_STACKS_PYTHON_THREADS];
	struct {
		atomic_uint_least64_t
			turn; /* n + 1: stack number n, counted from 0, is complete in this slot; n + 2: it
				 was read, and the slot is free for stack n + KWHY_STACKS_QUEUED */
		struct kwhy_stack stack;
	} queue[KWHY_STACKS_QUEUED];
};

/* Makes all threads take their stacks into this memory; NULL: no more stacks are taken. */
void kwhy_stacks_begin(struct kwhy_stacks *stacks);

/*
 * Call it at the start and the end of each CUDA call of this thread. It takes the thread's stack if one is
 * due.
 */
void kwhy_stacks_see(int64_t now_mono_ns);

/* Call it on kwhy's own thread, so that no stacks are taken at its CUDA calls. */
void kwhy_stacks_leave_thread_out(void);

/*
 * Takes the stack of the calling thread at once, with its times since_mono_ns (when its previous CUDA call
 * began or ended) and now_mono_ns, and puts it in the queue. False: the queue is full.
 */
bool kwhy_stacks_take(struct kwhy_stacks *stacks, int64_t since_mono_ns, int64_t now_mono_ns);

/*
 * kwhy_stacks_next() returns the oldest stack in the queue; NULL: the queue is empty. kwhy_stacks_let_go()
 * frees the slot of that stack. Only one thread at a time may call them.
 */
const struct kwhy_stack *kwhy_stacks_next(struct kwhy_stacks *stacks);
void kwhy_stacks_let_go(struct kwhy_stacks *stacks);

#endif
