/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/timed_lock.h"

enum { TIMEOUT_S = 2 };

struct timespec kwhy_inject_lock_deadline(void)
{
	struct timespec latest;

	clock_gettime(CLOCK_REALTIME, &latest);
	latest.tv_sec += TIMEOUT_S;
	return latest;
}

bool kwhy_inject_timed_lock(pthread_mutex_t *lock)
{
	const struct timespec latest = kwhy_inject_lock_deadline();

	return pthread_mutex_timedlock(lock, &latest) == 0;
}

bool kwhy_inject_lock_becomes_free(pthread_mutex_t *lock)
{
	const bool comes = kwhy_inject_timed_lock(lock);

	if (comes)
		pthread_mutex_unlock(lock);
	return comes;
}
