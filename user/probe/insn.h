/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * insn.h - what the site finder needs to know of an instruction, the same for every architecture.
 * One table (struct insn_ops) and one file per architecture: insn_x86.c, insn_arm64.c. A build for
 * another machine than x86-64 has no decoder for x86-64: that is a library.
 *
 * Register numbers are the architecture's own: x86 AX 0, CX 1, DX 2, BX 3, SP 4, BP 5, SI 6, DI 7,
 * R8..R15; arm64 X0..X30.
 */
#ifndef HBPROF_INSN_H
#define HBPROF_INSN_H

#include <hbprof/abi.h>

#define INSN_NO_REG  0xff
#define INSN_NO_COND 0xff

enum insn_kind {
	INSN_OTHER,
	INSN_NOP,
	INSN_PUSH,
	INSN_CALL_REL,
	INSN_CALL_IND,
	INSN_JMP_REL,
	INSN_JMP_IND,
	INSN_JCC, /* every conditional branch, x86 loop and jrcxz too */
	INSN_RET,
	INSN_TRAP, /* int3, ud2, hlt: execution does not continue */
};

enum insn_move { INSN_MOVE_NONE, INSN_MOVE_REG, INSN_MOVE_STORE, INSN_MOVE_LOAD };

/* Steps of a switch statement's jump through a table, and what looks like one. */
enum insn_table {
	INSN_TABLE_NONE,
	INSN_TABLE_REL,	 /* move_dst = a sign-extended 32-bit element of an array */
	INSN_TABLE_PTR,	 /* move_dst = a 64-bit element of an array; JMP_IND: jumps to one */
	INSN_TABLE_ADD,	 /* move_dst += move_src */
	INSN_TABLE_SURE, /* JMP_IND: the compiler marked it as a jump through a table */
};

struct insn {
	u8 len;	       /* bytes */
	u8 kind;       /* enum insn_kind */
	u8 cls;	       /* enum hb_class: how the kernel executes it under a probe */
	bool refused;  /* no probe is possible or safe here: attach is refused, the kernel is known
			      to execute it wrongly, or differs from version to version */
	bool slow;     /* takes as long as it likes: copies of any length, waits, saved states */
	bool loads_g;  /* sets the register that Go keeps the goroutine in, from the thread's own
			      memory: until then it may hold anything */
	bool sp_known; /* sp_delta holds; false: SP becomes something not known */
	s32 sp_delta;  /* added to SP by executing it */
	u32 writes;    /* bit per general register 0..31 that it may change, SP left out */
	bool stores;   /* may write memory through anything but [SP + const] */
	u8 sp_store_len;       /* bytes written at [SP + sp_store_off], of any kind; 0: none */
	s32 sp_store_off;      /* from SP before the instruction */
	u8 move;	       /* enum insn_move: a plain 64-bit copy, for following a value */
	u8 move_dst, move_src; /* registers; STORE: src goes to [SP + move_off]; LOAD: from there;
				  JMP_IND: move_src is the register jumped through or NO_REG */
	s32 move_off;	       /* from SP before the instruction: a push stores at -8 */
	bool saves_ra;	       /* stores the register that has the return address ... */
	s32 ra_off;	       /* ... at [SP + ra_off], from SP before the instruction */
	u8 table;	       /* enum insn_table */
	u8 cond;    /* JCC: the architecture's condition code; x86: low nibble of the opcode, or
			      INSN_NO_COND where flags do not decide */
	u64 target; /* direct branch or call: vaddr */
	u64 slot;   /* indirect jump or call through a word at a fixed vaddr: that; else 0 */
};

struct insn_ops {
	u16 e_machine;
	const char *name;
	u8 min_len; /* alignment and smallest length: x86 1, arm64 4 */
	u8 sp_reg;  /* number of SP among the registers, or INSN_NO_REG */
	u8 ra_reg;  /* that has the return address at a function's entry, or INSN_NO_REG: it is in
		       memory at SP */
	bool ret_cheap; /* returns are emulated: probing them costs what a return site does */
	u8 arg_reg;	/* that has the first argument of a native function */
	u32 read_regs;	/* bit per register that the handlers read (bpf/arch.bpf.h, arch_regs()) */
	u8 breakpoint[4], breakpoint_len; /* what a probe puts in the place of its instruction */
	s32 ret_sp; /* SP right after the return - SP at the callee's entry: x86 8, arm64 0 */
	/* Decodes the instruction at vaddr. 0, or -EILSEQ: not an instruction, or cut by max. */
	int (*decode)(const u8 *code, size_t max, u64 vaddr, struct insn *out);
	/*
	 * Finds direct calls: calls cb for every position in code[0..len) (at vaddr) that could be a
	 * direct call of one of the sorted targets. On x86 a hit may lie inside another instruction:
	 * the caller must check the boundary. A cb return other than 0 stops and is returned.
	 */
	int (*scan)(const u8 *code, size_t len, u64 vaddr, const u64 *target, size_t nr_targets,
		    int (*cb)(void *arg, u64 at, u64 target), void *arg);
	/*
	 * Finds code that goes through one of the sorted slots, words with the address of a function
	 * of another image: cb with call = true for every position that could be an indirect call
	 * through it (as with scan(), perhaps inside another instruction), false for every address at
	 * which a jump through it (a stub of a procedure linkage table) may be entered. NULL: not
	 * known how.
	 */
	int (*scan_slots)(const u8 *code, size_t len, u64 vaddr, const u64 *slot, size_t nr_slots,
			  int (*cb)(void *arg, u64 at, u64 slot, bool call), void *arg);
	/*
	 * True if the code is a stub that does nothing but jump through a slot, as a procedure linkage
	 * table has them. `len` may be more than the stub's.
	 */
	bool (*stub)(const u8 *code, size_t len, u64 vaddr, u64 *slot);
	/* Go's entry rule; see site__entry(). 0 and *at (vaddr), *taken, or -ENOENT. */
	int (*go_entry)(const u8 *code, size_t len, u64 vaddr, u64 *at, bool *taken);
};

/*
 * NULL: no support for that machine. The first form is right on every kernel: what kernels treat
 * differently is refused. The second knows the kernel that will run the probes, as major << 8 |
 * minor, and may use more (x86, 6.18: multi-byte nops).
 */
const struct insn_ops *insn_ops__find(u16 e_machine);
const struct insn_ops *insn_ops__find_on(u16 e_machine, u32 kernel);

#endif
