/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPER_H
#define KWHY_LLM_SCRAPER_H

#include "llm/track.h"

/*
 * Reads the energy of a server's GPUs from a `kwhy serve` on the server's machine, four times a second in a
 * thread of its own, so that no request waits for it. A missing response is a gap, which widens the
 * intervals.
 */
struct kwhy_llm_scraper;

/* Strings are borrowed during kwhy_llm_scraper_open(). */
struct kwhy_llm_meters {
	const char *url;     /* "http://HOST:PORT", with or without /metrics */
	const char *token;   /* sent as a bearer token; NULL: no token */
	const char *ca_path; /* PEM file of certificate authorities; NULL: libcurl's own */
	const char *devices; /* selection of devices as in kwhy_llm_track_begin() */
};

/*
 * Starts reading and waits for the first response. KWHY_E_IO: there is none. KWHY_E_INPUT: it reports no
 * energy of a GPU. KWHY_E_USAGE: the URL is invalid. KWHY_E_UNSUPPORTED: libcurl is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_open(
	const struct kwhy_llm_meters *meters, struct kwhy_llm_scraper **out, struct kwhy_error *error);
void kwhy_llm_scraper_close(struct kwhy_llm_scraper *scraper);

/*
 * Gets the energy of a window; waits up to ten seconds after its end for a reading that covers it. Windows
 * must be in order of time. KWHY_E_INPUT or KWHY_E_IO: the energy is unknown; the message says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_window(struct kwhy_llm_scraper *scraper, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_track_energy *out, struct kwhy_error *error);

#endif
