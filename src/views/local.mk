# SPDX-License-Identifier: GPL-3.0-or-later
libcore_a_SOURCES +=
