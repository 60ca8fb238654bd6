# arguments: ../tests/data/calls/planted.cpprofdata.gz
# The rest does not depend on what is known here of the libc of the recording.
startup show
group libc = @libc.so.6
calls
narrow calls above p99
steps
undo
narrow calls above 45ms
functions
undo
narrow label call:handle<45ms
undo
base calls below 45ms
base
diff functions
save | grep '^base'
base off
labels
format json
calls
calls handle
format text
narrow calls handle above p50
