# Calls without stacks: what is exact, what is not, and what there is not.
# arguments: --keep-going -q rdparse.callgrind.gz
limit 8
functions
flat
down
up strtod
callers factor
callees factor
path (main expr term factor number)
path (number strtod)
functions all factor
tree
granularity address
granularity module
functions
granularity line
body
callees factor
down main
granularity callsite
callees |term:62|
granularity function
graph --gprof expr
graph factor
graph
never
static on
root term
percent root
down
depth 2
down
format json
limit 2
down
graph unary
