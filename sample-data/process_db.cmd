# process_db.cmd -- where does `process_db` take its time, and why there?
# Section 4 of R. J. Hall and A. J. Goldberg, "Call Path Profiling of
# Monotonic Program Resources in UNIX", USENIX Summer 1993.
#
#	cpprof sample-data/process_db.folded <sample-data/process_db.cmd

digits 5
threshold 0
root main

# Where: 68% of the time is in the sort that uniquify_db calls.
resource |Real Time|
down

# qsort is called twice, to sort as many elements each time.  The call from
# print_salary_list costs nothing.
up qsort

# Why: ask for another resource.  Pages of the database are read again and
# again, whenever two names are compared.
resource |Page Faults|
down
up name_field_lt

# The salaries were copied out of the records before they were sorted.  To
# copy the names likewise would save what this path costs.
path (main uniquify_db qsort)
resource |Real Time|
path (main uniquify_db qsort)
