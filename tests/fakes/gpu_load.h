/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_GPU_LOAD_H
#define KWHY_TESTS_FAKES_GPU_LOAD_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * What a fake GPU runs, for the fake NVML to make power of: a file of sizeof(struct kwhy_fake_load) bytes,
 * named by the environment variable KWHY_FAKE_GPU_LOAD, that a fake CUDA maps shared and writes and the fake
 * NVML maps and reads. While a stretch of time is covered the device draws the largest power of those that
 * cover it, but never less than its scenario says. A writer makes the file if it is not there (ftruncate),
 * fills the item at count % KWHY_FAKE_LOAD_ITEMS, then adds one to count. Items are written in the order of
 * their begin, before they begin or at the latest 1 ms after; one that is still open has INT64_MAX as its
 * end, filled in later.
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
