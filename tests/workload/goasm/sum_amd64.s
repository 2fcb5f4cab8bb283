// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "textflag.h"

// func Sum(p *byte, n int) int
TEXT ·Sum(SB), NOSPLIT, $0-24
	MOVQ p+0(FP), SI
	MOVQ n+8(FP), R14
	XORQ AX, AX
loop:
	TESTQ R14, R14
	JEQ done
	MOVBLZX (SI), BX
	ADDQ BX, AX
	INCQ SI
	DECQ R14
	JMP loop
done:
	MOVQ AX, ret+16(FP)
	RET
