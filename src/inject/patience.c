/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/patience.h"

enum { PATIENCE_S = 2 };

struct timespec kwhy_inject_patience(void)
{
	struct timespec latest;

	clock_gettime(CLOCK_REALTIME, &latest);
	latest.tv_sec += PATIENCE_S;
	return latest;
}

bool kwhy_inject_lock_patiently(pthread_mutex_t *lock)
{
	const struct timespec latest = kwhy_inject_patience();

	return pthread_mutex_timedlock(lock, &latest) == 0;
}

bool kwhy_inject_lock_comes(pthread_mutex_t *lock)
{
	const bool comes = kwhy_inject_lock_patiently(lock);

	if (comes)
		pthread_mutex_unlock(lock);
	return comes;
}
