/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_CALLS_H
#define KWHY_TESTS_FAKES_NVML_CALLS_H

#include "fake.h"

#include <pthread.h>

/* What every call does first: counts itself, waits or fails as the scenario says, and looks at its device. */
enum kwhy_nvml_result fake_begin(const char *call, kwhy_nvml_handle handle, bool needs_gpu, void *out);

/* Until the end of its block a call has the devices to itself: kwhy's threads ask at once. */
pthread_mutex_t *fake_turn_begin(void);
void fake_turn_end(pthread_mutex_t **turn);

/* Begins a call on a device; `gpu` is it, with what the scenario says of it. */
#define BEGIN(handle, out)                                                         \
	struct fake_gpu *gpu = (struct fake_gpu *)(handle);                        \
	enum kwhy_nvml_result began = fake_begin(__func__, (handle), true, (out)); \
	if (began)                                                                 \
		return began;                                                      \
	pthread_mutex_t *turn __attribute__((cleanup(fake_turn_end), unused)) = fake_turn_begin()

/* A number as it is asked for; not supported where the scenario has none. */
enum kwhy_nvml_result fake_offer(double value, unsigned *out);

#endif
