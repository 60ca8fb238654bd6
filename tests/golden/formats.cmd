# arguments: --symfs /nonexistent
startup show
load forms.folded
functions 4
load ../tests/data/go/cpu.pb.gz
functions 4
load ../tests/data/raw/cpu.raw.gz
functions 4
load ../tests/data/callgrind/recs.out.gz
functions 4
load ../tests/data/callgrind/cachegrind.out.gz
functions 4
load ../tests/data/gperftools/rec.prof
# Names of functions of libc depend on the machine, modules do not.
granularity module
functions 4
granularity function
load ../tests/data/legacy/go-heap.txt
functions 4
load ../tests/data/node/busy.cpuprofile.gz
functions 4
load ../tests/data/perf/rec.data
granularity module
functions 4
granularity function
load ../tests/data/perf/rec.script
functions 4
