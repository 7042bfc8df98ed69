/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_TIMEOUT_H
#define KWHY_INJECT_TIMEOUT_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * How long a program that ends is held up: two seconds. Who holds a lock may go on no more then, as where a
 * handler of signals has interrupted it and ends the program.
 */

/* When that is over, on CLOCK_REALTIME. */
struct timespec kwhy_inject_lock_deadline(void);

/* False: the lock was not to be had. */
bool kwhy_inject_timed_lock(pthread_mutex_t *lock);

/* Could it be had? It is not held then. */
bool kwhy_inject_lock_becomes_free(pthread_mutex_t *lock);

#endif
