# arguments: process_db.folded
format csv
functions
down
format tsv
down
info
show
