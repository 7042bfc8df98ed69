/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUDA_TEXT_H
#define KWHY_TESTS_FAKES_CUDA_TEXT_H

/*
 * Enough of CUDA C to compile the source of a kernel as C and to run it on the host. Include this header,
 * then the .cu file, which uses only what C and C++ have in common and writes KERNEL for `extern "C"
 * __global__`. A block is a thread of the operating system, in which the threads of the block run
 * alternately as fibers; barriers, atomic operations, warp operations and communication between blocks work
 * as written in the kernel. Fibers of a block switch only at barriers, so data races within a block remain
 * undetected. A block must have a multiple of 32 threads if it uses warp operations. Link with
 * Threads::Threads.
 */

#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#ifdef __SANITIZE_THREAD__
#define CUDA_TEXT_RUNS false
#else
#define CUDA_TEXT_RUNS true
#endif
#define CUDA_TEXT_ABSENT "the thread sanitizer cannot follow a kernel's threads"

#define KERNEL static __attribute__((unused))
#define __device__ __attribute__((unused))
#define __shared__ static _Thread_local
#define __launch_bounds__(...)
#define BY_WARPS 1
#define WAIT sched_yield() /* for loops of a kernel that poll memory which another block writes */

struct cuda_text_dim {
	unsigned x;
};

static _Thread_local struct cuda_text_dim threadIdx, blockIdx, blockDim, gridDim;

/*
 * _longjmp() of glibc. The prototype avoids the check of _FORTIFY_SOURCE, which ends the program when a jump
 * goes to another stack, as a switch of fibers does.
 */
void cuda_text_jump(jmp_buf place, int value) __asm__("_longjmp") __attribute__((noreturn));

enum { CUDA_TEXT_STACK = 64 << 10, CUDA_TEXT_WARP = 32 };

struct cuda_text_meeting {
	unsigned arrived, round;
};

struct cuda_text_warp {
	struct cuda_text_meeting meeting;
	/*
	 * [exchange % 2][lane] two arrays, so that a lane that is one exchange ahead of another overwrites no
	 * value that the other has still to read
	 */
	unsigned values[2][CUDA_TEXT_WARP];
	unsigned char turns[CUDA_TEXT_WARP];
};

/*
 * A fiber: one thread of a block. It is entered by swapcontext() once. Later switches use longjmp(), which
 * needs no system call.
 */
struct cuda_text_fiber {
	ucontext_t context;
	jmp_buf place;
	bool began, ended;
};

/* A running block, which has a thread of the operating system (`thread`) that runs its fibers in turn. */
struct cuda_text_block {
	void (*body)(void *context);
	void *context;
	unsigned index, threads, blocks;
	pthread_t thread;
	char *stacks;
	struct cuda_text_fiber *fibers;
	struct cuda_text_warp *warps;
	struct cuda_text_meeting everyone;
	ucontext_t begin;
	jmp_buf turn;
};

static _Thread_local struct cuda_text_block *cuda_text_here;

static void cuda_text_enter(void)
{
	struct cuda_text_block *block = cuda_text_here;

	block->body(block->context);
	block->fibers[threadIdx.x].ended = true;
	cuda_text_jump(block->turn, 1);
}

/* Runs a fiber until it waits at a barrier or ends. */
static void cuda_text_turn_to(struct cuda_text_block *block, struct cuda_text_fiber *fiber)
{
	if (_setjmp(block->turn))
		return;
	if (fiber->began)
		cuda_text_jump(fiber->place, 1);
	fiber->began = true;
	swapcontext(&block->begin, &fiber->context);
}

static void cuda_text_let_others(struct cuda_text_block *block)
{
	if (!_setjmp(block->fibers[threadIdx.x].place))
		cuda_text_jump(block->turn, 1);
}

static void cuda_text_take_turns(struct cuda_text_block *block)
{
	unsigned left = block->threads;

	for (unsigned i = 0; left; i = (i + 1) % block->threads) {
		if (block->fibers[i].ended)
			continue;
		threadIdx.x = i;
		cuda_text_turn_to(block, &block->fibers[i]);
		left -= block->fibers[i].ended;
	}
}

/*
 * Prepares the context in which a fiber starts. This is a function of its own because getcontext() may return
 * twice, which could clobber local variables of the caller.
 */
static void cuda_text_make(ucontext_t *context, char *stack)
{
	getcontext(context);
	context->uc_stack.ss_sp = stack;
	context->uc_stack.ss_size = CUDA_TEXT_STACK;
	context->uc_link = NULL;
	makecontext(context, cuda_text_enter, 0);
}

