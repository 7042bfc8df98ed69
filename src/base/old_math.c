/* SPDX-License-Identifier: Apache-2.0 */
/*
 * In portable builds (KWHY_PORTABLE) the linker redirects calls of these functions to the versions below,
 * also calls from static libraries (ld --wrap): glibc 2.29 added versions of them that differ only in how
 * they set errno; with the old versions the program also runs on glibc 2.28.
 */
#if defined(__x86_64__)
#define OLDEST "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define OLDEST "GLIBC_2.17"
#else
#error "name the first glibc of this architecture"
#endif

#define BIND(name) __asm__(".symver kwhy_old_" #name "," #name "@" OLDEST)
#define OF_ONE(name)                       \
	double kwhy_old_##name(double x);  \
	double __wrap_##name(double x);    \
	BIND(name);                        \
	double __wrap_##name(double x)     \
	{                                  \
		return kwhy_old_##name(x); \
	}
#define OF_TWO(name)                                \
	double kwhy_old_##name(double x, double y); \
	double __wrap_##name(double x, double y);   \
	BIND(name);                                 \
	double __wrap_##name(double x, double y)    \
	{                                           \
		return kwhy_old_##name(x, y);       \
	}

OF_ONE(exp)
OF_ONE(exp2)
OF_ONE(log)
OF_ONE(log2)
OF_TWO(pow)
OF_TWO(hypot)
