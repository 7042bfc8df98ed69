/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RECORDINGS_REPLAY_SHOW_H
#define KWHY_CLI_RECORDINGS_REPLAY_SHOW_H

#include "base/text.h"
#include "replay/replay.h"
#include "report/report.h"

/* Writes the results of `kwhy replay` as text. `report` is the report on the recording. */
void kwhy_replay_text(const struct kwhy_replay *replay, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out);

/* Writes the results of `kwhy replay` as JSON, schema kwhy.replay/1 (docs/formats/replay.md). */
void kwhy_replay_json(
	const struct kwhy_replay *replay, const struct kwhy_report *report, struct kwhy_text *out);

#endif
