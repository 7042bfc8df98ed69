/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUPTI_H
#define KWHY_TESTS_FAKES_CUPTI_H

#include <stdint.h>

/*
 * A CUPTI without a GPU. The program under test does its "work" by these calls, each of which makes the
 * record that CUPTI would make, of the size that version 13.0 gives it, if its kind is asked for.
 * KWHY_FAKE_CUPTI says what goes wrong: "taken" (another client has it), "old" (a version before CUDA 12),
 * "drops" (3 records a buffer), "reorders" (records of a buffer come last first), "takeover" (from the call
 * of fake_cupti_take_over() on buffers go to somebody else), "forgets" (single calls that are switched on
 * once there is a context are not recorded), "lasts" (a flush that is forced takes a while, and a flush or a
 * switch after it ends the program), "subscribed" (another client has the callbacks).
 */

/* A call of that name of CUPTI, "cudaLaunchKernel_v7000", of a domain: 1 driver, 2 runtime. */
void fake_cupti_call(int domain, const char *name, uint32_t correlation);

/* The same, of a call that began at a time of CUPTI's clock and ends now. */
void fake_cupti_call_since(int domain, const char *name, uint32_t correlation, uint64_t start_ns);
uint64_t fake_cupti_now(void);

/* A launch on a thread of its own, for which this one waits. */
void fake_cupti_elsewhere(uint32_t correlation);

/* Calls back whoever subscribed, where that call is enabled: `data` as CUPTI gives it. */
void fake_cupti_tell(int domain, const char *name, const void *data);

/* A kernel of a length; -1: it still runs. */
void fake_cupti_kernel(const char *name, uint32_t correlation, int64_t length_ns, uint64_t graph_node);
void fake_cupti_copy(uint8_t kind, uint8_t from, uint8_t to, uint64_t bytes, uint32_t correlation);
void fake_cupti_peer_copy(uint32_t from_device, uint32_t to_device, uint64_t bytes, uint32_t correlation);
void fake_cupti_memset(uint64_t bytes, uint32_t correlation);
/* The graphs that are launched from now on are made; without, as if each had been made just before. */
void fake_cupti_instantiate(void);
void fake_cupti_graph(uint32_t graph, uint32_t correlation);
void fake_cupti_overhead(uint32_t kind, int64_t length_ns);
void fake_cupti_memory(int is_free, uint64_t bytes, uint64_t address);
void fake_cupti_take_over(void);

/* Kernels run on this one from now on; else on device 0. */
void fake_cupti_use_device(unsigned number);

/* Are kernels asked for now? How often has that been switched? */
int fake_cupti_is_on(void);
unsigned fake_cupti_switches(void);

/* How often somebody asked for what there is. */
unsigned fake_cupti_flushes(void);

#endif
