/* SPDX-License-Identifier: Apache-2.0 */
#include "base/c_locale.h"

locale_t kwhy_c_locale_enter(void)
{
	/*
	 * For "C", glibc's newlocale() returns a static object: it takes no memory, cannot fail, and needs no
	 * freelocale().
	 */
	return uselocale(newlocale(LC_ALL_MASK, "C", (locale_t)0));
}

void kwhy_c_locale_leave(const locale_t *before)
{
	uselocale(*before);
}
