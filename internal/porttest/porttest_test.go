package porttest

import (
	"net"
	"testing"
)

func TestFree(t *testing.T) {
	seen := map[string]bool{}
	for range 50 {
		port, err := Free(t.Context())
		if err != nil || seen[port] {
			t.Fatalf("port %s, %v, after %v", port, err, seen)
		}
		seen[port] = true
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
	}
}
