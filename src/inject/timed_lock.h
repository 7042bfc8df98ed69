/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TIMED_LOCK_H
#define KWHY_INJECT_TIMED_LOCK_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * Functions that wait for a lock for at most two seconds, the longest time that kwhy lets a program's end
 * wait for a lock. Without a timeout they might wait forever: the holder may have been interrupted by a
 * signal handler that ends the program.
 */

/* The time two seconds from now, on CLOCK_REALTIME. */
struct timespec kwhy_inject_lock_deadline(void);

/* Takes the lock. False: it did not become free within two seconds. */
bool kwhy_inject_timed_lock(pthread_mutex_t *lock);

/* Whether the lock becomes free within two seconds. It is not held on return. */
bool kwhy_inject_lock_becomes_free(pthread_mutex_t *lock);

#endif
