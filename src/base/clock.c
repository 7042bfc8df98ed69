/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { SANDWICHES = 5, NS_PER_S = 1000000000 };

static int64_t read_clock(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t kwhy_clock_mono_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

int64_t kwhy_clock_unix_ns(void)
{
	return read_clock(CLOCK_REALTIME);
}

int64_t kwhy_clock_thread_cpu_ns(void)
{
	return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

struct kwhy_clock_relation kwhy_clock_relate(void)
{
	struct kwhy_clock_relation best = {.width_ns = INT64_MAX};

	for (int i = 0; i < SANDWICHES; i++) {
		int64_t before = kwhy_clock_mono_ns(), unix_ns = kwhy_clock_unix_ns();
		int64_t spread = kwhy_clock_mono_ns() - before, middle = before + spread / 2;

		if (spread < best.width_ns)
			best = (struct kwhy_clock_relation){middle, unix_ns - middle, spread};
	}
	return best;
}

int64_t kwhy_clock_mono_of_unix(const struct kwhy_clock_relation *relation, int64_t unix_ns)
{
	int64_t mono_ns;

	if (__builtin_sub_overflow(unix_ns, relation->offset_ns, &mono_ns))
		return unix_ns < 0 ? INT64_MIN : INT64_MAX;
	return mono_ns;
}

int64_t kwhy_clock_unix_of_mono(const struct kwhy_clock_relation *relation, int64_t mono_ns)
{
	int64_t unix_ns;

	if (__builtin_add_overflow(mono_ns, relation->offset_ns, &unix_ns))
		return mono_ns < 0 ? INT64_MIN : INT64_MAX;
	return unix_ns;
}

static int64_t system_now(void *context)
{
	(void)context;
	return kwhy_clock_mono_ns();
}

/*
 * However often wake() was called since the last return of sleep_until(), it ends only one sleep. The sleep
 * is a futex because sem_clockwait() needs a newer glibc than many machines with GPUs have.
 */
static void system_sleep_until(void *context, int64_t mono_ns)
{
	struct kwhy_clock_sleeper *sleeper = context;
	struct timespec until = {.tv_sec = mono_ns / NS_PER_S, .tv_nsec = mono_ns % NS_PER_S};

	syscall(SYS_futex, &sleeper->woken, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL,
		FUTEX_BITSET_MATCH_ANY);
	__atomic_exchange_n(&sleeper->woken, 0, __ATOMIC_ACQ_REL);
}

static void system_wake(void *context)
{
	struct kwhy_clock_sleeper *sleeper = context;

	__atomic_store_n(&sleeper->woken, 1, __ATOMIC_RELEASE);
	syscall(SYS_futex, &sleeper->woken, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

static struct kwhy_clock_relation system_relate(void *context)
{
	(void)context;
	return kwhy_clock_relate();
}

struct kwhy_clock kwhy_clock_system_init(struct kwhy_clock_sleeper *sleeper)
{
	sleeper->woken = 0;
	return (struct kwhy_clock){system_now, system_sleep_until, system_wake, system_relate, sleeper};
}
