#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# layers.sh -- includes run one way only, and each library has one user.
set -u
cd "${srcdir:-.}" || exit 1
n=0

# check CLAIM PATTERN FILE...: no line of the files matches the pattern.
check() {
	claim=$1 pattern=$2
	shift 2
	n=$((n + 1))
	if found=$(grep -nE "$pattern" "$@"); then
		printf 'not ok %d - %s\n' "$n" "$claim"
		printf '%s\n' "$found" | sed 's/^/# /'
	else
		printf 'ok %d - %s\n' "$n" "$claim"
	fi
}

own() {
	printf '#include "(%s)' "$1"
}

set -f
check 'base includes only base' "$(own 'src/[^b]|commands|lib')" \
	$(set +f; ls src/base/*.[ch])
check 'profile includes only base and profile' \
	"$(own 'src/([^bp]|base/table)|commands|lib')" \
	$(set +f; ls src/profile/*.[ch])
check 'views include only base, profile and views' \
	"$(own 'src/[^bpv]|commands|lib')" $(set +f; ls src/views/*.[ch])
check 'formats include no view, output, shell or command' \
	"$(own 'src/(views|output|shell)|commands|lib/[^c]')" \
	$(set +f; ls src/formats/*.[ch] src/formats/*/*.[ch])
check 'symbols include only base, profile and symbols' \
	"$(own 'src/[^bps]|src/shell|commands|lib')" \
	$(set +f; ls src/symbols/*.[ch])
check 'output includes only base and output' \
	"$(own 'src/[^bo]|commands|lib')" $(set +f; ls src/output/*.[ch])
check 'no command includes another' "$(own 'commands/')" \
	$(set +f; ls commands/*.c)
check 'the collector includes nothing of the program' "$(own 'src|commands')" \
	$(set +f; ls lib/*.[chS])
check 'readline has one user, the shell' 'include <readline' \
	$(set +f; ls src/*.c src/[!s]*/*.[ch] src/formats/*/*.[ch] \
		src/symbols/*.[ch] commands/*.c)
check 'libelf, libdw, capstone and the demangler have one user, symbols' \
	'include <(libelf|gelf|elfutils|dwarf|libiberty|capstone)' \
	$(set +f; ls src/*.c src/[!s]*/*.[ch] src/formats/*/*.[ch] \
		src/shell/*.[ch] commands/*.c)
check 'yajl has one user, the reader of JSON' 'include <yajl' \
	$(set +f; ls src/*.c src/[!f]*/*.[ch] src/formats/*.[ch] \
		src/formats/[!j]*/*.[ch] src/formats/json/*.h \
		src/formats/json/json_[!r]*.c commands/*.c)
check 'only main and the shell print or exit' \
	'(^|[^a-z_])(printf|puts|exit|abort) ?\(' \
	$(set +f; ls src/base/*.c src/profile/*.c src/views/*.c \
		src/formats/*.c src/formats/*/*.c src/symbols/*.c)
echo "1..$n"
