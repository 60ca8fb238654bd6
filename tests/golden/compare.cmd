# arguments: --base words-0.folded.gz words-1.folded.gz
base
diff top
diff functions
diff down
diff up |tolower|
scale robust
diff functions
scale work 2
diff body
scale absolute
assert functions main below 110%
assert change functions main below 2000%
assert body tolower below 1%
