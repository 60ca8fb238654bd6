# arguments: -q --keep-going forms.folded
# The steps of a refinement, and what they leave.
narrow main ... db_get_property
functions
drop (address_information db_get_property)
steps
up db_get_property
percent refined
functions
undo
functions db_*
group forms = form_*
down
group {1} = /^([a-z]+)_/
functions
steps
ungroup forms
steps
undo 2
redo
redo 5
reset
steps
undo
steps
save | tail -6
narrow nosuch
narrow db_get_property main
drop main
narrow main … db_get_property
narrow (main
narrow @libc
group {2} = /^([a-z]+)_/
path main ... db_get_property
ungroup nosuch
reset
group db => db_*
down
reset
undo 90
reload
resource
format json
narrow db_read_record
steps
functions
reset
granularity module
group all = forms
granularity function
save | tail -6
