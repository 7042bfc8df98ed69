/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_C_LOCALE_H
#define KWHY_BASE_C_LOCALE_H

#include <locale.h>

/*
 * A program may call setlocale(), after which printf() writes "12,5" and strtod() reads no "12.5". The files
 * and texts that kwhy reads and writes have a point in every locale. KWHY_C_LOCALE, at the start of a block,
 * gives the calling thread the locale "C" until control leaves the block, and then the locale that it had
 * before. Public functions of kwhy's libraries, and start functions of the libraries' threads, need it if
 * they read or write numbers with decimals. The rest of the program is not affected.
 */
#define KWHY_C_LOCALE                     \
	const locale_t kwhy_locale_before \
		__attribute__((cleanup(kwhy_c_locale_leave), unused)) = kwhy_c_locale_enter()

locale_t kwhy_c_locale_enter(void);
void kwhy_c_locale_leave(const locale_t *before);

#endif
