/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_NVML_CALLS_H
#define KWHY_TESTS_FAKES_NVML_CALLS_H

#include "fake.h"

#include <pthread.h>

/*
 * Begins every call of NVML: delays it or makes it fail as the scenario says. `needs_gpu`: `handle` must be
 * that of a device. Returns KWHY_NVML_SUCCESS, or the error that the call must return, such as invalid
 * argument for a wrong handle or if `out` is NULL.
 */
enum kwhy_nvml_result fake_begin(const char *call, kwhy_nvml_handle handle, bool needs_gpu, void *out);

/*
 * fake_turn_begin() locks the devices, as several threads of kwhy call NVML at the same time.
 * fake_turn_end() unlocks them; BEGIN() makes the compiler call it at the end of the caller's
 * block.
 */
pthread_mutex_t *fake_turn_begin(void);
void fake_turn_end(pthread_mutex_t **turn);

/* Returns the Unix time, us, to which the meters of the device have been simulated. */
unsigned long long fake_now_unix_us(const struct fake_gpu *gpu);

/*
 * Whether there is a file of processes (FAKE_PROCESS_FILE), and the sum of the utilisations of the device's
 * processes in it, at most 100 %, which is then the device's utilisation.
 */
bool fake_has_process_file(void);
unsigned fake_processes_percent(const struct fake_gpu *gpu);

/*
 * Returns the device of a handle; NULL: there is none, or no longer. The handle of a MIG instance stands for
 * its index among the instances that exist now, so it may later mean another instance, as with NVML.
 */
struct fake_gpu *fake_device(kwhy_nvml_handle handle);

/*
 * fake_is_divided: whether MIG is enabled on a GPU now. fake_instance_at: the MIG instance with this index
 * among those that exist now; NULL: there is none.
 */
bool fake_is_divided(const struct fake_gpu *gpu);
struct fake_gpu *fake_instance_at(const struct fake_gpu *gpu, unsigned place);

/* Whether a MIG instance exists now. */
bool fake_is_there(const struct fake_gpu *instance);

/* Begins a call for a device and defines `gpu`, the device with its scenario. */
#define BEGIN(handle, out)                                                                         \
	enum kwhy_nvml_result began = fake_begin(__func__, (handle), true, (out));                 \
	if (began)                                                                                 \
		return began;                                                                      \
	pthread_mutex_t *turn __attribute__((cleanup(fake_turn_end), unused)) = fake_turn_begin(); \
	struct fake_gpu *gpu = fake_device(handle);                                                \
	if (!gpu)                                                                                  \
	return KWHY_NVML_INVALID_ARGUMENT

/* Returns a number of the scenario in *out; if the scenario has none (NAN), returns "not supported". */
enum kwhy_nvml_result fake_offer(double value, unsigned *out);

#endif
