// text.go -- writes Go's profiles in text (debug=1): go-*.txt.
//
// *.raw is what `go tool pprof -symbolize=none -raw` prints of a file.
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"sync"
	"time"
)

var kept [][]byte
var lock sync.Mutex

//go:noinline
func allocate(n int) {
	for i := 0; i < n; i++ {
		kept = append(kept, make([]byte, 10000+i%7*1000))
	}
}

func small(i int) *[64]byte { return &[64]byte{byte(i)} }

var smalls []*[64]byte

//go:noinline
func allocateSmall(n int) {
	for i := 0; i < n; i++ {
		smalls = append(smalls, small(i))
	}
}

//go:noinline
func recurse(n int, done chan bool) {
	if n > 0 {
		recurse(n-1, done)
		return
	}
	<-done
}

//go:noinline
func contend(wait *sync.WaitGroup) {
	for i := 0; i < 50; i++ {
		lock.Lock()
		time.Sleep(time.Millisecond)
		lock.Unlock()
	}
	wait.Done()
}

func write(name string) {
	file, err := os.Create(name + ".txt")
	if err != nil {
		panic(err)
	}
	pprof.Lookup(name).WriteTo(file, 1)
	file.Close()
}

func main() {
	runtime.SetBlockProfileRate(1)
	runtime.SetMutexProfileFraction(2)
	runtime.MemProfileRate = 64 << 10
	allocate(3000)
	allocateSmall(20000)
	kept = kept[:1000]
	runtime.GC()
	runtime.GC()
	done := make(chan bool)
	for i := 0; i < 5; i++ {
		go recurse(3, done)
	}
	go recurse(0, done)
	var wait sync.WaitGroup
	wait.Add(3)
	for i := 0; i < 3; i++ {
		go contend(&wait)
	}
	wait.Wait()
	time.Sleep(10 * time.Millisecond)
	for _, name := range []string{"heap", "goroutine", "mutex", "block", "threadcreate"} {
		write(name)
	}
	close(done)
}
