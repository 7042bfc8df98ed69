/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PATIENCE_H
#define KWHY_INJECT_PATIENCE_H

#include <pthread.h>
#include <stdbool.h>
#include <time.h>

/*
 * How long a program that ends is held up: two seconds. Who holds a lock may go on no more then, as where a
 * handler of signals has interrupted it and ends the program.
 */

/* When that is over, on CLOCK_REALTIME. */
struct timespec kwhy_inject_patience(void);

/* False: the lock was not to be had. */
bool kwhy_inject_lock_patiently(pthread_mutex_t *lock);

/* Could it be had? It is not held then. */
bool kwhy_inject_lock_comes(pthread_mutex_t *lock);

#endif
