# SPDX-License-Identifier: GPL-3.0-or-later
# The order of tests, for GNU make: Automake's rules know none.  Exact tests run in
# parallel; when they have ended, the measured ones run one after another, with
# nothing beside them.  Included by Makefile; sees only the tests of this run.
exact_logs := $(filter-out $(measured_logs),$(TEST_LOGS))
order_before := $(exact_logs)
define order_after
$(1): | $(order_before)
order_before := $(1)
endef
$(foreach log,$(filter $(measured_logs),$(TEST_LOGS)),\
	$(eval $(call order_after,$(log))))
