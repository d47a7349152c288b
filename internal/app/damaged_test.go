package app

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
)

func TestDamageIsLogged(t *testing.T) {
	t.Parallel()
	dir, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	whole, damaged := archivetest.Put(t, dir, []byte("whole")), archivetest.Put(t, dir, []byte("damaged"))
	var log bytes.Buffer
	files := damageLog{archivetest.Damaged{Store: dir, Digest: damaged}, slog.New(slog.NewTextHandler(&log, nil))}
	for digest, want := range map[string]error{whole: nil, damaged: archive.ErrCorrupt} {
		r, err := files.Open(t.Context(), digest)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadAll(r); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
	if got := log.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, "level=WARN") || !strings.Contains(got, damaged) {
		t.Errorf("the log has %q", got)
	}
}
