/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_GRID_H
#define KWHY_TESTS_GRID_H

/*
 * Enough of CUDA C to run a kernel's text on the host: a block is a thread of the system, its threads take
 * turns in it. Slow, and of no use for finding races between the threads of a block; but what blocks do to
 * each other, barriers and arithmetic are the kernel's own.
 */

#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <sched.h>
#include <thread>
#include <ucontext.h>
#include <vector>

struct dim {
	unsigned x;
};

static thread_local dim threadIdx, blockIdx, blockDim, gridDim;

#define __global__
#define __device__
#define __shared__ static thread_local
#define __launch_bounds__(...)
#define BY_WARPS 1
#define WAIT sched_yield()

class block
{
      public:
	block(unsigned thread_count, std::function<void()> given)
	    : body(given), threads(thread_count), warps(thread_count / 32)
	{
	}

	void run()
	{
		for (unsigned i = 0; i < threads; i++)
			start(i);
		for (unsigned left = threads; left;)
			for (unsigned i = 0; i < threads; i++)
				if (!fibers[i].ended)
					left -= resume(i);
	}

	/* Until all of them have come as often. */
	void meet()
	{
		meet(everyone, threads);
	}

	/* The values of all lanes of this thread's warp; lent until it meets again. */
	const unsigned *exchange(unsigned value)
	{
		warp &own = warps[threadIdx.x / 32];

		meet(own.lanes, 32);
		own.values[threadIdx.x % 32] = value;
		meet(own.lanes, 32);
		return own.values;
	}

	static thread_local block *current;

      private:
	struct fiber {
		ucontext_t context;
		std::unique_ptr<char[]> stack;
		bool ended = false;
	};
	struct meeting {
		unsigned arrived = 0, round = 0;
	};
	struct warp {
		meeting lanes;
		unsigned values[32];
	};
	enum { STACK = 64 << 10 };

	static void enter()
	{
		current->body();
		current->fibers[threadIdx.x].ended = true;
		swapcontext(&current->fibers[threadIdx.x].context, &current->turn);
	}

	void start(unsigned i)
	{
		fibers.emplace_back();
		fiber &made = fibers.back();

		made.stack.reset(new char[STACK]);
		getcontext(&made.context);
		made.context.uc_stack.ss_sp = made.stack.get();
		made.context.uc_stack.ss_size = STACK;
		made.context.uc_link = nullptr;
		makecontext(&made.context, enter, 0);
		(void)i;
	}

	bool resume(unsigned i)
	{
		threadIdx.x = i;
		swapcontext(&turn, &fibers[i].context);
		return fibers[i].ended;
	}

	void meet(meeting &where, unsigned count)
	{
		unsigned round = where.round;

		if (++where.arrived == count) {
			where.arrived = 0;
			where.round++;
			return;
		}
		while (where.round == round)
			swapcontext(&fibers[threadIdx.x].context, &turn);
	}

	std::function<void()> body;
	unsigned threads;
	std::vector<warp> warps;
	std::vector<fiber> fibers;
	meeting everyone;
	ucontext_t turn;

      public:
	/* Fibers must not move once they run. */
	void reserve()
	{
		fibers.reserve(threads);
	}
};

thread_local block *block::current;

static void launch(unsigned blocks, unsigned threads, std::function<void()> body)
{
	std::vector<std::thread> running;

	for (unsigned b = 0; b < blocks; b++)
		running.emplace_back([=] {
			block own(threads, body);

			own.reserve();
			block::current = &own;
			blockIdx.x = b;
			blockDim.x = threads;
			gridDim.x = blocks;
			own.run();
		});
	for (std::thread &one : running)
		one.join();
}

static inline void __syncthreads()
{
	block::current->meet();
}

static inline void __threadfence()
{
	std::atomic_thread_fence(std::memory_order_seq_cst);
}

static inline void __threadfence_system()
{
	__threadfence();
}

static inline int __reduce_add_sync(unsigned, int value)
{
	const unsigned *values = block::current->exchange((unsigned)value);
	unsigned sum = 0;

	for (unsigned i = 0; i < 32; i++)
		sum += values[i];
	return (int)sum;
}

static inline unsigned __reduce_max_sync(unsigned, unsigned value)
{
	const unsigned *values = block::current->exchange(value);

	for (unsigned i = 0; i < 32; i++)
		value = values[i] > value ? values[i] : value;
	return value;
}

template <class number> static inline number atomicAdd(number *place, number value)
{
	return __atomic_fetch_add(place, value, __ATOMIC_SEQ_CST);
}

static inline unsigned atomicAdd(unsigned *place, int value)
{
	return __atomic_fetch_add(place, (unsigned)value, __ATOMIC_SEQ_CST);
}

template <class number> static inline number atomicMax(number *place, number value)
{
	number old = __atomic_load_n(place, __ATOMIC_SEQ_CST);

	while (old < value &&
		!__atomic_compare_exchange_n(place, &old, value, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	return old;
}

static inline unsigned __float_as_uint(float value)
{
	unsigned bits;

	std::memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static inline int __float2int_rn(float value)
{
	return (int)lrintf(value);
}

#endif
