/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is linked statically and has no symbols: nothing can be loaded into it. */
#include <stdio.h>

int main(void)
{
	puts("static");
	return 9;
}
