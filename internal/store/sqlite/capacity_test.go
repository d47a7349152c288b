package sqlite

import (
	"path/filepath"
	"testing"

	"recrawl/internal/store/storetest"
)

func TestCapacity(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunCapacity(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestOldGrants(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunOldGrants(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestAutoDelay(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunAutoDelay(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestForgiving(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunForgiving(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestResume(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunResume(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestClockBack(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunClockBack(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}

func TestComesLate(t *testing.T) {
	e := openOwner(t, filepath.Join(t.TempDir(), "store.db"))
	storetest.RunComesLate(t, e)
	if err := e.Close(); err != nil {
		t.Error(err)
	}
}
