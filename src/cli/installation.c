/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/installation.h"

#include "analyse/profile_find.h"
#include "launch/inject.h"

#include <limits.h>
#include <string.h>

static struct kwhy_doctor_check profiles(struct kwhy_arena *arena)
{
	char folder[PATH_MAX];
	size_t count = kwhy_profile_folder(folder, sizeof(folder));

	return (struct kwhy_doctor_check){
		.id = "profiles",
		.title = "machine profiles",
		.verdict = count ? KWHY_DOCTOR_GOOD : KWHY_DOCTOR_ADVICE,
		.fact = count ? kwhy_arena_printf(arena, "%zu in %s", count, folder)
			      : kwhy_arena_printf(arena, "none, not in %s either", folder),
		.effect = "Reports know no machine: costs are generic, savings are bounds, and powers are "
			  "first guesses.",
		.source = "docs/formats/profile.md",
		.cure = count ? NULL
			      : "copy the whole folder of kwhy, share/kwhy with it, or name a folder of "
				"profiles by KWHY_PROFILES",
	};
}

static struct kwhy_doctor_check injected_library(struct kwhy_arena *arena)
{
	struct kwhy_inject inject;
	const char *cure;

	kwhy_inject_find(&inject);
	/* `absence` is "what is wrong; what to do", and has no "; " if nothing is wrong */
	cure = strstr(inject.absence, "; ");
	return (struct kwhy_doctor_check){
		.id = "injected_library",
		.title = "injected library",
		.verdict = cure ? KWHY_DOCTOR_ADVICE : KWHY_DOCTOR_GOOD,
		.fact = cure ? kwhy_arena_printf(arena, "%.*s", (int)(cure - inject.absence), inject.absence)
			     : kwhy_arena_printf(arena, "%s, of this version", inject.library),
		.effect = "kwhy record and kwhy probe record no activity.",
		.source = "docs/record.md",
		.cure = cure ? kwhy_arena_copy(arena, cure + strlen("; ")) : NULL,
	};
}

enum kwhy_status kwhy_installation_check(struct kwhy_doctor_report *report, struct kwhy_error *error)
{
	struct kwhy_doctor_check (*const checks[KWHY_INSTALLATION_CHECKS])(struct kwhy_arena *) = {
		profiles, injected_library};

	for (size_t i = 0; i < KWHY_INSTALLATION_CHECKS; i++) {
		struct kwhy_doctor_check *check = &report->checks[report->check_count++];

		*check = checks[i](&report->arena);
		check->gpu = -1;
		check->installation = true;
		if (!check->fact || (check->verdict == KWHY_DOCTOR_ADVICE && !check->cure))
			return kwhy_fail_memory(error, "the findings");
	}
	return KWHY_OK;
}
