/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_UNIT_REPORT_NOUNS_H
#define KWHY_TESTS_UNIT_REPORT_NOUNS_H

#include "report/report.h"

/*
 * Hand-made inputs of the renderers: a device that idles at 100 W, with a kernel, two copies and the calls
 * that issued them. Energies are unknown until nouns_energy() sets them.
 */
struct nouns {
	struct kwhy_recording *recording;
	struct kwhy_ledger ledger;
	struct kwhy_device_ledger device;
	struct kwhy_account accounts[4];
	uint32_t account_of[3];
	struct kwhy_findings findings;
	struct kwhy_finding finding;
	struct kwhy_evidence evidence;
	struct kwhy_report report;
};

/*
 * Makes the inputs. `name` becomes the name of everything that a trace names: device, kernel, call, note.
 * Free with nouns_done().
 */
void nouns_init(struct nouns *nouns, const char *name);
void nouns_energy(struct nouns *nouns);
void nouns_done(struct nouns *nouns);

/* Returns the report as text of this many columns; verbose: with all details. The caller frees it. */
struct kwhy_text nouns_text(const struct nouns *nouns, size_t columns, bool verbose);

#endif
