# arguments: forms.folded
# Sections 4.4 and 7.2 of the paper.
functions
root db_read_record
up
threshold 10%
up
root main
down
tree
threshold 1%
tree
flat
body
callers db_get_property
callees address_information
path (address_information db_get_property db_read_record)
functions all db_*
unit gticks
digits 2
functions
# A root below the threshold is told from one that nobody calls.
unit hits
digits 4
threshold 15%
up db_update_record
down db_update_record
threshold 0
graph main
graph db_read_record
functions
