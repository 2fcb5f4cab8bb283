/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * req.h - the contract between the BPF programs and the user side about requests: bpf/req.bpf.c sees
 * the system calls on TCP sockets, bpf/reqcall.bpf.h the codec calls of a task, trace/requests.c reads
 * the rows. Times are ns of CLOCK_MONOTONIC, sizes bytes.
 *
 * An exchange on a connection begins with its first byte in and ends with the last byte out before the
 * next one begins: on a connection that was accepted, in is read and out is written; on one that this
 * process connected, it is the other way round.
 */
#ifndef HBPROF_REQ_H
#define HBPROF_REQ_H

#include <hbprof/abi.h>

/* Kind of a system call: the cookie of its tracepoint. */
enum hb_req_op {
	HB_REQ_OP_READ,
	HB_REQ_OP_WRITE,
	HB_REQ_OP_ACCEPT,
	HB_REQ_OP_CONNECT,
};
#define HB_REQ_OP_BUF	 0x10 /* flag: the second argument is the data itself */
#define HB_REQ_OP_SPLICE 0x20 /* flag: the third argument is a descriptor, that of data going out */
#define HB_REQ_OP_IOV	 0x40 /* flag: the second argument is an array of struct iovec */
#define HB_REQ_OP_MSG	 0x80 /* flag: it is a struct msghdr; the third argument are MSG_ flags */
#define HB_REQ_OP_RECV	 0x100 /* flag: the fourth argument are MSG_ flags: recv, sendto */
#define HB_REQ_OP_MMSG	 0x200 /* flag: the second argument is an array of struct mmsghdr */

enum hb_req_side {
	HB_REQ_SERVER,	/* exchanges on accepted connections; port: the local one */
	HB_REQ_CLIENT,	/* exchanges on connections that this process made; port: the peer's */
	HB_REQ_HANDLER, /* calls of a handler function; func says which */
	HB_REQ_SIDE_NR,
	HB_REQ_PAUSES = HB_REQ_SIDE_NR, /* no requests: pauses of the process, a row of its own */
};

enum hb_req_state {
	HB_REQ_OLD,	     /* open before recording began: the middle of an exchange, perhaps */
	HB_REQ_OLD_ANSWERED, /* the same; its next byte in begins an exchange that is seen whole */
	HB_REQ_IDLE,	     /* new, nothing came yet */
	HB_REQ_OPEN,	     /* begun, no byte out yet */
	HB_REQ_ENDING,	     /* the last byte out may have been the last one */
	HB_REQ_MULTIPLEXED,  /* HTTP/2: exchanges overlap, bytes in and out tell nothing */
};

#define HB_REQ_TLS	    0x01  /* the connection began with a TLS handshake */
#define HB_REQ_PEEKED	    0x02  /* the first bytes have been looked at */
#define HB_REQ_HANDSHAKE    0x04  /* the open exchange is part of the TLS handshake */
#define HB_REQ_PAUSED	    0x08  /* more than HB_REQ_PAUSE_NS between two of its bytes out */
#define HB_REQ_TLS_OWN	    0x10  /* the record that bytes in are at is TLS's own, no data */
#define HB_REQ_TLS_NEXT	    0x20  /* ... and so is the one behind it, whatever its type */
#define HB_REQ_TLS_LOST	    0x40  /* where records begin is not known any more: all is data */
#define HB_REQ_TLS_HELLO    0x100 /* the next bytes in are the client's first message */
#define HB_REQ_TLS_H2	    0x200 /* the client offers HTTP/2 */
#define HB_REQ_TLS_SURE	    0x400 /* it does not, nor early data: exchanges do not overlap */
#define HB_REQ_TLS_MAYBE    0x800 /* the exchange began with what is an alert, or two bytes of data */
#define HB_REQ_TLS_BYE	    0x1000 /* its answer was that so far */
#define HB_REQ_STOPPED	    0x80   /* the Go runtime stopped the world during the exchange */

#define HB_REQ_WINDOW_MET   0x01 /* the exchange overlaps a window of counting: see hb_rate_window */
#define HB_REQ_WINDOW_ENDED 0x02 /* its last byte out was while one was counted */

#define HB_REQ_PAUSE_NS	    1000000000ULL

/* A TCP connection of a traced process, by the kernel's struct sock. So descriptors may be duplicated,
 * passed on and used again. */
