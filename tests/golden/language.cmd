# arguments: --keep-going forms.folded
# What is typed wrong, and what may be typed in other ways.
root
root envelope # with a comment
root
root db_*
root nothing_of_this_name
root db_raed_record
up nothing*
up |db_*|
f
nonsense
functon
thresh 5
threshold 1%
threshold -1
limit 0
limit 3
fun
body+descendants | head -4
path (main nothing)
path (main db_read_record)
path (main ... db_read_record)
path (main envelope main envelope)
path ()
|main|
> file
up |main
up >
set
set threshold
set threshold 0.25
set nonsense 3
show threshold
percent half
granularity module
root
granularity function
unit fortnights
find db_*
help nonsense
help | head -12
apropos zebra
history
source none.cmd
shell
quit
root is not reached
