//go:build unix

package postgres

import (
	"testing"

	"recrawl/internal/store/storetest"
	"recrawl/internal/store/storetest/pgtest"
)

func TestCapacity(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunCapacity(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestOldGrants(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunOldGrants(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestAutoDelay(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunAutoDelay(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestForgiving(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunForgiving(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestResume(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunResume(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestClockBack(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunClockBack(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestComesLate(t *testing.T) {
	e, err := openEngine(t.Context(), pgtest.DSN(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	storetest.RunComesLate(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
