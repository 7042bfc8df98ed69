/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_INJECT_PROBE_ROWS_H
#define KWHY_INJECT_PROBE_ROWS_H

#include "inject/labels.h"
#include "inject/probe/probe.h"

/* What the prober has to say, into the recording. Under the session's lock. */

/* Bursts that have ended since, and why the probing has ended early, if it has. */
void kwhy_probe_write_bursts(struct kwhy_probe *probe, struct kwhy_inject_labels *labels);

/* Each account without a burst, and why. */
void kwhy_probe_write_unprobed(struct kwhy_probe *probe, struct kwhy_inject_labels *labels);

#endif
