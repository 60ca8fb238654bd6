# arguments: process_db.folded
# Section 4 of the paper, the zero line included.
digits 5
threshold 0
down
resource Page Faults
down
up qsort
resource
functions
percent root
root uniquify_db
down
limit 2
down
depth 1
down
limit off
resource |Real Time|
specialise main uniquify_db qsort
specialise --times 4 (uniquify_db qsort) (main read_db) (main uniquify_db)
format csv
specialise (main uniquify_db qsort)
