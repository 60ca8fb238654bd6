# arguments: -q --keep-going sites.pb.gz
# Steps name frames by the granularity that was set when they were made.
narrow (checksum mix)
granularity line
body
narrow (sites.c:28 sites.c:19)
granularity module
functions
group program = sites
functions
granularity address
functions
granularity line
steps
functions
save | tail -6
granularity function
reload
steps
up mix
