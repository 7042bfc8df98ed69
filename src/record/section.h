/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORD_SECTION_H
#define KWHY_RECORD_SECTION_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Divides a recording that still grows into sections, each of which is a recording of its own. Each byte of
 * the growing recording is read once: what a section leaves for the next one is kept in a folder of its own,
 * the rest, together with the facts that every section needs (names, processes, devices, clocks).
 *
 * - Each activity, call, range and reading is in exactly one section. Readings of counters are cut: the value
 *   at the cut is interpolated, and both sections have it, so the sections' energies add up to the whole.
 * - A section ends GRACE before the newest record, because records come late, or at the newest record if it
 *   would have no activity otherwise. The activities of each device
 *   are cut where nothing runs on it, at the last such time in the section; if there is none, at the
 *   section's end. A record that comes after its section has been cut belongs to the next one.
 * - A call belongs to the section of the activity that it launched.
 */
#define KWHY_RECORD_SECTION_GRACE_NS INT64_C(2000000000)

struct kwhy_record_section_request {
	const char *recording; /* folder of the growing recording */
	const char *rest;      /* folder that the last section left; NULL: this is the first section */
	/* two existing, empty folders, in which the section and its rest are written */
	const char *out_section, *out_rest;
};

struct kwhy_record_section {
	uint64_t read_bytes; /* bytes read of the growing recording and of the last rest */
	/*
	 * false: there is nothing to cut yet, and nothing in out_section; out_rest has all that was read
	 */
	bool is_cut;
	int64_t end_mono_ns;
};

/*
 * KWHY_E_INPUT: a file is damaged. What the request names for input is left unchanged, so that a failed call
 * can be repeated.
 */
KWHY_MUST_USE enum kwhy_status kwhy_record_section_cut(const struct kwhy_record_section_request *request,
	struct kwhy_record_section *out, struct kwhy_error *error);

#endif
