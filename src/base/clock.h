/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CLOCK_H
#define KWHY_BASE_CLOCK_H

#include <semaphore.h>
#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, CLOCK_REALTIME and of CPU time used by the calling thread. */
int64_t kwhy_clock_mono_ns(void);
int64_t kwhy_clock_unix_ns(void);
int64_t kwhy_clock_thread_cpu_ns(void);

/* How the two clocks lie at one moment: unix = mono + offset, known within +- spread / 2. */
struct kwhy_clock_relation {
	int64_t mono_ns, offset_ns, width_ns;
};

/* The closest of several sandwiched readings. */
struct kwhy_clock_relation kwhy_clock_relate(void);

/* The time on the other clock, by that relation; saturates. */
int64_t kwhy_clock_mono_of_unix(const struct kwhy_clock_relation *relation, int64_t unix_ns);
int64_t kwhy_clock_unix_of_mono(const struct kwhy_clock_relation *relation, int64_t mono_ns);

/* A clock to wait on, as a parameter, so that tests wait for nothing. */
struct kwhy_clock {
	int64_t (*now_mono_ns)(void *context);
	/*
	 * Returns at the absolute time, or as soon as wake() was called since the last return; may return
	 * earlier for no reason. One thread sleeps, any thread wakes.
	 */
	void (*sleep_until)(void *context, int64_t mono_ns);
	void (*wake)(void *context);
	struct kwhy_clock_relation (*relate)(void *context);
	void *context;
};

/* This machine's clock, to sleep on with `sleeper`, which must stay where it is. Lasts until the done(). */
struct kwhy_clock_sleeper {
	sem_t wakes;
};
struct kwhy_clock kwhy_clock_system_init(struct kwhy_clock_sleeper *sleeper);
void kwhy_clock_system_done(struct kwhy_clock_sleeper *sleeper);

#endif
