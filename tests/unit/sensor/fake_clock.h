/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_SENSOR_FAKE_CLOCK_H
#define KWHY_TESTS_UNIT_SENSOR_FAKE_CLOCK_H

#include "base/clock.h"

#include <pthread.h>
#include <stdbool.h>

/*
 * A simulated clock. A thread that sleeps moves the clock to the end of its sleep without waiting, but not
 * beyond limit_ns. If the sleep ends later, the thread waits until the test raises limit_ns or wakes it.
 */
struct fake_clock {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int64_t now_ns, limit_ns, offset_ns;
	bool woken, idle; /* idle: the thread sleeps beyond limit_ns */
	struct kwhy_clock clock;
};

static inline int64_t fake_now(void *context)
{
	struct fake_clock *fake = context;
	int64_t now_ns;

	pthread_mutex_lock(&fake->lock);
	now_ns = fake->now_ns;
	pthread_mutex_unlock(&fake->lock);
	return now_ns;
}

static inline void fake_sleep_until(void *context, int64_t mono_ns)
{
	struct fake_clock *fake = context;

	pthread_mutex_lock(&fake->lock);
	while (!fake->woken && mono_ns > fake->limit_ns) {
		fake->idle = true;
		fake->now_ns = fake->now_ns > fake->limit_ns ? fake->now_ns : fake->limit_ns;
		pthread_cond_broadcast(&fake->changed);
		pthread_cond_wait(&fake->changed, &fake->lock);
	}
	if (!fake->woken && mono_ns > fake->now_ns)
		fake->now_ns = mono_ns;
	fake->woken = fake->idle = false;
	pthread_mutex_unlock(&fake->lock);
}

static inline void fake_wake(void *context)
{
	struct fake_clock *fake = context;

	pthread_mutex_lock(&fake->lock);
	fake->woken = true;
	pthread_cond_broadcast(&fake->changed);
	pthread_mutex_unlock(&fake->lock);
}

static inline struct kwhy_clock_relation fake_relate(void *context)
{
	struct fake_clock *fake = context;
	struct kwhy_clock_relation relation;

	pthread_mutex_lock(&fake->lock);
	relation = (struct kwhy_clock_relation){fake->now_ns, fake->offset_ns, 100};
	pthread_mutex_unlock(&fake->lock);
	return relation;
}

/* Starts the clock at `now_ns`. Unix time is the clock's time plus offset_ns. */
static inline void fake_clock_init(struct fake_clock *fake, int64_t now_ns, int64_t offset_ns)
{
	*fake = (struct fake_clock){.now_ns = now_ns, .limit_ns = now_ns, .offset_ns = offset_ns};
	fake->clock = (struct kwhy_clock){fake_now, fake_sleep_until, fake_wake, fake_relate, fake};
	pthread_mutex_init(&fake->lock, NULL);
	pthread_cond_init(&fake->changed, NULL);
}

static inline void fake_clock_done(struct fake_clock *fake)
{
	pthread_cond_destroy(&fake->changed);
	pthread_mutex_destroy(&fake->lock);
}

/*
 * Raises limit_ns to `mono_ns`, so that the sleeping thread does all that is due up to then. Returns when it
 * sleeps until a later time.
 */
static inline void fake_run_to(struct fake_clock *fake, int64_t mono_ns)
{
	pthread_mutex_lock(&fake->lock);
	fake->limit_ns = mono_ns;
	fake->idle = false;
	pthread_cond_broadcast(&fake->changed);
	while (!fake->idle || fake->now_ns < mono_ns)
		pthread_cond_wait(&fake->changed, &fake->lock);
	pthread_mutex_unlock(&fake->lock);
}

/* Moves the clock on by length_ns. Called by the thread under test to simulate work that takes time. */
static inline void fake_spend(struct fake_clock *fake, int64_t length_ns)
{
	pthread_mutex_lock(&fake->lock);
	fake->now_ns += length_ns;
	pthread_mutex_unlock(&fake->lock);
}

/* Sets Unix time, as the system's administrator may. */
static inline void fake_set_offset(struct fake_clock *fake, int64_t offset_ns)
{
	pthread_mutex_lock(&fake->lock);
	fake->offset_ns = offset_ns;
	pthread_mutex_unlock(&fake->lock);
}

#endif
