/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_GERMAN_LOCALE_H
#define KWHY_TESTS_GERMAN_LOCALE_H

#include "cmocka_all.h"

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/*
 * The German locale, in which numbers have a decimal comma (12,5), compiled into `folder` from the system's
 * sources, as few machines have it installed.
 */
struct german_locale {
	char folder[32];
};

static inline void german_locale_end(const struct german_locale *german)
{
	char command[64];

	setlocale(LC_ALL, "C");
	unsetenv("LOCPATH");
	snprintf(command, sizeof(command), "rm -rf %s", german->folder);
	assert_int_equal(system(command), 0);
}

/*
 * Compiles the German locale and sets it for the whole program. Skips the running case if it cannot be
 * compiled.
 */
static inline void german_locale_begin(struct german_locale *german)
{
	char command[160];
	bool is_set;

	*german = (struct german_locale){"/tmp/kwhy-locale-XXXXXX"};
	assert_non_null(mkdtemp(german->folder));
	snprintf(command, sizeof(command),
		"localedef --no-archive -i de_DE -f UTF-8 %s/de_DE.UTF-8 >%s/log 2>&1", german->folder,
		german->folder);
	setenv("LOCPATH", german->folder, 1);
	is_set = system(command) == 0 && setlocale(LC_ALL, "de_DE.UTF-8");
	if (is_set) {
		assert_string_equal(localeconv()->decimal_point, ",");
		return;
	}
	german_locale_end(german);
	kwhy_skip("no German locale; scripts/setup check installs its source");
}

#endif
