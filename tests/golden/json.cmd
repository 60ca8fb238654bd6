# arguments: -F json forms.folded
# One document on one line for each command that shows something.
functions
threshold 0.5
down
up db_read_record
flat
body
tree
callers db_read_record
callees main
path (main invoice)
functions all invoice
root
root db_read_record
resource
show
info
help up
apropos recursion
