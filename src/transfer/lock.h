/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TRANSFER_LOCK_H
#define KWHY_TRANSFER_LOCK_H

#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * A lock that takes one atomic instruction to take and one to release if no thread waits. Every put takes and
 * releases it, and a put of a few bytes does little else, so this cost matters. A thread that finds the lock
 * taken sleeps in the kernel, as with a mutex. A lock that is all zero is free; it needs no cleanup. Only
 * threads of one process may share it.
 */
struct kwhy_transfer_lock {
	atomic_int state; /* 0: free; 1: taken; 2: taken, and other threads may be asleep */
};

static inline void kwhy_transfer_lock_take_slowly(struct kwhy_transfer_lock *lock)
{
	while (atomic_exchange_explicit(&lock->state, 2, memory_order_acquire) != 0)
		(void)syscall(SYS_futex, &lock->state, FUTEX_WAIT_PRIVATE, 2, NULL, NULL, 0);
}

static inline void kwhy_transfer_lock_take(struct kwhy_transfer_lock *lock)
{
	int is_free = 0;

	if (!atomic_compare_exchange_strong_explicit(
		    &lock->state, &is_free, 1, memory_order_acquire, memory_order_relaxed))
		kwhy_transfer_lock_take_slowly(lock);
}

static inline void kwhy_transfer_lock_give(struct kwhy_transfer_lock *lock)
{
	if (atomic_exchange_explicit(&lock->state, 0, memory_order_release) == 2)
		(void)syscall(SYS_futex, &lock->state, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}

#endif
