/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPER_H
#define KWHY_LLM_SCRAPER_H

#include "llm/track.h"

/*
 * Reads the energy of a server's GPUs from a `kwhy serve` beside it, four times a second on a thread of its
 * own, so that no request waits for it. An answer that does not come is a gap, and widens the intervals.
 */
struct kwhy_llm_scraper;

/* Strings are borrowed while it opens. */
struct kwhy_llm_meters {
	const char *url;     /* "http://HOST:PORT", with or without /metrics */
	const char *token;   /* sent as a bearer token; NULL: none */
	const char *ca_path; /* PEM of who signed the certificate; NULL: those that libcurl knows */
	const char *devices; /* see kwhy_llm_track_begin() */
};

/*
 * The first answer is awaited: KWHY_E_IO where none comes, KWHY_E_INPUT where it reports no energy of a GPU,
 * KWHY_E_USAGE for what is no address, KWHY_E_UNSUPPORTED without libcurl.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_open(
	const struct kwhy_llm_meters *meters, struct kwhy_llm_scraper **out, struct kwhy_error *error);
void kwhy_llm_scraper_close(struct kwhy_llm_scraper *scraper);

/*
 * Waits until the window's end is seen, for at most ten seconds after it. Windows in order of time.
 * KWHY_E_INPUT or KWHY_E_IO: the window is not known; the words are why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_window(struct kwhy_llm_scraper *scraper, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_track_energy *out, struct kwhy_error *error);

#endif
