# SPDX-License-Identifier: GPL-3.0-or-later
# circles.awk -- of lines "FROM TO", the names from which a way leads back to
# themselves.
{
	next_of[$1] = next_of[$1] " " $2
}
END {
	for (start in next_of) {
		split("", reached)
		todo = next_of[start]
		while (split(todo, list, " ") > 0) {
			todo = ""
			for (i in list)
				if (!(list[i] in reached)) {
					reached[list[i]] = 1
					todo = todo " " next_of[list[i]]
				}
		}
		if (start in reached)
			print start
	}
}
