# arguments: ../tests/data/locks/server.cpprofdata.gz
info
functions
waits
waits 1
waits note
narrow put
waits
reset
drop pthread_join
waits
startup show
waits put
startup hide
reset
resource lock-waits
functions
resource lock-pairs
down handle_gets
threshold 0
waits
format json
waits 2
format csv
waits 3
format text
group locks = pthread_*
waits
