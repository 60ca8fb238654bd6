# arguments: -q sites.pb.gz
# A line that was asked for, with ten lines before it and ten after it.
list sites.c:28
list sites.c:27
list sites.c:29
