/* SPDX-License-Identifier: Apache-2.0 */
#include "base/c_locale.h"

locale_t kwhy_c_locale_enter(void)
{
	/*
	 * glibc's object for "C" is static: it takes no memory, needs no freelocale(), and newlocale() cannot
	 * fail.
	 */
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void kwhy_c_locale_leave(const locale_t *before)
{
	uselocale(*before);
}
