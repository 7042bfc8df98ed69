/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_GPU_LOAD_H
#define KWHY_TESTS_FAKES_GPU_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * The load of fake GPUs, from which the fake NVML computes their power. It is a file of sizeof(struct
 * kwhy_fake_load) bytes, named by the environment variable KWHY_FAKE_GPU_LOAD, that a fake CUDA maps shared
 * and writes and the fake NVML maps and reads. At any time a device draws the largest power of the items
 * that cover that time, but never less than its scenario says. A writer creates the file if it does not
 * exist (ftruncate), fills the item at count % KWHY_FAKE_LOAD_ITEMS, and then increments count. Items are
 * written in the order in which they begin, at the latest 1 ms after they begin. An item that still runs
 * has INT64_MAX as its end, which is replaced later.
 */
enum { KWHY_FAKE_LOAD_ITEMS = 8192 };

struct kwhy_fake_load_item {
	_Atomic int64_t begin_mono_ns, end_mono_ns;
	_Atomic int64_t power_mw, device;
};

struct kwhy_fake_load {
	_Atomic uint64_t count;
	struct kwhy_fake_load_item items[KWHY_FAKE_LOAD_ITEMS];
};

#endif
