/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_DETECT_BUILD_H
#define KWHY_TESTS_DETECT_BUILD_H

#include "cmocka_all.h"
#include "detect/detect.h"
#include "model/recording.h"

/*
 * Builds recordings for tests of the detectors of kwhy report. Times are in microseconds. Each device has 100
 * multiprocessors; device d is used by process d, with thread d and stream d. build_finish() can add a ledger
 * in which every device draws 300 W while busy and 100 W while idle.
 */
struct build {
	struct kwhy_recording *recording;
	struct kwhy_ledger *ledger; /* NULL: no ledger */
	struct kwhy_profile *profile;
	struct kwhy_findings *findings;
	uint32_t correlation; /* correlation id of the last call that issued work */
};

struct build build_new(uint32_t device_count);
void build_free(struct build *build);

/* Adds a stream to the device's process and returns its index. */
uint32_t build_stream(struct build *build, uint32_t device);
/* Adds a thread to the device's process and returns its index. */
uint32_t build_thread(struct build *build, uint32_t device);

void build_call(struct build *build, uint32_t thread, const char *name, int64_t start_us, int64_t end_us);
void build_host_range(struct build *build, enum kwhy_host_kind kind, const char *name, const char *file,
	int64_t start_us,
	int64_t end_us); /* adds a range of thread 0 at line 42 of `file`; NULL: no source line */
/* Adds an operator on thread 0 with its shape, in the format of model/operator_work.h. */
void build_operator(
	struct build *build, const char *name, const char *shape, int64_t start_us, int64_t end_us);
void build_range(struct build *build, uint32_t thread, const char *name, int64_t start_us, int64_t end_us);

/* Add activities of a device; no call that issued them is recorded. */
void build_kernel(struct build *build, uint32_t stream, const char *name, int64_t start_us, int64_t end_us);
void build_blocks(struct build *build, uint32_t stream, uint32_t blocks, int64_t start_us, int64_t end_us);
void build_collective(struct build *build, uint32_t stream, int64_t start_us, int64_t end_us);
void build_memset(struct build *build, uint32_t stream, int64_t start_us, int64_t end_us);
void build_copy(struct build *build, uint32_t stream, enum kwhy_copy_kind kind, uint64_t bytes,
	int64_t start_us, int64_t end_us); /* host memory is pinned */

/*
 * The call that issues the activity which one of the following functions adds, its times and its thread. The
 * call is recorded, too.
 */
struct build_issue {
	uint32_t thread;
	const char *call;
	int64_t call_start_us, call_end_us;
};
void build_issued_kernel(
	struct build *build, struct build_issue issue, uint32_t stream, int64_t start_us, int64_t end_us);
void build_issued_memset(
	struct build *build, struct build_issue issue, uint32_t stream, int64_t start_us, int64_t end_us);

struct build_copied {
	enum kwhy_copy_kind kind;
	enum kwhy_memory_kind host_memory;
	uint64_t bytes;
	int64_t start_us, end_us;
};
void build_issued_copy(
	struct build *build, struct build_issue issue, uint32_t stream, struct build_copied copied);

/* Finishes the recording. Adds the ledger described above if with_energy. */
void build_finish(struct build *build, bool with_energy);
/* Runs the detectors with these options and returns the first finding with this id, or NULL. */
const struct kwhy_finding *build_detect(
	struct build *build, const char *id, const struct kwhy_detect_options *options);
/*
 * Finishes the recording without energies and runs the detectors with default options. `threshold` is an
 * additional setting "NAME=VALUE", or NULL. Returns the first finding with this id, or NULL.
 */
const struct kwhy_finding *build_find(struct build *build, const char *id, const char *threshold);

/* Checks the count, the time and the saved time of a finding, in microseconds. */
#define ASSERT_FINDING(finding, count_, time_us, saved_us)                             \
	do {                                                                           \
		assert_non_null(finding);                                              \
		assert_int_equal((finding)->count, (count_));                          \
		assert_int_equal((finding)->time_ns, (time_us)*INT64_C(1000));         \
		assert_int_equal((finding)->saving.time_ns, (saved_us)*INT64_C(1000)); \
	} while (0)

#endif
