package bench

import (
	"os"
	"testing"
)

func TestMetersOfThisProcess(t *testing.T) {
	t.Parallel()
	own, err := CPU(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if tree, err := TreeCPU(os.Getpid()); err != nil || tree < own {
		t.Errorf("the tree used %s, its root before that %s: %v", tree, own, err)
	}
	if used, err := Memory(os.Getpid()); err != nil || used < 1<<20 {
		t.Errorf("this test uses %d bytes: %v", used, err)
	}
	if written, err := Written(os.Getpid()); err != nil || written < 0 {
		t.Errorf("this test wrote %d bytes: %v", written, err)
	}
	if written, err := Written(1 << 30); err == nil {
		t.Errorf("a process that is not there wrote %d bytes", written)
	}
	if used, err := CPUBelow(os.Getpid(), "no such program"); err != nil || used != 0 {
		t.Errorf("a program that does not run used %s, %v", used, err)
	}
}
