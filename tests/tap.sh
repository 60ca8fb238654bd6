# SPDX-License-Identifier: GPL-3.0-or-later
# tap.sh -- claims for tests that are shell scripts, which source it.  n: the
# number of claims so far; the plan comes last, "1..$n".
n=0

# is CLAIM WANTED GOT
is() {
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "wanted: $2" "got: $3" | sed 's/^/# /'
	fi
}

# like CLAIM PATTERN TEXT
like() {
	n=$((n + 1))
	if printf '%s\n' "$3" | grep -qE "$2"; then
		echo "ok $n - $1"
	else
		echo "not ok $n - $1"
		printf '%s\n' "wanted: $2" "got: $3" | sed 's/^/# /'
	fi
}
