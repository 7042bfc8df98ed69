/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/kernels.h"

__asm__(".pushsection .rodata\n"
	".global kwhy_gpu_kernels_burn\n"
	"kwhy_gpu_kernels_burn:\n"
	".incbin \"" KWHY_KERNELS_FOLDER "/burn.cu\"\n"
	".byte 0\n"
	".popsection\n");
