/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Embeds the bytes of the built front end between two symbols. KWHY_PAGE_FILE is the file that
 * web/build.mjs wrote. If it is not defined, nothing is embedded.
 */
__asm__(".pushsection .rodata\n"
	".global kwhy_page_template\n"
	"kwhy_page_template:\n"
#ifdef KWHY_PAGE_FILE
	".incbin \"" KWHY_PAGE_FILE "\"\n"
#endif
	".global kwhy_page_template_end\n"
	"kwhy_page_template_end:\n"
	".byte 0\n"
	".popsection\n");
