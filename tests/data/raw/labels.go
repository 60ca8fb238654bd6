// labels.go -- a CPU profile whose samples have labels: labels.pb.gz.
//
// NAME.raw.gz is what `go tool pprof -raw` prints of NAME.pb.gz, here or in ../go.
package main

import (
	"context"
	"os"
	"runtime/pprof"
)

//go:noinline
func spin(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i % 7
	}
	return
}

func main() {
	pprof.StartCPUProfile(os.Stdout)
	for _, name := range []string{"first worker", "second"} {
		labels := pprof.Labels("thread", name, "step", "a b]: c", "tid", "7")
		pprof.Do(context.Background(), labels, func(context.Context) { spin(300000000) })
	}
	spin(100000000)
	pprof.StopCPUProfile()
}
