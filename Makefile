# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make               the tool, in $(O)/hbprof
# make check         everything that CI runs (installs what the tests need)
# make help          the other targets and the variables
#
# Nothing is generated in the source tree: all output is under O=. The tests' rules are in
# tests/tests.mk.

HOST_ARCH := $(shell uname -m | sed -e 's/aarch64/arm64/' -e 's/x86_64/x86/')
O      ?= build
ARCH   ?= $(HOST_ARCH)
prefix ?= /usr/local
bindir ?= $(prefix)/bin
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
# Where these shells look by themselves, at least for prefix=/usr/local and /usr.
bashcompdir ?= $(datadir)/bash-completion/completions
zshcompdir  ?= $(datadir)/zsh/site-functions

ifneq ($(filter-out x86 arm64,$(ARCH)),)
$(error ARCH=$(ARCH) is not supported: x86 or arm64)
endif
ifneq ($(ARCH),$(HOST_ARCH))
CROSS_ABI := $(if $(filter arm64,$(ARCH)),aarch64,x86_64)-linux-gnu
CROSS_COMPILE ?= $(CROSS_ABI)-
CROSS_DEB := :$(if $(filter arm64,$(ARCH)),arm64,amd64)
PKG_CONFIG ?= env PKG_CONFIG_LIBDIR=/usr/lib/$(CROSS_ABI)/pkgconfig:/usr/share/pkgconfig pkg-config
# Libraries of the other machine that are not installed here: tests/vm/sysroot.sh.
ifneq ($(SYSROOT),)
SYS_INC := -isystem $(SYSROOT)/usr/include -isystem $(SYSROOT)/usr/include/$(CROSS_ABI)
SYS_LIB := $(foreach d,usr/lib lib,-L$(SYSROOT)/$(d)/$(CROSS_ABI) -Wl,-rpath-link,$(SYSROOT)/$(d)/$(CROSS_ABI))
PKG_CONFIG = env PKG_CONFIG_LIBDIR=$(SYSROOT)/usr/lib/$(CROSS_ABI)/pkgconfig pkg-config
endif
endif
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
CLANG   ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
SCDOC   ?= scdoc
INSTALL ?= install

ifeq ($(V),1)
Q   :=
msg  = @:
else
Q   := @
msg  = @printf '  %-7s %s\n' $(1) $(patsubst $(CURDIR)/%,%,$(2))
MAKEFLAGS += --no-print-directory
endif

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 \
	-Wno-unused-parameter
ifeq ($(WERROR),1)
WARN += -Werror
endif
CFLAGS ?= -O2 -g
INCLUDES    = -Iinclude -Iuser -I. -I$(O)/gen
# x86-64 code is decoded by Zydis; A64 needs no library. So every build reads files of arm64, and a
# build for arm64 none of x86-64.
HAVE_ZYDIS := $(if $(filter x86,$(ARCH)),1,0)
ALL_CFLAGS  = -std=gnu11 $(WARN) $(SYS_INC) $(CPPFLAGS) $(CFLAGS) -D_GNU_SOURCE -DHB_HAVE_ZYDIS=$(HAVE_ZYDIS)
ALL_LDFLAGS = $(SYS_LIB) $(LDFLAGS)
ifneq ($(SAN),)
ALL_CFLAGS  += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
ALL_LDFLAGS += -fsanitize=$(SAN)
endif
ifeq ($(COV),1)
ALL_CFLAGS  += --coverage
ALL_LDFLAGS += --coverage
endif
# Zydis has no pkg-config file in Debian.
LIBS := $(shell $(PKG_CONFIG) --libs libbpf libelf zlib libcjson 2>/dev/null) \
	$(if $(filter 1,$(HAVE_ZYDIS)),-lZydis) -liberty \
	-lpthread -lm

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all man install uninstall deb clean help build-needs FORCE
all: $(O)/hbprof
	@:

# ---- what must be there before anything is compiled -------------------------------------------

