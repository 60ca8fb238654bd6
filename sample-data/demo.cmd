# demo.cmd -- why is `forms` slow?  The technique of section 4.4 of
# R. J. Hall and A. J. Goldberg, "Call Path Profiling of Monotonic Program
# Resources in UNIX", USENIX Summer 1993.
#
#	cpprof sample-data/forms.folded <sample-data/demo.cmd

info

# First the functions, each with all that ran on its behalf.  All the time is
# in db_read_record; address_information has 69% of it.
functions

# The sample tree is complete, but no line of it looks worth an effort: below
# main, nothing reaches 20%.
tree

# So take the function that has the most, and ask who makes it expensive.
root db_read_record
up

# Only what has at least a tenth of the run.
threshold 10%
up

# Three contexts stand out.  The third is a call path that can be optimised:
# address_information gets four properties of one person, and each one reads
# the person's record from disk.  If the last call of this path cost nothing...
path (address_information db_get_property db_read_record)

# ... 69% of the time would be saved.  Reading once, not four times, saves
# three quarters of that, which is 51% of the whole run.

# Other callers of db_get_property need it as it is; so the change belongs
# into address_information, or into a copy of db_get_property for it alone.
callers db_get_property
callees address_information

# The same from above, for one of the forms.
threshold 1%
down invoice

# A profile of function bodies, as prof gives it, does not help: it names the
# one function that has to do the work.
body
flat
