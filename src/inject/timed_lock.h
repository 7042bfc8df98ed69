/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TIMEOUT_H
#define KWHY_INJECT_TIMEOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * Locks with a timeout of two seconds, the longest time for which we delay a program's end. The thread that
 * holds a lock may never release it: a signal handler may have interrupted it and be ending the program.
 */

/* The time two seconds from now, on CLOCK_REALTIME. */
struct timespec kwhy_inject_lock_deadline(void);

/* False: the lock did not become free in time. */
bool kwhy_inject_timed_lock(pthread_mutex_t *lock);

/* Whether the lock becomes free in time. It is not held on return. */
bool kwhy_inject_lock_becomes_free(pthread_mutex_t *lock);

#endif
