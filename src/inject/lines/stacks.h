/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_LINES_STACKS_H
#define KWHY_INJECT_LINES_STACKS_H

#include "inject/lines/python.h"

/*
 * Carries call stacks, taken at some of the program's CUDA calls, to the thread that writes them. A thread
 * takes its own stack when CUPTI asks for the time at the start or end of a call: after each pause that is
 * long enough, and at one call in a few hundred. It takes no lock and calls nothing of the program. It stops
 * when it has spent KWHY_STACKS_SHARE of its time on stacks, or when the queue is full.
 */
enum {
	KWHY_STACKS_QUEUED = 64,
	KWHY_STACKS_PYTHON_THREADS =
		16, /* number of slots for threads with Python frames; the thread's id selects the slot */
	KWHY_STACKS_SHARE = 200, /* at most 1 / KWHY_STACKS_SHARE of a thread's time is spent on stacks */
	KWHY_STACKS_SAVED_NS =
		200000, /* time budget, in ns, that a thread may accumulate for stacks in quick succession */
	KWHY_STACKS_PAUSE_NS = 20000, /* least time without a call, in ns, that counts as a pause; a launch
					 takes 2 to 10 us */
	KWHY_STACKS_EVERY =
		1024 /* on average, one of KWHY_STACKS_EVERY / 2 starts and ends of calls is sampled */
};

/* Zeroed memory is empty. */
struct kwhy_stacks {
	struct kwhy_python python;
	atomic_uint_least64_t put;
	uint64_t got;
	/*
	 * Threads that had Python frames. While one of them waits, other threads may work for it, as in
	 * PyTorch's backward pass.
	 */
	struct {
		_Atomic(const void *) thread;
		atomic_uint id;
		atomic_int_least64_t seen_mono_ns; /* 0: the slot is free */
	} python_threads[KWHY_STACKS_PYTHON_THREADS];
	struct {
		atomic_uint_least64_t turn; /* n + 1 once the n-th stack put is in this slot */
		struct kwhy_stack stack;
	} queue[KWHY_STACKS_QUEUED];
};

/* From now on stacks are taken into this memory; NULL: no more stacks are taken. */
void kwhy_stacks_begin(struct kwhy_stacks *stacks);

/* A call of this thread starts or ends now. Takes the thread's stack if one is due. */
void kwhy_stacks_see(int64_t now_mono_ns);

/* To be called on a thread of ours, whose calls are not the program's. */
void kwhy_stacks_leave_thread_out(void);

/*
 * Takes the stack of this thread, whose previous call began or ended at `since_mono_ns`. False: the queue is
 * full.
 */
bool kwhy_stacks_take(struct kwhy_stacks *stacks, int64_t since_mono_ns, int64_t now_mono_ns);

/*
 * kwhy_stacks_next() gives the oldest stack in the queue, NULL: the queue is empty; kwhy_stacks_let_go()
 * frees its slot. Only one thread at a time may call them.
 */
const struct kwhy_stack *kwhy_stacks_next(struct kwhy_stacks *stacks);
void kwhy_stacks_let_go(struct kwhy_stacks *stacks);

#endif
