/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * spawn.h - a command, started and held (ptrace) where its libraries are mapped and nothing of the program
 * itself has run yet: at the entry point of the executable. Constructors of the libraries that it is
 * linked with have run by then.
 *
 * If hbprof ends while the command is held, the command is killed: it has not begun.
 */
#ifndef HBPROF_SPAWN_H
#define HBPROF_SPAWN_H

#include <hbprof/types.h>
#include <sys/types.h>

struct spawned {
	pid_t pid; /* 0: none */
	bool held;
};

/* A user to run it as; NULL: as hbprof itself. */
struct spawn_user {
	uid_t uid;
	gid_t gid;
	const char *name; /* for its groups */
};

/*
 * argv[0] is looked up in PATH. 0, or -errno: of the exec (-ENOENT: no such command, -EACCES, -ENOEXEC, ...)
 * with *from_exec set, or of what hbprof did. -ECHILD: it has ended before its entry point.
 */
int spawn__held(char *const *argv, const struct spawn_user *user, struct spawned *out,
		bool *from_exec);
/* Lets it go: it runs on, untraced. 0 or -errno. */
int spawn__release(struct spawned *s);
/* Waits for its end. Its exit status, or 128 and the number of the signal that ended it. */
int spawn__wait(struct spawned *s);
/* Kills a command that is still held. */
void spawn__kill(struct spawned *s);

#endif