# Of each: how to see it, and the Debian package that brings it. Said once, all together. Compilers
# are the building machine's, libraries (CROSS_DEB) the other's.
define NEEDS_SCRIPT
miss=; \
need() { miss="$$miss $$1"; }; \
has() { printf '#include <%s>\n' "$$1" | $(CC) $(SYS_INC) -E -x c -o /dev/null - 2>/dev/null; }; \
command -v $(firstword $(CC)) >/dev/null || need gcc$(CROSS_ABI:%=-%); \
command -v $(firstword $(CLANG)) >/dev/null || need clang; \
command -v $(firstword $(BPFTOOL)) >/dev/null || need bpftool; \
command -v pkg-config >/dev/null || need pkg-config; \
$(PKG_CONFIG) --exists 'libbpf >= 1.1' 2>/dev/null || need libbpf-dev$(CROSS_DEB); \
$(PKG_CONFIG) --exists libelf 2>/dev/null || need libelf-dev$(CROSS_DEB); \
$(PKG_CONFIG) --exists zlib 2>/dev/null || need zlib1g-dev$(CROSS_DEB); \
$(PKG_CONFIG) --exists libcjson 2>/dev/null || need libcjson-dev$(CROSS_DEB); \
test $(HAVE_ZYDIS) = 0 || has Zydis/Zydis.h || need libzydis-dev$(CROSS_DEB); \
has libiberty/demangle.h || need libiberty-dev$(CROSS_DEB); \
test -z "$$miss" || { \
	echo "hbprof cannot be built: Debian packages are missing:$$miss" >&2; \
	echo "Install them with:  apt-get install$$miss   (or: sudo tests/setup.sh)" >&2; \
	test -z '$(CROSS_DEB)' || echo "Libraries of the other machine can come from a folder: SYSROOT=\$$(tests/vm/sysroot.sh $(ARCH))" >&2; \
	exit 1; \
}
endef

# Once for a whole make run; the recursive ones (the sanitized build) need not look again.
build-needs:
ifeq ($(HB_NEEDS_SEEN),)
	@$(NEEDS_SCRIPT)
endif

# ---- the tool -------------------------------------------------------------------------------

