# SPDX-License-Identifier: GPL-3.0-or-later
# make-source.awk -- a C program with loops, switches and calls, of n functions,
# the same each time: awk -v n=25 -f make-source.awk
BEGIN {
	print "struct node { struct node *next; long key; double w[8]; };"
	print "extern void use(struct node *, long);"
	for (i = 0; i < n; i++) {
		printf "long work_%d(struct node *n, long a, long b)\n{\n", i
		printf "\tlong x = a * %d + b, y = %d;\n", i * 7 % 99 + 1, i
		print "\tfor (; n; n = n->next) {"
		printf "\t\tswitch (n->key %% %d) {\n", i % 6 + 3
		for (c = 0; c < 3; c++)
			printf "\t\tcase %d: x += n->key << %d; n->w[%d] *= 1.%d; break;\n",
			    c, (i + c) % 6 + 1, c, i % 9 + 1
		if (i > 0)
			printf "\t\tdefault: y ^= work_%d(n->next, x, y); use(n, y);\n",
			    i * 5 % i
		print "\t\t}\n\t\tfor (int i = 0; i < 8; i++)"
		printf "\t\t\tn->w[i] += (double)x / (y | %d);\n", i % 9 + 1
		print "\t}\n\treturn x + y;\n}"
	}
}
