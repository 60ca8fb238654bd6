# arguments: ../tests/data/live/server.cpprofdata.gz
info
functions
leaks
timeline
narrow time 300ms..600ms
functions
leaks
up malloc
timeline (remember)
reset
drop time ..500ms
functions
reset
base time ..300ms
base
resource live-bytes
diff functions
base time 300ms..500ms against time 800ms..
diff up malloc
resource alloc-bytes
diff functions
base off
resource freed-bytes
functions
narrow time ..300ms
functions
timeline
resource live-allocs
functions
leaks
narrow remember
leaks
when on
functions
format json
leaks
timeline
format text
base time ..1s
resource freed-bytes
leaks
