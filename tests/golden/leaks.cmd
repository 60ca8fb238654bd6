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
resource freed-bytes
leaks
