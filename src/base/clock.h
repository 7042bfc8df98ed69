/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CLOCK_H
#define KWHY_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of CLOCK_MONOTONIC, CLOCK_REALTIME and of CPU time used by the calling thread. */
int64_t kwhy_clock_mono_ns(void);
int64_t kwhy_clock_unix_ns(void);
int64_t kwhy_clock_thread_cpu_ns(void);

/* How the two clocks lie at one moment: unix = mono + offset, known within +- spread / 2. */
struct kwhy_clock_relation {
	int64_t mono_ns, offset_ns, spread_ns;
};

/* The closest of several sandwiched readings. */
struct kwhy_clock_relation kwhy_clock_relate(void);

/* A clock to wait on, as a parameter, so that tests wait for nothing. */
struct kwhy_clock {
	int64_t (*now_mono_ns)(void *context);
	/* Until the absolute time, or until *stop is set by another thread that also calls wake. */
	void (*sleep_until)(void *context, int64_t mono_ns);
	void (*wake)(void *context);
	void *context;
};

#endif
