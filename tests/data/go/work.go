// work.go: a small program with recursion, inlining, two workers and some
// allocation.  The figures beside are of
//
//	go tool pprof -top -cum -nodecount=100000 -nodefraction=0 -edgefraction=0 \
//	    -unit=ns|B -sample_index=TYPE FILE
package main

import (
	"os"
	"runtime"
	"runtime/pprof"
	"sort"
	"strings"
	"sync"
)

type node struct {
	left, right *node
	key         int
}

func (n *node) insert(key int) *node {
	if n == nil {
		return &node{key: key}
	}
	if key < n.key {
		n.left = n.left.insert(key)
	} else {
		n.right = n.right.insert(key)
	}
	return n
}

func sum(n *node) int {
	if n == nil {
		return 0
	}
	return n.key + sum(n.left) + sum(n.right)
}

func mix(x int) int { return x*1103515245 + 12345 }

func treeJob() int {
	var root *node
	key := 1
	for i := 0; i < 20000; i++ {
		key = mix(key) & 0xffffff
		root = root.insert(key)
	}
	return sum(root)
}

func sortJob() int {
	words := strings.Fields(strings.Repeat("the quick brown fox jumps over the lazy dog ", 2000))
	sort.Strings(words)
	return len(words)
}

func main() {
	runtime.MemProfileRate = 65536
	cpu, _ := os.Create("cpu.pb.gz")
	pprof.StartCPUProfile(cpu)
	var wait sync.WaitGroup
	for _, job := range []func() int{treeJob, sortJob} {
		job := job
		wait.Add(1)
		go func() {
			for i := 0; i < 120; i++ {
				job()
			}
			wait.Done()
		}()
	}
	wait.Wait()
	pprof.StopCPUProfile()
	cpu.Close()
	heap, _ := os.Create("heap.pb.gz")
	pprof.Lookup("heap").WriteTo(heap, 0)
	heap.Close()
}
