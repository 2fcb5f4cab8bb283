/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mapped.h - what a target maps while it is recorded. Files come and go with dlopen and dlclose: an
 * address outside of a function's image is known for the file that was mapped there, and not for the
 * next one; and a file that comes later may hold functions that the plan had looked for.
 */
#ifndef HBPROF_MAPPED_H
#define HBPROF_MAPPED_H

#include <hbprof/abi.h>
#include "target/proc.h"

struct session;

/* A return address outside of its function's image, and what was mapped there when it became known. */
struct mapped_ra {
	struct hb_ra_key key;
	bool mapped;
	u64 dev, ino, off; /* off: in the file; 0 without one */
	bool ask_again;	   /* refused for another tracer's sake: the next function may ask */
};

struct mapped {
	struct mapped_ra *ra;
	size_t nr_ras, cap_ras;
	u64 code_hash; /* of the mappings of code */
	struct proc_stamp stamp;
	u32 flushes;   /* of the kernel's cache of addresses, still to be done */
	bool look;     /* the dynamic linker has said something since it was looked last */
	bool adds;     /* it loads libraries, and what these are was not looked at since */
	u64 state;     /* what it has said last */
	u32 nr_unseen; /* libraries that were there between two looks only */
};

/* Takes the mappings that the plan was made from for those at the start. 0 or -ENOMEM. */
int mapped__init(struct session *s, u32 proc);
void mapped__fini(struct mapped *m);
/* An address of the process has a state in the kernel's map from now on. 0 or -ENOMEM. */
int mapped__add_ra(struct session *s, const struct hb_ra_key *key);
/* It may be asked for again, by another function, after the next interval. */
void mapped__ask_again(struct session *s, const struct hb_ra_key *key);
/* Reads the mappings again; if code has changed, forgets addresses and looks at what is new. 0 or -errno. */
int mapped__reload(struct session *s, u32 proc);
/* The same every interval, and only if there is a sign of a change. */
int mapped__check(struct session *s, u32 proc);
/* The dynamic linker has said that it maps other libraries: to be looked at by mapped__look(). state: link.h's
 * r_state, or another number where it is not known. */
void mapped__told(struct session *s, u32 proc, u64 state);
/* What has been told since. 0 or -ENOMEM. */
int mapped__look(struct session *s);
/* At the end: a warning about libraries that were not seen. */
void mapped__tell(struct session *s);
/* Empties the handlers' own memory of addresses that are attached. 0 or -errno. */
int mapped__flush(struct session *s);

#endif
