# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# tests.mk - how the tests are built and which of them each check-* target runs. Included by the
# Makefile. tests/run.sh runs them, counts and prints the last line.
#
# tests/unit/test_X.c is one cmocka program. What it needs beyond the pure objects of the tool:
#   TEST_CFLAGS_test_X, TEST_LDFLAGS_test_X   set below
#   tests/unit/*.c of another name            helpers, linked with every test that uses them
# tests/unit/test_bpf_X.c and its helpers tests/unit/bpf_X.c see the stand-ins in tests/unit/shim: they
# compile bpf/*.bpf.c for the host.
# tests/fuzz/fuzz_X.c is a program that takes a count and a seed; only its sanitized build is run.
# tests/cli/t_X.sh, tests/bpf/t_X.sh, tests/vm/t_X.sh print TAP: see tests/tap.sh.

FUZZ_COUNT ?= 3000
FUZZ_SEED  ?= 1
SAN_O      := $(O)/san

UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
HELPER_SRC := $(filter-out $(UNIT_SRC),$(sort $(wildcard tests/unit/*.c)))
FUZZ_SRC   := $(sort $(wildcard tests/fuzz/fuzz_*.c))
FUZZ_HELP  := $(filter-out $(FUZZ_SRC),$(sort $(wildcard tests/fuzz/*.c)))
TEST_OBJ    = $(BPF_HELP_OBJ) $(ARM64_BPF_BIN:%=%.o) $(patsubst %.c,$(O)/%.o,$(UNIT_SRC) $(HELPER_SRC) $(FUZZ_SRC) $(FUZZ_HELP))

UNIT_BIN   := $(UNIT_SRC:%.c=$(O)/%)

# The handlers of arm64 on this host: they are C, and what they see of the architecture is a struct.
BPF_TEST_SRC := $(filter tests/unit/test_bpf_%.c,$(UNIT_SRC))
BPF_HELP_OBJ := $(patsubst tests/unit/%.c,$(O)/tests/unit/arm64/%.o,$(filter tests/unit/bpf_%.c,$(HELPER_SRC)))
ifneq ($(ARCH),arm64)
ARM64_BPF_BIN := $(BPF_TEST_SRC:tests/unit/%.c=$(O)/tests/unit/arm64/%)
endif
FUZZ_BIN   := $(FUZZ_SRC:%.c=$(O)/%)

# ---- building -------------------------------------------------------------------------------

# Archives: a test may bring its own version of a module's functions, by including its source.
$(O)/libpure.a: $(PURE_OBJ)
	$(call msg,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/tests/libhelpers.a: $(patsubst %.c,$(O)/%.o,$(HELPER_SRC) $(FUZZ_HELP))
	$(call msg,AR,$@)
	$(Q)mkdir -p $(@D)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(O)/tests/%.o: tests/%.c Makefile tests/tests.mk $(O)/flags | build-needs
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) $(TEST_CFLAGS_$(basename $(@F))) $(INCLUDES) -Itests/unit -MMD -MP \
		-c -o $@ $<

# BPF programs are not prototyped, their sections are not the host's, and a context that the
# handler does not look at is no mistake: the warnings that BPF_CFLAGS lacks are off here too.
define CC_BPF_HOST
	$(call msg,CC,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -Wno-missing-prototypes -Wno-shadow -Wno-undef \
		-D__TARGET_ARCH_$(1) $(TEST_CFLAGS_$(basename $(@F))) -Itests/unit/shim \
		$(INCLUDES) -Itests/unit -Ivmlinux -Ibpf -MMD -MP -c -o $@ $<
endef

$(O)/tests/unit/test_bpf_%.o: tests/unit/test_bpf_%.c Makefile tests/tests.mk $(O)/flags | build-needs
	$(call CC_BPF_HOST,$(ARCH))
$(O)/tests/unit/bpf_%.o: tests/unit/bpf_%.c Makefile tests/tests.mk $(O)/flags | build-needs
	$(call CC_BPF_HOST,$(ARCH))
$(O)/tests/unit/arm64/%.o: tests/unit/%.c Makefile tests/tests.mk $(O)/flags | build-needs
	$(call CC_BPF_HOST,arm64)
$(O)/tests/unit/arm64/test_%: $(O)/tests/unit/arm64/test_%.o $(BPF_HELP_OBJ) $(O)/tests/libhelpers.a $(O)/libpure.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TEST_LDFLAGS_$(@F)) -o $@ $^ -lcmocka $(filter-out -lbpf,$(LIBS))

$(O)/tests/unit/test_%: $(O)/tests/unit/test_%.o $(O)/tests/libhelpers.a $(O)/libpure.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TEST_LDFLAGS_$(@F)) -o $@ $^ -lcmocka $(filter-out -lbpf,$(LIBS))

# trace/ is no part of the pure objects, but plans are made without libbpf.
PLAN_OBJ := $(patsubst %.c,$(O)/%.o,$(sort $(wildcard user/trace/plan*.c)))
$(O)/tests/unit/test_plan: $(O)/tests/unit/test_plan.o $(PLAN_OBJ) $(O)/tests/libhelpers.a $(O)/libpure.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(filter-out -lbpf,$(LIBS))

$(O)/tests/fuzz/fuzz_%: $(O)/tests/fuzz/fuzz_%.o $(O)/tests/libhelpers.a $(O)/libpure.a
	$(call msg,LINK,$@)
	$(Q)$(CC) $(ALL_LDFLAGS) $(TEST_LDFLAGS_$(@F)) -o $@ $^ $(filter-out -lbpf,$(LIBS))

.PHONY: build-unit build-fuzz build-unit-san build-fuzz-san build-skel build-workload build-gobins
build-unit: $(UNIT_BIN) $(ARM64_BPF_BIN)
	@:
build-fuzz: $(FUZZ_BIN)
	@:
build-skel: $(SKEL)
	@:

# One at a time: both make the same archives, and neither knows of the other.
SAN_MAKE = +$(Q)mkdir -p $(O) && flock -o $(O)/san.lock \
	$(MAKE) O=$(SAN_O) SAN=address,undefined HB_NEEDS_SEEN=1
build-unit-san: | build-needs
	$(SAN_MAKE) build-unit
build-fuzz-san: | build-needs
	$(SAN_MAKE) build-fuzz

# Both scripts know themselves what has changed. A Go that is new enough comes first in PATH.
WITH_GO = $(Q)go=$$(tests/find_go.sh) && export PATH="$${go%/*}:$$PATH"; \
	test ! -x $(1) || $(1) $(abspath $(2))
build-workload:
	$(call WITH_GO,tests/workload/build.sh,$(O)/workload)
build-gobins:
	$(call WITH_GO,tests/unit/gobins.sh,$(O)/gobins)

# The tool and the workloads for arm64, for virtual machines and QEMU's user emulation. The unit tests are
# those that tests/vm/t_arm64_offline.sh runs.
ARM64_O := $(O)/arm64
ARM64_MAKE = $(MAKE) ARCH=arm64 SYSROOT=$$root O=$(ARM64_O) SAN= COV= \
	CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar
ARM64_UNIT = $(addprefix $(ARM64_O)/tests/unit/test_,insn_arm64 site_arm64 capture capture_damage util fsutil)
.PHONY: build-arm64
build-arm64:
	+$(Q)if ! root=$$(tests/vm/sysroot.sh arm64) && test "$(HB_CI)" != 1; then \
		echo "NOT BUILT: programs for arm64, and so not tested; see above" >&2; \
	else \
		$(ARM64_MAKE) all $(ARM64_UNIT) && tests/vm/workload.sh $(ARM64_O)/workload $$root; \
	fi

# ---- running --------------------------------------------------------------------------------

# What the tests find in their environment. Paths are absolute: tests may change the folder.
RUN = HBPROF=$(abspath $(O)/hbprof) HB_WORK=$(abspath $(O)/workload) HB_SRC=$(CURDIR) \
	HB_GO_BIN_DIR=$(abspath $(O)/gobins) CC='$(CC)' CLANG='$(CLANG)' BPFTOOL='$(BPFTOOL)' \
	ARCH=$(ARCH) HB_ARM64=$(abspath $(ARM64_O)) tests/run.sh

# Each word list item of run.sh is KIND COMMAND..., in quotes.
#
# Side by side runs what compares counts only. These are alone (tests/bpf/t_X.sh): they compare times or
# shares of time (counters ended latency options reqprocs requests shapes stacks), kill and freeze in
# the course of some ms (harm hostile_codecs), or set probes in all processes (others).
BPF_ALONE   := counters ended harm hostile_codecs latency options others reqprocs requests shapes stacks
UNIT_RUN    := $(foreach t,$(UNIT_BIN) $(ARM64_BPF_BIN) $(UNIT_SRC:%.c=$(SAN_O)/%),'cmocka $(t)')
FUZZ_RUN    := $(foreach t,$(FUZZ_SRC:%.c=$(SAN_O)/%),'single $(t) $(FUZZ_COUNT) $(FUZZ_SEED)')
CLI_RUN     := $(foreach t,$(sort $(wildcard tests/cli/t_*.sh)),'tap $(t)')
BPF_SH      := $(sort $(wildcard tests/bpf/t_*.sh))
BPF_ONE_SH  := $(filter $(BPF_ALONE:%=tests/bpf/t_%.sh),$(BPF_SH))
BPF_ONE_RUN := $(foreach t,$(BPF_ONE_SH),'tap $(t)')
BPF_RUN     := $(foreach t,$(filter-out $(BPF_ONE_SH),$(BPF_SH)),'tap $(t)')
VM_RUN      := $(foreach t,$(sort $(wildcard tests/vm/t_*.sh)),'tap $(t)')
LAYERS_RUN  := 'single tests/check_layers.sh'
HEADERS_RUN := 'single tests/check_headers.sh $(O)/gen'
FORMAT_RUN  := 'single tests/check_format.sh'
VMLINUX_RUN := 'single tests/check_vmlinux.sh'
STACK_RUN   := 'single tests/check_stack.sh $(BPF_SRC:%.c=$(O)/%.o)'
GO_RUN      := 'single tests/check_go.sh'

.PHONY: check check-all check-unit check-cli check-bpf check-vm check-fuzz check-layers check-headers \
	check-format check-vmlinux check-stack
check-unit: build-unit build-unit-san build-gobins
	$(Q)$(RUN) --jobs 2 $(GO_RUN) $(UNIT_RUN)
check-cli: all man
	$(Q)$(RUN) --jobs 2 $(CLI_RUN)
check-bpf: all build-workload
	$(Q)$(RUN) --jobs 2 $(BPF_RUN) --jobs 1 $(BPF_ONE_RUN)
check-vm: all build-workload build-arm64
	$(Q)$(RUN) --jobs 2 $(VM_RUN)
check-fuzz: build-fuzz-san
	$(Q)$(RUN) --jobs 2 $(FUZZ_RUN)
check-layers:
	$(Q)$(RUN) $(LAYERS_RUN)
check-headers: $(SKEL) $(O)/gen/built_with.h
	$(Q)$(RUN) $(HEADERS_RUN)
check-format:
	$(Q)$(RUN) $(FORMAT_RUN)
check-stack: $(BPF_SRC:%.c=$(O)/%.o)
	$(Q)$(RUN) $(STACK_RUN)
check-vmlinux:
	$(Q)$(RUN) $(VMLINUX_RUN)

# The tests need packages that this make has perhaps not seen when it was started: so a new one.
check:
	$(Q)tests/setup.sh
	+$(Q)$(MAKE) WERROR=1 check-all

# -k, and the build is a check of its own: one test that does not compile is one failure more, and
# everything else is still run and counted.
BUILD_ALL = all man build-skel build-unit build-unit-san build-fuzz-san build-gobins build-workload \
	build-arm64
check-all:
	+$(Q)built=true; $(MAKE) -k $(BUILD_ALL) || built=false; \
	$(RUN) "single $$built build" --jobs 2 $(LAYERS_RUN) $(HEADERS_RUN) $(FORMAT_RUN) $(VMLINUX_RUN) \
		$(STACK_RUN) $(GO_RUN) $(UNIT_RUN) $(FUZZ_RUN) $(CLI_RUN) \
		--jobs 2 $(VM_RUN) $(BPF_RUN) --jobs 1 $(BPF_ONE_RUN)

# ---- not checks -----------------------------------------------------------------------------

.PHONY: articles bench codecs-table demo
bench: all build-workload
	$(Q)HBPROF=$(abspath $(O)/hbprof) HB_WORK=$(abspath $(O)/workload) \
		HB_ARM64=$(abspath $(ARM64_O)) tests/bench/run.sh

# Under its name only when all of it is there.
articles: all build-workload
	$(Q)HBPROF=$(abspath $(O)/hbprof) HB_WORK=$(abspath $(O)/workload) tests/bench/articles.sh \
		>$(O)/articles.md && cp $(O)/articles.md docs/articles.md

codecs-table: all
	$(Q)HBPROF=$(abspath $(O)/hbprof) HB_WORK=$(abspath $(O)/workload) tests/bench/codecs.sh

# Under sudo what was built goes to who called it: a later make without sudo must be able to write there.
demo:
	$(Q)tests/setup.sh --quiet --sudo demo
	+$(Q)$(MAKE) all
	$(Q)HBPROF=$(O)/hbprof CC='$(CC)' tests/demo.sh
	$(Q)test "$$(id -u)" != 0 || test -z "$$SUDO_UID" || chown -R "$$SUDO_UID:$$SUDO_GID" $(O)
