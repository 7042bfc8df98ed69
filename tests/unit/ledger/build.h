/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_LEDGER_BUILD_H
#define KWHY_TESTS_UNIT_LEDGER_BUILD_H

#include "cmocka_all.h"
#include "ledger/ledger_new.h"
#include "model/ledger.h"
#include "ok.h"

/* Builds recordings for tests. The test fails if a call fails. */

extern struct kwhy_error error;

/* Returns a recording with one device, process, thread and stream, all with index 0. */
struct kwhy_recording *build_one(void);
uint32_t build_device(struct kwhy_recording *recording, int32_t index);
/* Adds a machine whose host has that name, and returns its index. */
uint32_t build_machine(struct kwhy_recording *recording, const char *name);
uint32_t build_process(struct kwhy_recording *recording, int64_t pid);
uint32_t build_thread(struct kwhy_recording *recording, uint32_t process, int64_t tid);
uint32_t build_stream(struct kwhy_recording *recording, uint32_t device, uint32_t process, int64_t id);
uint32_t build_name(struct kwhy_recording *recording, const char *name);

/* Returns a kernel on `stream` of which only the times and the name are known. */
struct kwhy_activity build_activity(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns,
	int64_t end_ns, const char *name);
void build_add(struct kwhy_recording *recording, struct kwhy_activity activity);

void build_kernel(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	const char *name);
/* Adds a kernel launched by the call with that correlation id. */
void build_launched(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	uint32_t correlation);
void build_kind(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	enum kwhy_activity_kind kind);
void build_h2d(struct kwhy_recording *recording, uint32_t stream, int64_t start_ns, int64_t end_ns,
	uint64_t bytes, const char *name);
void build_call(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns,
	const char *name, uint32_t correlation);
void build_range(struct kwhy_recording *recording, uint32_t thread, int64_t start_ns, int64_t end_ns,
	const char *name, enum kwhy_range_kind kind);

/* Finish the recording and return its ledger. Free both with build_free(). */
struct kwhy_ledger *build_ledger(struct kwhy_recording *recording);
struct kwhy_ledger *build_ledger_with(
	struct kwhy_recording *recording, const struct kwhy_ledger_options *options);
void build_free(struct kwhy_recording *recording, struct kwhy_ledger *ledger);

/* Returns a device's account with that name, or NULL. */
const struct kwhy_account *build_account(const struct kwhy_ledger *ledger, uint32_t device, const char *name);

/* returns the text of the note with that id, or NULL */
const char *build_note(const struct kwhy_ledger *ledger, const char *id);

#endif
