/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/lines/stacks.h"

#include "base/clock.h"
#include "base/random.h"

#include <execinfo.h>
#include <sys/syscall.h>
#include <unistd.h>

struct caller {
	int64_t last_mono_ns; /* when the thread's last CUDA call began or ended, whichever was later; 0: it
				 made none */
	int64_t saved_ns; /* time budget of the thread: ns that it may spend on taking stacks now; below 0:
			     overdrawn */
	uint32_t id, left;
	uint64_t random; /* state of the random numbers; 0: not seeded */
	bool is_inside;
};

static _Thread_local struct caller thread;

static struct kwhy_stacks *_Atomic current;

/*
 * Makes the C library load the library behind backtrace() now; otherwise the first stack, taken within a CUDA
 * call, would load it.
 */
static void load_unwinder(void)
{
	void *address;

	(void)backtrace(&address, 1);
}

void kwhy_stacks_begin(struct kwhy_stacks *stacks)
{
	if (stacks) {
		kwhy_python_open(&stacks->python);
		load_unwinder();
	}
	atomic_store(&current, stacks);
}

/*
 * Random number, below KWHY_STACKS_EVERY, of starts and ends of calls to leave out before the next sample.
 * Calls repeat in patterns, in which a fixed number would sample the same call every time.
 */
static uint32_t next_step(struct caller *caller)
{
	if (!caller->random)
		caller->random = (uint64_t)syscall(SYS_gettid);
	return (uint32_t)(kwhy_random_next(&caller->random) % KWHY_STACKS_EVERY);
}

static void take_native(struct kwhy_stack *out)
{
	void *addresses[KWHY_STACK_FRAMES];
	const int count = backtrace(addresses, KWHY_STACK_FRAMES);

	out->count = out->text_bytes = 0;
	for (int i = 0; i < count; i++)
		out->frames[out->count++] = (struct kwhy_stack_frame){
			.address = (uint64_t)(uintptr_t)addresses[i]};
}

static void remember_thread(struct kwhy_stacks *stacks, const void *python_thread, int64_t now_mono_ns)
{
	const size_t at = thread.id % KWHY_STACKS_PYTHON_THREADS;

	atomic_store_explicit(&stacks->python_threads[at].thread, python_thread, memory_order_relaxed);
	atomic_store_explicit(&stacks->python_threads[at].id, thread.id, memory_order_relaxed);
	atomic_store_explicit(&stacks->python_threads[at].seen_mono_ns, now_mono_ns, memory_order_relaxed);
}

/*
 * Index in python_threads[] of the thread whose stack was taken last before *before_mono_ns. *before_mono_ns
 * becomes the time of that stack, so that the next call finds the thread before it.
 * KWHY_STACKS_PYTHON_THREADS: there is no such thread.
 */
static size_t latest_before(struct kwhy_stacks *stacks, int64_t *before_mono_ns)
{
	size_t found = KWHY_STACKS_PYTHON_THREADS;
	int64_t found_mono_ns = 0;

	for (size_t i = 0; i < KWHY_STACKS_PYTHON_THREADS; i++) {
		const int64_t seen_mono_ns = atomic_load_explicit(
			&stacks->python_threads[i].seen_mono_ns, memory_order_relaxed);

		if (seen_mono_ns <= found_mono_ns || seen_mono_ns >= *before_mono_ns)
			continue;
		found = i;
		found_mono_ns = seen_mono_ns;
	}
	*before_mono_ns = found_mono_ns;
	return found;
}

/*
 * For a thread without Python frames: takes the stack of a Python thread that probably waits for it. It tries
 * the Python threads in turn, beginning with the one whose own CUDA call was sampled last, until it gets a
 * stack that did not change while it was read.
 */
static bool take_waiting(struct kwhy_stacks *stacks, struct kwhy_stack *out)
{
	int64_t before_mono_ns = INT64_MAX;
	size_t at;

	while ((at = latest_before(stacks, &before_mono_ns)) < KWHY_STACKS_PYTHON_THREADS) {
		out->of_thread = atomic_load_explicit(&stacks->python_threads[at].id, memory_order_relaxed);
		if (kwhy_python_stack_other(&stacks->python,
			    atomic_load_explicit(&stacks->python_threads[at].thread, memory_order_relaxed),
			    out))
			return true;
	}
	return false;
}

static void fill(struct kwhy_stacks *stacks, struct kwhy_stack *out)
{
	const void *python_thread;

	out->thread = out->of_thread = thread.id;
	if (kwhy_python_stack_own(&stacks->python, out, &python_thread)) {
		remember_thread(stacks, python_thread, out->time_mono_ns);
		return;
	}
	if (take_waiting(stacks, out))
		return;
	out->of_thread = thread.id;
	take_native(out);
}

