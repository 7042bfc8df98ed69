/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LLM_SCRAPER_H
#define KWHY_LLM_SCRAPER_H

#include "llm/track.h"

/*
 * Reads the energy of a server's GPUs from the `kwhy serve` on the server's machine, four times a second and
 * in a thread of its own, so that requests to the server do not wait for it. If a response is missing, the
 * bounds of the energies (struct kwhy_llm_track_energy) are wider.
 */
struct kwhy_llm_scraper;

/* Where the energy is read from. Strings need to be valid only during kwhy_llm_scraper_open(). */
struct kwhy_llm_meters {
	const char *url;     /* such as "http://HOST:PORT", with or without /metrics */
	const char *token;   /* sent as a bearer token; NULL: no token */
	const char *ca_path; /* PEM file with certificate authorities; NULL: those of libcurl */
	const char *devices; /* selects devices, as in kwhy_llm_track_begin() */
};

/*
 * Starts reading, and waits for the first response with energies. KWHY_E_IO: no response with HTTP status
 * 200. KWHY_E_INPUT: the response is not that of kwhy serve, or it had no energy of a GPU for five seconds.
 * KWHY_E_USAGE: the URL or the selection of devices is invalid. KWHY_E_UNSUPPORTED: libcurl is missing.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_open(
	const struct kwhy_llm_meters *meters, struct kwhy_llm_scraper **out, struct kwhy_error *error);
void kwhy_llm_scraper_close(struct kwhy_llm_scraper *scraper);

/*
 * Gets the energy of a window. Waits until a scrape is certainly from after the window's end, at most until
 * ten seconds after it. Windows must be requested in the order of their times. KWHY_E_INPUT or KWHY_E_IO: the
 * energy is unknown; the message says why.
 */
KWHY_MUST_USE enum kwhy_status kwhy_llm_scraper_window(struct kwhy_llm_scraper *scraper, int64_t start_ns,
	int64_t end_ns, struct kwhy_llm_track_energy *out, struct kwhy_error *error);

#endif
