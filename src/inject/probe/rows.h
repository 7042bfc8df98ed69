/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_ROWS_H
#define KWHY_INJECT_PROBE_ROWS_H

#include "inject/labels.h"
#include "inject/probe/probe.h"

/* Functions that write the prober's records to the recording. The caller holds the session's lock. */

/*
 * Writes the bursts that have ended since the last call and, if probing ended early, a note with the reason.
 */
void kwhy_probe_write_bursts(struct kwhy_probe *probe, struct kwhy_inject_labels *labels);

/* Writes one record for each account that had no burst, with the reason. */
void kwhy_probe_write_unprobed(struct kwhy_probe *probe, struct kwhy_inject_labels *labels);

#endif
