/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TIMEOUT_H
#define KWHY_INJECT_TIMEOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * Locks with a timeout of two seconds, which is the longest time that kwhy may delay a program's end. The
 * timeout is necessary because a lock may never be released: its holder may have been interrupted by a signal
 * handler that is ending the program.
 */

/* The time two seconds from now, on CLOCK_REALTIME. */
struct timespec kwhy_inject_lock_deadline(void);

/* False: the lock did not become free within two seconds. */
bool kwhy_inject_timed_lock(pthread_mutex_t *lock);

/* Whether the lock becomes free within two seconds. It is not held on return. */
bool kwhy_inject_lock_becomes_free(pthread_mutex_t *lock);

#endif