struct hb_req_conn {
	u64 ino;       /* of the socket; another one is another connection at the same address */
	u64 accept_ns; /* accepted or connected at; 0: before recording began, or data came */
	u64 reader;    /* the task whose reads it is served by; 0: none has read yet */
	u64 begin_ns;  /* of the exchange */
	u64 last_ns;   /* of its last byte out; valid while HB_REQ_ENDING */
	u64 first_ns;  /* from begin_ns to its first byte out */
	u64 waited_ns; /* from accept_ns to begin_ns; ~0: not its first exchange */
	u64 bytes_in;  /* of this exchange, as of the next three */
	u64 bytes_out;
	u64 read_ns; /* in system calls, within the exchange */
	u64 write_ns;
	u64 codec_ns;	   /* in codec calls, before last_ns */
	u64 late_ns;	   /* the same, since last_ns */
	u64 probe_ns;	   /* that probes have cost, before last_ns */
	u64 late_probe_ns; /* the same, since last_ns */
	u64 codec_end_ns;  /* when the last of its codec calls ended: --follow-go */
	u64 overlap_ns;	   /* of them, at most so much while another one ran */
	u32 calls;	   /* codec calls before last_ns */
	u32 late_calls;
	u32 seq;	  /* of the exchange on this connection */
	u32 state;	  /* enum hb_req_state */
	u32 row;	  /* index into req_rows; 0: not known yet */
	u16 lport, rport; /* host byte order */
	u16 proc;	  /* whose system call began the exchange: index, HB_REQ_CHILD */
	u16 flags;	  /* HB_REQ_TLS... */
	u16 tls_left;	  /* bytes in that the record is still to have */
	u8 side;	  /* enum hb_req_side */
	u8 pad;
	u32 window; /* HB_REQ_WINDOW_... */
	u32 pad2;
};

/* A system call that a thread is in. */
struct hb_req_call {
	u64 t0_ns;   /* when the program at its entry was done; 0: it is not yet */
	u64 prog_ns; /* how long that took */
	u64 buf;     /* the data; 0: not to be had */
	u64 file;    /* of its socket: struct file */
	u32 out;     /* splice(2): data goes out there */
	u32 opens;   /* TCP Fast Open: it connects, too */
};

/* What a task has last read from, of each side. */
struct hb_req_tie {
	u64 sk; /* key of req_conns; 0: nothing */
	u64 ino;
	u32 seq;
	u32 pad;
};

struct hb_req_task {
	u64 goid;
	struct hb_req_tie tie[2]; /* HB_REQ_SERVER, HB_REQ_CLIENT */
	/* --follow-go: the goroutine that has a handler's call open for which this one works, and when that call
	 * began; 0: none. */
	u64 root;
	u64 root_goid;
	u64 root_t0_ns;
};

/* Beside a process's index: it is not that process but a child of it that has not become one of those that are
 * measured, or not yet. */
#define HB_REQ_CHILD 0x8000

struct hb_req_key {
	u16 proc; /* index, HB_REQ_CHILD */
	u16 port; /* exchanges */
	u16 func; /* handlers */
	u8 side;  /* enum hb_req_side */
	u8 pad;
};

#define HB_REQ_ROWS	 129 /* row 0 takes what found no row of its own */
#define HB_REQ_CODEC_DIM 64  /* HB_MAX_GROUPS */

struct hb_req_row {
	struct hb_req_key key;
	u64 count; /* of requests: sums, extremes and histograms are over these */
	u64 sum_ns;
	u64 min_ns; /* ~0 while empty */
	u64 max_ns;
	u64 bytes_in;
	u64 bytes_out;
	u64 codec_ns;
	u64 codec_calls;
	u64 read_ns;
	u64 write_ns;
	u64 first_sum_ns; /* to the first byte out */
	u64 first_max_ns;
	u64 waited; /* requests that were the first of their connection, and how long they waited */
	u64 waited_sum_ns;
	u64 waited_max_ns;
	u64 queued; /* connections accepted whose time in the listener's queue is known */
	u64 queued_sum_ns;
	u64 queued_max_ns;
	u64 unanswered; /* begun, and closed without a byte out: not in count */
	u64 paused;	/* in count; see HB_REQ_PAUSED */
	u64 tls;	/* in count: on connections with TLS */
	u64 tls_doubt;	/* of these without HB_REQ_TLS_SURE */
	u64 stopped;	/* in count: the world was stopped meanwhile */
	u64 parallel; /* in count: with codec calls that ran at the same time, in several goroutines */
	u64 overlap_ns; /* of codec_ns, at most so much while another call ran */
	u64 followed;	/* handlers: codec calls in goroutines that they have started */
	u64 in_window;	/* not in count, as they overlap a window of counting */
	u64 group_ns[HB_REQ_CODEC_DIM]; /* of all codec calls tied to these requests, by group */
	u64 group_calls[HB_REQ_CODEC_DIM];
	u64 n[HB_HIST_BUCKETS];		  /* requests by latency */
	u64 in_codec_ns[HB_HIST_BUCKETS]; /* codec time in the requests of that bucket */
};

