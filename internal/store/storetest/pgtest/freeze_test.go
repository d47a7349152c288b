//go:build unix

package pgtest

import (
	"context"
	"testing"
	"time"
)

func TestFreeze(t *testing.T) {
	server, err := Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Stop(); err != nil {
			t.Error(err)
		}
	})
	thaw, err := server.Freeze(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if err := execute(ctx, server.DSN(), "SELECT 1"); err == nil {
		t.Error("a frozen server answers")
	}
	for range 2 { // the clean-up need not know whether it was done
		if err := thaw(); err != nil {
			t.Fatal(err)
		}
	}
	if err := execute(t.Context(), server.DSN(), "SELECT 1"); err != nil {
		t.Errorf("after the thaw: %v", err)
	}
}