static void *cuda_text_run(void *argument)
{
	struct cuda_text_block *block = argument;

	cuda_text_here = block;
	blockIdx.x = block->index;
	blockDim.x = block->threads;
	gridDim.x = block->blocks;
	block->stacks = malloc((size_t)block->threads * CUDA_TEXT_STACK);
	block->fibers = calloc(block->threads, sizeof(*block->fibers));
	block->warps = calloc(block->threads / CUDA_TEXT_WARP + 1, sizeof(*block->warps));
	for (unsigned i = 0; i < block->threads; i++)
		cuda_text_make(&block->fibers[i].context, block->stacks + (size_t)i * CUDA_TEXT_STACK);
	cuda_text_take_turns(block);
	free(block->stacks);
	free(block->fibers);
	free(block->warps);
	return NULL;
}

/*
 * Runs a grid of `blocks` blocks with `threads` threads each, and returns when all have ended. Each thread
 * calls body(context), which must call the kernel with its arguments.
 */
static __attribute__((unused)) void cuda_text_launch(
	unsigned blocks, unsigned threads, void (*body)(void *context), void *context)
{
	struct cuda_text_block *all = calloc(blocks, sizeof(*all));

	for (unsigned b = 0; b < blocks; b++) {
		all[b] = (struct cuda_text_block){
			.body = body, .context = context, .index = b, .threads = threads, .blocks = blocks};
		if (pthread_create(&all[b].thread, NULL, cuda_text_run, &all[b]))
			abort();
	}
	for (unsigned b = 0; b < blocks; b++)
		pthread_join(all[b].thread, NULL);
	free(all);
}

static void cuda_text_meet(struct cuda_text_meeting *meeting, unsigned count)
{
	unsigned round = meeting->round;

	if (++meeting->arrived == count) {
		meeting->arrived = 0;
		meeting->round++;
		return;
	}
	while (meeting->round == round)
		cuda_text_let_others(cuda_text_here);
}

/*
 * Exchanges values in a warp: waits until all 32 lanes have called, and returns [lane] the value that each
 * passed. The array stays valid until the second next exchange of this warp.
 */
static __attribute__((unused)) const unsigned *cuda_text_exchange(unsigned value)
{
	struct cuda_text_warp *warp = &cuda_text_here->warps[threadIdx.x / CUDA_TEXT_WARP];
	unsigned lane = threadIdx.x % CUDA_TEXT_WARP, *values = warp->values[warp->turns[lane]++ % 2];

	values[lane] = value;
	cuda_text_meet(&warp->meeting, CUDA_TEXT_WARP);
	return values;
}

#define __syncthreads() cuda_text_meet(&cuda_text_here->everyone, blockDim.x)
/*
 * A fence by an atomic operation, as thread sanitizers do not understand fences. They do not understand
 * fibers either, so tests that include this header are skipped in such builds.
 */
static _Atomic unsigned cuda_text_fence __attribute__((unused));
#define __threadfence() ((void)atomic_fetch_add(&cuda_text_fence, 1))
#define __threadfence_system() __threadfence()

#define atomicAdd(place, value) __atomic_fetch_add((place), (__typeof__(*(place)))(value), __ATOMIC_SEQ_CST)
#define atomicMax(place, value)                                                                             \
	({                                                                                                  \
		__typeof__(place) max_place = (place);                                                      \
		__typeof__(*max_place) max_value = (value), max_old = *max_place;                           \
		while (max_old < max_value &&                                                               \
			!__atomic_compare_exchange_n(                                                       \
				max_place, &max_old, max_value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) \
			;                                                                                   \
		max_old;                                                                                    \
	})

static __attribute__((unused)) int __reduce_add_sync(unsigned mask, int value)
{
	const unsigned *values = cuda_text_exchange((unsigned)value);
	unsigned sum = 0;

	(void)mask;
	for (unsigned i = 0; i < CUDA_TEXT_WARP; i++)
		sum += values[i];
	return (int)sum;
}

static __attribute__((unused)) unsigned __reduce_max_sync(unsigned mask, unsigned value)
{
	const unsigned *values = cuda_text_exchange(value);

	(void)mask;
	for (unsigned i = 0; i < CUDA_TEXT_WARP; i++)
		value = values[i] > value ? values[i] : value;
	return value;
}

static __attribute__((unused)) unsigned __float_as_uint(float value)
{
	unsigned bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static __attribute__((unused)) int __float2int_rn(float value)
{
	return (int)lrintf(value);
}

#endif
