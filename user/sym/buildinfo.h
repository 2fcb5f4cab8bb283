/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * buildinfo.h - Go's build info: the toolchain's version, the modules with their versions, the build
 * settings. Format: debug/buildinfo of the Go distribution.
 */
#ifndef HBPROF_BUILDINFO_H
#define HBPROF_BUILDINFO_H

#include "target/image.h"

struct go_module {
	char *path;    /* as imported: what the names of its functions begin with */
	char *version; /* of the replacement where one is used; "" where that is a folder */
};

struct go_setting {
	char *key, *value; /* GOARCH, GOEXPERIMENT, -tags, ... */
};

struct buildinfo {
	char *go_version; /* "go1.26.8", "go1.26.8-X:jsonv2" */
	u32 go_minor;	  /* 26; 0: not a release version */
	char *main_path;
	struct go_module *module; /* the main module first, if it is known */
	u32 nr_modules;
	struct go_setting *setting;
	u32 nr_settings;
};

/* 0; -ENOENT: no build info; -EBADMSG: a damaged one. */
int buildinfo__open(const struct image *im, struct buildinfo **out);
void buildinfo__close(struct buildinfo *b);
/* Version of the module that contains the package (as spelled in symbols: "gopkg.in/yaml%2ev3"),
 * NULL: not known; the standard library's version is the toolchain's. */
const char *buildinfo__version(const struct buildinfo *b, const char *package);

#endif
