/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUPTI_H
#define KWHY_TESTS_FAKES_CUPTI_H

#include <stdint.h>

/*
 * A CUPTI without a GPU. The program under test does its "work" by the calls of this header. Each of them
 * makes the record that CUPTI would make, with the size that CUPTI 13.0 gives it, if recording of its kind
 * is enabled.
 *
 * The environment variable KWHY_FAKE_CUPTI selects a fault:
 *
 *   taken                    another client uses the activity interface
 *   old                      a version before CUDA 12
 *   drops                    3 records of each buffer are dropped
 *   reorders                 the records of a buffer come in reverse order
 *   takeover                 from fake_cupti_take_over() on another client receives the buffers
 *   forgets                  calls that are selected after the context was created are not recorded
 *   lasts                    a forced flush takes 50 ms, and using CUPTI after it ends the program
 *   subscribed               another client has the callbacks
 *   interrupted-switching    SIGALRM arrives when recording is switched
 *   interrupted-reading      SIGALRM arrives when a record is read
 */

/*
 * Records a call by the name that CUPTI gives it, such as "cudaLaunchKernel_v7000". Domain 1 is the driver,
 * 2 the runtime.
 */
void fake_cupti_call(int domain, const char *name, uint32_t correlation);

/* Records a call that began at start_ns of CUPTI's clock and ends now. */
void fake_cupti_call_since(int domain, const char *name, uint32_t correlation, uint64_t start_ns);
uint64_t fake_cupti_now(void);

/* Records cudaLaunchKernel as called by a new thread, and waits until that thread has ended. */
void fake_cupti_elsewhere(uint32_t correlation);

/*
 * Calls the callback that the subscriber has registered, if it is enabled for the call `name` of this domain,
 * with `data` as its data.
 */
void fake_cupti_tell(int domain, const char *name, const void *data);

/* Records a kernel. length_ns -1: it is still running and has no end yet. */
void fake_cupti_kernel(const char *name, uint32_t correlation, int64_t length_ns, uint64_t graph_node);
void fake_cupti_copy(uint8_t kind, uint8_t from, uint8_t to, uint64_t bytes, uint32_t correlation);
void fake_cupti_peer_copy(uint32_t from_device, uint32_t to_device, uint64_t bytes, uint32_t correlation);
void fake_cupti_memset(uint64_t bytes, uint32_t correlation);
/*
 * Says that graphs launched from now on were instantiated before this call. If it is never called, each graph
 * counts as instantiated right before its launch.
 */
void fake_cupti_instantiate(void);
void fake_cupti_graph(uint32_t graph, uint32_t correlation);
void fake_cupti_overhead(uint32_t kind, int64_t length_ns);
void fake_cupti_memory(int is_free, uint64_t bytes, uint64_t address);
void fake_cupti_take_over(void);

/* Sets the device on which kernels run from now on; 0 at the start. */
void fake_cupti_use_device(unsigned number);

/*
 * fake_cupti_is_on: returns whether recording of kernels is enabled. fake_cupti_switches: returns how often
 * it was enabled or disabled.
 */
int fake_cupti_is_on(void);
unsigned fake_cupti_switches(void);

/* Returns the number of flushes so far. */
unsigned fake_cupti_flushes(void);

#endif
