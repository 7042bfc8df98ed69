/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_ROWS_H
#define KWHY_INJECT_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/*
 * What the session writes besides the records of CUPTI. Under its lock, but for the two that say otherwise.
 */
void kwhy_inject_write_ranges(void);
void kwhy_inject_write_stacks(void);
void kwhy_inject_write_lost(void);

/* What recording has cost by now; the gate is asked without the lock, before. */
void kwhy_inject_write_costs(int64_t switch_ns, uint64_t switches);

/* What the prober has done since, and at the end what it has not. */
void kwhy_inject_write_probed(bool is_end);

/* Clock and costs every now and then, so that a killed program's recording has them, too. */
void kwhy_inject_write_clock(int64_t now_mono_ns, int64_t switch_ns, uint64_t switches);

/* Once a process uses CUDA, its devices. Without the lock, for the driver may be calling us meanwhile. */
void kwhy_inject_write_devices(void);

/* Windows that ended by a time, while the file takes any. Without the lock: who switches may be waiting for
 * it. */
void kwhy_inject_write_windows(int64_t ended_by_mono_ns);

/* Gathered rows go to the file. */
void kwhy_inject_write_gathered(void);

/* A file that takes no more needs no more records: whether CUPTI is to be told so now. */
bool kwhy_inject_is_full_now(int64_t now_mono_ns);

/* All but the last windows, costs and the end itself. */
void kwhy_inject_write_end(int64_t now_mono_ns);

#endif
