/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CLOCK_H
#define KWHY_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, of CLOCK_REALTIME, and of CPU time that the calling thread has used. */
int64_t kwhy_clock_mono_ns(void);
int64_t kwhy_clock_unix_ns(void);
int64_t kwhy_clock_thread_cpu_ns(void);

/*
 * Relation of the Unix and the monotonic clock at the time mono_ns: Unix time = monotonic time + offset_ns,
 * with an error of at most width_ns / 2.
 */
struct kwhy_clock_relation {
	int64_t mono_ns, offset_ns, width_ns;
};

/*
 * Measures the relation now: reads Unix time several times, each time between two readings of
 * CLOCK_MONOTONIC, and uses the attempt in which these two readings were closest; width_ns is the time
 * between them.
 */
struct kwhy_clock_relation kwhy_clock_relate(void);

/*
 * Convert a Unix time to CLOCK_MONOTONIC, and back, by a relation. Results saturate at the ends of int64_t.
 */
int64_t kwhy_clock_mono_of_unix(const struct kwhy_clock_relation *relation, int64_t unix_ns);
int64_t kwhy_clock_unix_of_mono(const struct kwhy_clock_relation *relation, int64_t mono_ns);

/* A clock that can be read and waited on. Functions take it as a parameter so that tests need not wait. */
struct kwhy_clock {
	int64_t (*now_mono_ns)(void *context);
	/*
	 * sleep_until() returns at the time mono_ns, or as soon as wake() has been called since the last
	 * return of sleep_until(). It may also return earlier. Only one thread sleeps; any thread may wake
	 * it.
	 */
	void (*sleep_until)(void *context, int64_t mono_ns);
	void (*wake)(void *context);
	struct kwhy_clock_relation (*relate)(void *context);
	void *context;
};

/* The futex on which the system clock sleeps. */
struct kwhy_clock_sleeper {
	uint32_t woken; /* atomic; 1: wake() has been called since the last return of sleep_until() */
};
/* Returns this machine's clock. `sleeper` must stay at its address while the clock is in use. */
struct kwhy_clock kwhy_clock_system_init(struct kwhy_clock_sleeper *sleeper);

#endif