/*
 * Reserves the next slot of the queue for this thread and returns its index; *out_put receives the number of
 * the stack; KWHY_STACKS_QUEUED: the queue is full.
 */
static size_t claim(struct kwhy_stacks *stacks, uint64_t *out_put)
{
	uint64_t put = atomic_load(&stacks->put);

	for (;;) {
		const size_t at = put % KWHY_STACKS_QUEUED;
		const uint64_t emptied = put < KWHY_STACKS_QUEUED ? 0 : put - KWHY_STACKS_QUEUED + 2;
		const uint64_t turn = atomic_load_explicit(&stacks->queue[at].turn, memory_order_acquire);

		if (turn != emptied && put == atomic_load(&stacks->put))
			return KWHY_STACKS_QUEUED;
		if (turn == emptied && atomic_compare_exchange_weak(&stacks->put, &put, put + 1)) {
			*out_put = put;
			return at;
		}
		put = atomic_load(&stacks->put);
	}
}

bool kwhy_stacks_take(struct kwhy_stacks *stacks, int64_t since_mono_ns, int64_t now_mono_ns)
{
	uint64_t put;
	const size_t at = claim(stacks, &put);

	if (at == KWHY_STACKS_QUEUED)
		return false;
	if (!thread.id)
		thread.id = (uint32_t)syscall(SYS_gettid);
	stacks->queue[at].stack.time_mono_ns = now_mono_ns;
	stacks->queue[at].stack.since_mono_ns = since_mono_ns;
	fill(stacks, &stacks->queue[at].stack);
	atomic_store_explicit(&stacks->queue[at].turn, put + 1, memory_order_release);
	return true;
}

/*
 * Whether a stack is due. since_ns: time since the thread's last call began or ended; the thread's budget
 * grows by 1 / KWHY_STACKS_SHARE of that time. The first call after a pause is sampled if the budget is above
 * 0. Other calls are sampled at random, and only while the budget is above a quarter of KWHY_STACKS_SAVED_NS.
 */
static bool is_due(struct caller *caller, int64_t since_ns)
{
	const bool is_pause = since_ns >= KWHY_STACKS_PAUSE_NS;

	caller->saved_ns += since_ns / KWHY_STACKS_SHARE;
	if (caller->saved_ns > KWHY_STACKS_SAVED_NS)
		caller->saved_ns = KWHY_STACKS_SAVED_NS;
	if (is_pause && caller->saved_ns > 0)
		return true;
	if (caller->left) {
		caller->left--;
		return false;
	}
	caller->left = next_step(caller);
	return caller->saved_ns > KWHY_STACKS_SAVED_NS / 4;
}

/*
 * Subtracts the time spent on taking a stack from the thread's budget, but at most KWHY_STACKS_SAVED_NS. The
 * limit is for a thread that was preempted meanwhile, so that spent_ns is too long.
 */
static void pay(struct caller *caller, int64_t spent_ns)
{
	caller->saved_ns -= spent_ns < KWHY_STACKS_SAVED_NS ? spent_ns : KWHY_STACKS_SAVED_NS;
}

void kwhy_stacks_see(int64_t now_mono_ns)
{
	struct kwhy_stacks *stacks = atomic_load_explicit(&current, memory_order_acquire);
	struct caller *caller;
	int64_t since_mono_ns;

	if (!stacks)
		return;
	caller = &thread;
	if (caller->is_inside)
		return;
	since_mono_ns = caller->last_mono_ns;
	caller->last_mono_ns = now_mono_ns;
	if (!is_due(caller, now_mono_ns - since_mono_ns))
		return;
	caller->is_inside = true;
	if (kwhy_stacks_take(stacks, since_mono_ns, now_mono_ns))
		pay(caller, kwhy_clock_mono_ns() - now_mono_ns);
	caller->is_inside = false;
}

void kwhy_stacks_leave_thread_out(void)
{
	thread.is_inside = true;
}

const struct kwhy_stack *kwhy_stacks_next(struct kwhy_stacks *stacks)
{
	const size_t at = stacks->got % KWHY_STACKS_QUEUED;

	if (atomic_load_explicit(&stacks->queue[at].turn, memory_order_acquire) != stacks->got + 1)
		return NULL;
	return &stacks->queue[at].stack;
}

void kwhy_stacks_let_go(struct kwhy_stacks *stacks)
{
	const size_t at = stacks->got % KWHY_STACKS_QUEUED;

	atomic_store_explicit(&stacks->queue[at].turn, stacks->got + 2, memory_order_release);
	stacks->got++;
}
