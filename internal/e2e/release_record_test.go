//go:build record && unix

package e2e

import (
	"archive/tar"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// TestRecordRelease records the data folder of a crawl that was killed in the middle, made
// by the starter that RECRAWL_RECORD_RELEASE names. See tools/record-release.sh.
func TestRecordRelease(t *testing.T) {
	program, version := os.Getenv("RECRAWL_RECORD_RELEASE"), os.Getenv("RECRAWL_RECORD_VERSION")
	if program == "" || version == "" {
		t.Fatal("RECRAWL_RECORD_RELEASE and RECRAWL_RECORD_VERSION say what to record: run `make record-release`")
	}
	programs.starter = program // this test runs alone
	s := serve(t, releaseWeb())
	d := &dev{t: t, data: filepath.Join(t.TempDir(), "data"), env: releaseEnv(s)}
	d.args = append([]string{releaseSite + "/", "--name", "t"}, crawlSettings("200ms")...)
	d.start()
	done := func(url string) func() bool { return func() bool { return d.visits(url) > 0 } }
	d.await("the snoozed page was visited", done(snoozedPage))
	d.await("the fast page was visited", done(fastPage))
	d.answer("snooze", snoozedPage, "3650d")
	d.answer("set-interval", fastPage, "2s")
	d.await("half of the pages were visited", func() bool {
		visited := slices.DeleteFunc(d.pages("t"), func(p pageLine) bool { return p.Visits == 0 })
		return len(visited) >= releasePages/2
	})
	d.killAll()
	for _, name := range []string{"recrawl.db", "temporal.db"} {
		shrink(t, filepath.Join(d.data, name))
	}
	if err := pack(d.data, "testdata/release-"+version+".tar.zst"); err != nil {
		t.Fatal(err)
	}
}

// shrink brings a database's log into its file and leaves out what is unused.
func shrink(t *testing.T, path string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// left reports whether a file belongs in a recorded data folder: recrawl.json has paths of
// the machine that recorded it, and the rest is made anew.
func left(path string) bool {
	return path == "recrawl.db" || path == "temporal.db" || strings.HasPrefix(path, "archive/")
}

func pack(folder, file string) (err error) {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	out, err := os.Create(file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	packed, err := zstd.NewWriter(out, zstd.WithEncoderLevel(zstd.SpeedBestCompression))
	if err != nil {
		return err
	}
	w := tar.NewWriter(packed)
	err = filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
		name, relErr := filepath.Rel(folder, path)
		if err = errors.Join(err, relErr); err != nil || e.IsDir() || !left(filepath.ToSlash(name)) {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(text))})
		}
		if err == nil {
			_, err = w.Write(text)
		}
		return err
	})
	return errors.Join(err, w.Close(), packed.Close())
}
