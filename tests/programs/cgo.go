// SPDX-License-Identifier: GPL-3.0-or-later
// cgo.go -- goroutines that work in Go, in C, and in Go called from C.
package main

/*
static volatile unsigned long sink;

static __attribute__((noinline)) void
work_in_c(long n)
{
	long i;

	for (i = 0; i < n; i++)
		sink += i;
}

extern void workInCallback(long);

static __attribute__((noinline)) void
call_back(long n)
{
	workInCallback(n);
	sink++;
}
*/
import "C"

var sum int

//go:noinline
func workInGo(n int) (s int) {
	for i := 0; i < n; i++ {
		s = s*31 + i
	}
	return s
}

//export workInCallback
func workInCallback(n C.long) {
	sum += workInGo(int(n))
}

//go:noinline
func begin(done chan int) {
	s := 0
	for i := 0; i < 60; i++ {
		s += workInGo(3000000)
		C.work_in_c(C.long(1000000))
		C.call_back(C.long(3000000))
	}
	done <- s
}

func main() {
	done := make(chan int)
	for i := 0; i < 3; i++ {
		go begin(done)
	}
	for i := 0; i < 3; i++ {
		<-done
	}
	println("done")
}