LAYERS    := util model target sym probe capture report trace cmd
USER_SRC  := $(filter-out $(if $(filter 0,$(HAVE_ZYDIS)),user/probe/insn_x86.c user/probe/x86_search.c), \
	$(foreach l,$(LAYERS),$(sort $(wildcard user/$(l)/*.c))))
FLAME_SRC := $(sort $(wildcard flamegraph/*.c))
# Everything but the part that needs libbpf and the skeleton: what unit tests link against.
PURE_SRC  := $(filter-out user/trace/% user/cmd/%,$(USER_SRC)) $(FLAME_SRC)
PURE_OBJ  := $(PURE_SRC:%.c=$(O)/%.o)
# The functions that the probes are calibrated on are machine code, one file an architecture.
TRACE_ASM := $(sort $(wildcard user/trace/*_$(ARCH).S))
TRACE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter user/trace/% user/cmd/%,$(USER_SRC)) user/main.c) \
	$(TRACE_ASM:%.S=$(O)/%.o)
# feat.bpf.c is an object and a skeleton of its own: it must load where the others do not.
BPF_SRC   := $(filter-out bpf/feat.bpf.c,$(sort $(wildcard bpf/*.bpf.c)))
SKEL      := $(O)/gen/hbprof.skel.h $(patsubst bpf/%.bpf.c,$(O)/gen/%.skel.h,$(wildcard bpf/feat.bpf.c))

$(O)/hbprof: $(PURE_OBJ) $(TRACE_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

# Without this, objects of one set of flags would be linked with those of another.
$(O)/flags: FORCE
	$(Q)mkdir -p $(@D)
	$(Q)echo '$(CC) $(ALL_CFLAGS)' | cmp -s - $@ || echo '$(CC) $(ALL_CFLAGS)' > $@

$(O)/%.o: %.c Makefile $(O)/flags | build-needs
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

$(O)/%.o: %.S Makefile $(O)/flags | build-needs
	$(call msg,AS,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(INCLUDES) -MMD -MP -c -o $@ $<

$(filter $(O)/user/trace/%,$(TRACE_OBJ)): | $(SKEL)
$(O)/user/main.o: | $(O)/gen/built_with.h
# Copied into the object by the assembler, which tells no dependencies.
$(O)/flamegraph/assets.o: flamegraph/view.css flamegraph/view.js
$(O)/user/sym/registry_text.o: user/sym/codecs.json user/sym/groups.json

pkg_version = $(shell $(PKG_CONFIG) --modversion $(1) 2>/dev/null)

# For `hbprof --version`. main() may not include the libraries' headers: they belong to layers.
$(O)/gen/built_with.h: Makefile FORCE | build-needs
	$(Q)mkdir -p $(@D)
	$(Q)zydis=$$(test $(HAVE_ZYDIS) = 0 || printf '#include <Zydis/Zydis.h>\nhbprof_version ZYDIS_VERSION\n' | \
		$(CC) -E -P -x c - | sed -n 's/^hbprof_version.*\(0x[0-9A-Fa-f]*\).*/\1/p'); \
	{ \
		echo '/* Generated by the Makefile: what this build was made with. */'; \
		echo '#define BUILT_FOR_ARCH "$(patsubst x86,x86-64,$(ARCH))"'; \
		echo '#define BUILT_WITH_LIBBPF "$(call pkg_version,libbpf)"'; \
		echo '#define BUILT_WITH_LIBELF "$(call pkg_version,libelf)"'; \
		echo '#define BUILT_WITH_ZLIB "$(call pkg_version,zlib)"'; \
		echo '#define BUILT_WITH_CJSON "$(call pkg_version,libcjson)"'; \
		test -z "$$zydis" && echo '#define BUILT_WITH_ZYDIS "(none: no x86-64 code)"' || \
			printf '#define BUILT_WITH_ZYDIS "%d.%d.%d"\n' $$((zydis >> 48)) \
				$$((zydis >> 32 & 65535)) $$((zydis >> 16 & 65535)); \
	} > $@.new; \
	if cmp -s $@.new $@; then rm $@.new; else mv $@.new $@; fi

# ---- BPF ------------------------------------------------------------------------------------

BPF_CFLAGS = -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude -Ivmlinux -Wall -Wextra \
	-Wno-unused-parameter -Wno-address-of-packed-member $(if $(filter 1,$(WERROR)),-Werror)

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile | build-needs
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/bpf/linked.o: $(BPF_SRC:%.c=$(O)/%.o)
	$(call msg,BPFLD,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(O)/gen/hbprof.skel.h: $(O)/bpf/linked.o
	$(call msg,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name hbprof_bpf > $@

$(O)/gen/%.skel.h: $(O)/bpf/%.bpf.o
	$(call msg,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name $*_bpf > $@

# ---- manual pages, installation -------------------------------------------------------------

MAN := $(patsubst docs/man/%.scd,$(O)/man/%,$(sort $(wildcard docs/man/*.scd)))

man: $(MAN)
	@:
# With the tool, where they can be: so that `sudo make install` builds nothing as root.
all: $(if $(shell command -v $(SCDOC) 2>/dev/null),$(MAN))

$(O)/man/%: docs/man/%.scd
	$(call msg,MAN,$@)
	@command -v $(SCDOC) >/dev/null || { \
		echo "The manual pages need scdoc:  apt-get install scdoc" >&2; exit 1; }
	$(Q)mkdir -p $(@D)
	$(Q)$(SCDOC) < $< > $@

man_path = $(DESTDIR)$(mandir)/man$(subst .,,$(suffix $(1)))/$(notdir $(1))
BASH_COMP = $(DESTDIR)$(bashcompdir)/hbprof
ZSH_COMP  = $(DESTDIR)$(zshcompdir)/_hbprof

install: $(O)/hbprof $(MAN)
	$(call msg,INSTALL,$(DESTDIR)$(bindir)/hbprof)
	$(Q)$(INSTALL) -D -m 755 $(O)/hbprof $(DESTDIR)$(bindir)/hbprof
	$(Q)$(foreach m,$(MAN),$(INSTALL) -D -m 644 $(m) $(call man_path,$(m)) &&) :
	$(Q)$(INSTALL) -D -m 644 docs/completion/hbprof.bash $(BASH_COMP)
	$(Q)$(INSTALL) -D -m 644 docs/completion/_hbprof $(ZSH_COMP)

# Files only: folders may be others' too.
uninstall:
	$(Q)rm -fv $(DESTDIR)$(bindir)/hbprof $(foreach m,$(MAN),$(call man_path,$(m))) $(BASH_COMP) \
		$(ZSH_COMP)

# ---- the Debian package ---------------------------------------------------------------------

# dpkg wants debian/ at the top of the source, where this tree does not have it: so a copy is made of
# what git knows (of everything but the output, where there is no git), with debian/ in it. The
# packages come out beside that copy, in $(O).
DEB_SRC = $(O)/deb-src
EXPORT_SRC = { { test -e .git && git ls-files -z 2>/dev/null; } || find . -path ./.git -prune -o -path './$(O)' -prune -o \
	-type f -print0; } | tar -c --null -T - | tar -x -C $(DEB_SRC)

deb:
	$(Q)tests/setup.sh --quiet --sudo deb
	$(Q)rm -rf $(DEB_SRC) && mkdir -p $(DEB_SRC)
	$(Q)$(EXPORT_SRC)
	$(Q)cp -r docs/debian $(DEB_SRC)/debian
	$(Q)cd $(DEB_SRC) && unset MAKEFLAGS MFLAGS MAKELEVEL && dpkg-buildpackage -us -uc -b
	$(Q)ls $(O)/hbprof_*.deb

include tests/tests.mk

-include $(patsubst %.o,%.d,$(PURE_OBJ) $(TRACE_OBJ) $(TEST_OBJ)) $(patsubst %.c,$(O)/%.d,$(wildcard bpf/*.bpf.c))

clean:
	rm -rf $(O)

define HELP
make               the tool: $(O)/hbprof
make check         every test; installs what they need, ends with "N passed, N failed, N skipped"
make check-unit    the C unit tests, plain and again with address and undefined-behaviour sanitizers
make check-cli     the command line, over recorded captures; needs no root
make check-bpf     attaching to programs with known call counts and sleeps; needs root
make check-vm      the same on other kernels (5.10 to the newest; arm64's too), in virtual machines;
                   fetches them once, and libraries for arm64
make check-fuzz    readers of foreign files over damaged input (FUZZ_COUNT=3000 FUZZ_SEED=1)
make check-layers  which folder may include which; -headers: each header compiles alone;
                   -format: clang-format 14; -vmlinux: vmlinux.h against the running kernel;
                   -stack: of BPF programs, what Linux 6.1 allows
make bench         cost and accuracy of the probes on this machine; prints numbers, never fails by time
make codecs-table  counts and times each codec that hbprof knows, and writes the table of docs/codecs.md
make articles      measures servers as articles do, and writes docs/articles.md
make demo          profiles a bundled program for 10 s, prints the report, draws the flame graph (by sudo)
make man           the manual pages, in $(O)/man
make install       binary, manual pages and completions, under DESTDIR and prefix ($(prefix));
                   make uninstall removes them
make deb           a Debian package, in $(O); installs what that needs
make clean         removes $(O)

O=DIR              output folder (build)         V=1       show the commands
ARCH=arm64|x86     build for another machine     WERROR=1  warnings are errors
SYSROOT=DIR        where its libraries are, if not installed: tests/vm/sysroot.sh fetches them
SAN=address,...    sanitizers (not in BPF)       COV=1     gcov instrumentation
endef

help:
	$(info $(HELP))
	@:
