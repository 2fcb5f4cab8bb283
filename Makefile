# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# make               the tool, in $(O)/hbprof
# make check         everything that CI runs (installs what the tests need)
# make help          the other targets and the variables
#
# Nothing is generated in the source tree: all output is under O=.

O      ?= build
ARCH   ?= $(shell uname -m | sed -e 's/aarch64/arm64/' -e 's/x86_64/x86/')
CC     ?= gcc
CLANG  ?= clang
BPFTOOL ?= $(or $(shell command -v bpftool 2>/dev/null),/usr/sbin/bpftool)
PKG_CONFIG ?= pkg-config
prefix ?= /usr/local

ifeq ($(V),1)
Q   :=
msg  = @:
else
Q   := @
msg  = @printf '  %-7s %s\n' $(1) $(patsubst $(CURDIR)/%,%,$(2))
endif

VERSION := $(shell sed -n 's/^\#define HBPROF_VERSION "\(.*\)"/\1/p' include/hbprof/version.h)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wundef -Wformat=2 \
	-Wno-unused-parameter
ifeq ($(WERROR),1)
WARN += -Werror
endif
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu11 $(WARN) $(CFLAGS) -D_GNU_SOURCE -Iinclude -Iuser -I. -I$(O)/gen
ALL_LDFLAGS = $(LDFLAGS)
LIBS = -lbpf -lelf -lz $(shell $(PKG_CONFIG) --libs libcjson) -lZydis -liberty -lpthread -lm

ifneq ($(SAN),)
ALL_CFLAGS  += -fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=all
ALL_LDFLAGS += -fsanitize=$(SAN)
endif
ifeq ($(COV),1)
ALL_CFLAGS  += --coverage
ALL_LDFLAGS += --coverage
endif

# ---- the tool -------------------------------------------------------------------------------

LAYERS   := util model target sym probe capture report trace cmd
USER_SRC := $(foreach l,$(LAYERS),$(sort $(wildcard user/$(l)/*.c)))
FLAME_SRC := $(sort $(wildcard flamegraph/*.c))
# Everything but the part that needs libbpf and the skeleton: what unit tests link against.
PURE_SRC := $(filter-out user/trace/% user/cmd/%,$(USER_SRC)) $(FLAME_SRC)
PURE_OBJ := $(PURE_SRC:%.c=$(O)/%.o)
TRACE_OBJ := $(patsubst %.c,$(O)/%.o,$(filter user/trace/% user/cmd/%,$(USER_SRC)) user/main.c)
BPF_SRC  := $(sort $(wildcard bpf/*.bpf.c))
SKEL     := $(O)/gen/hbprof.skel.h

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all
all: $(O)/hbprof

$(O)/hbprof: $(PURE_OBJ) $(TRACE_OBJ)
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ $(LIBS)

$(O)/%.o: %.c Makefile | build-needs
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

$(filter $(O)/user/trace/%,$(TRACE_OBJ)): $(SKEL)

# ---- BPF ------------------------------------------------------------------------------------

BPF_CFLAGS = -O2 -g -target bpf -mcpu=v3 -D__TARGET_ARCH_$(ARCH) -Iinclude -Ivmlinux -Wall -Wextra \
	-Wno-unused-parameter -Wno-address-of-packed-member

$(O)/bpf/%.bpf.o: bpf/%.bpf.c Makefile | build-needs
	$(call msg,BPF,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CLANG) $(BPF_CFLAGS) -MMD -MP -c -o $@ $<

$(O)/bpf/hbprof.bpf.o: $(BPF_SRC:%.c=$(O)/%.o)
	$(call msg,BPFLD,$@)
	$(Q)$(BPFTOOL) gen object $@ $^

$(SKEL): $(O)/bpf/hbprof.bpf.o
	$(call msg,SKEL,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPFTOOL) gen skeleton $< name hbprof_bpf > $@

include mk/needs.mk
include mk/tests.mk

-include $(shell find $(O) -name '*.d' 2>/dev/null)

.PHONY: clean
clean:
	rm -rf $(O)
