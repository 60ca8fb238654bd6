# arguments: server.pb.gz
top 5
explain
threads
threads all
processes
labels
labels thread
narrow thread worker-*
column per/hit = cpu / cpu
columns cpu
functions 3
columns
undo
never
show