/* The pauses of a process: from the begin of runtime.stopTheWorldWithSema until startTheWorldWithSema lets
 * goroutines run. There is one at a time, as both run under worldsema (runtime/proc.go). */
struct hb_req_world {
	u64 begin_ns; /* of the pause that is on; 0: none */
	u64 end_ns;   /* of the last one */
	u64 no_begin; /* ends of pauses whose begin was not seen */
	u64 no_end;   /* begins of pauses whose end was not seen */
	u64 no_row;   /* pauses for which there was no row */
	u32 cls;      /* enum hb_class of the site of the begin */
	u32 pad;
};

/* Functions of the Go runtime that are counted in windows (trace/rates.c): the cookie of their probes. */
enum hb_rate {
	HB_RATE_GOPARK, /* a goroutine waits */
	HB_RATE_MCALL,	/* one leaves its thread, for whatever reason */
	HB_RATE_NR,
};

/* What was counted of a process in all windows. */
struct hb_req_rate {
	u64 n[HB_RATE_NR];
	u64 requests; /* that it has served, by their last byte out */
};

/* Context switches of a process so far: of all threads that it has had. */
struct hb_switches {
	u64 voluntary;
	u64 involuntary;
	u64 gone;    /* both, of threads that have ended */
	u32 threads; /* that have not */
	u32 pass;    /* of reading that saw it */
};

/* Counters beside the rows. Losses first. */
enum hb_req_counter {
	/* What could not be followed. */
	HB_REQ_CONNS_FULL,    /* system calls on a connection for which there was no room */
	HB_REQ_CALLS_FULL,    /* system calls for which there was no room */
	HB_REQ_TASKS_FULL,    /* reads whose task could not be remembered */
	HB_REQ_ROWS_FULL,     /* requests counted in row 0 */
	HB_REQ_UNREADABLE,    /* system calls whose socket the kernel's tables did not show */
	HB_REQ_CLOCK_BACK,    /* requests that end before they begin */
	HB_REQ_CHILDREN_FULL, /* forked processes for which there was no room */
	HB_REQ_START_UNREAD,  /* goroutines whose starter could not be told: --follow-go */
	HB_REQ_LOSS_NR,
	/* What was seen. */
	HB_REQ_ACCEPTED = HB_REQ_LOSS_NR,
	HB_REQ_CONNECTED,
	HB_REQ_FOUND,  /* connections that were open before */
	HB_REQ_CLOSED, /* of all three */
	HB_REQ_BEGUN,  /* exchanges = requests + unanswered + handshakes + clock back + open */
	HB_REQ_OLD_EXCHANGES, /* on connections found open, until their first clean boundary */
	HB_REQ_HANDSHAKES,    /* exchanges that were part of a TLS handshake */
	HB_REQ_UNANSWERED,
	HB_REQ_PUSHES,	  /* bytes out on a connection on which nothing had come in */
	HB_REQ_MUXED,	  /* HTTP/2 connections */
	HB_REQ_UPGRADED,  /* connections that have left HTTP/1 by its own word: WebSocket */
	HB_REQ_IN_WINDOW, /* exchanges that overlap a window of counting, in no row */
	HB_REQ_UNIX,	  /* system calls on other sockets, with data */
	HB_REQ_DATAGRAM,
	HB_REQ_OTHER,
	HB_REQ_TIED_CALLS, /* codec calls, outermost: tied + old + late + untied is all of them */
	HB_REQ_TIED_NS,
	HB_REQ_OLD_CALLS, /* tied to an exchange of a connection found open */
	HB_REQ_OLD_NS,
	HB_REQ_LATE_CALLS, /* tied to an exchange that was over */
	HB_REQ_LATE_NS,
	HB_REQ_UNTIED_CALLS, /* by a task that has read from no connection */
	HB_REQ_UNTIED_NS,
	HB_REQ_STARTED,	  /* goroutines, all of them, as far as --follow-go has seen */
	HB_REQ_INHERITED, /* of them, those with the request of what has started them */
	HB_REQ_CNT_NR,
};

_Static_assert(HB_MAX_PROCS <= HB_REQ_CHILD, "a process's index leaves the flag alone");
_Static_assert(sizeof(struct hb_req_key) == 8, "hash keys must have no padding");

#endif
