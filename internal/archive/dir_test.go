package archive_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"recrawl/internal/archive"
	"recrawl/internal/archive/archivetest"
)

func openDir(t testing.TB, path string) *archive.Dir {
	t.Helper()
	d, err := archive.OpenDir(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestDir(t *testing.T) {
	archivetest.Run(t, func(t *testing.T) archive.Store { return openDir(t, filepath.Join(t.TempDir(), "new", "archive")) })
}

// files lists the files below a folder with their sizes.
func files(t *testing.T, root string) map[string]int64 {
	t.Helper()
	found := map[string]int64{}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		found[filepath.ToSlash(name)] = info.Size()
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestDirLayout(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root)
	digest := archivetest.Put(t, d, []byte("hello"))
	archivetest.Put(t, d, []byte("hello"))
	w, err := d.Create(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w.Abort()
	got, want := files(t, root), digest[:2]+"/"+digest[2:4]+"/"+digest+".raw"
	if len(got) != 1 || got[want] != 5 {
		t.Errorf("files %v, want only %s", got, want)
	}
}

func TestDirFindsCorruption(t *testing.T) {
	for name, damage := range map[string][]byte{"changed": []byte("hellO"), "cut": []byte("hel"), "longer": []byte("hello!"), "emptied": nil} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			d := openDir(t, root)
			digest := archivetest.Put(t, d, []byte("hello"))
			path := filepath.Join(root, digest[:2], digest[2:4], digest+".raw")
			if err := os.WriteFile(path, damage, 0o644); err != nil {
				t.Fatal(err)
			}
			r, err := d.Open(t.Context(), digest)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if _, err := io.ReadAll(r); !errors.Is(err, archive.ErrCorrupt) {
				t.Errorf("read: %v", err)
			}
			archivetest.Put(t, d, []byte("hello"))
			r, err = d.Open(t.Context(), digest)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if got, err := io.ReadAll(r); err != nil || string(got) != "hello" {
				t.Errorf("storing it again did not mend it: %q, %v", got, err)
			}
		})
	}
}

func TestDirSweepsOldTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	openDir(t, root)
	old, young, foreign := filepath.Join(root, "tmp", "1.part"), filepath.Join(root, "tmp", "2.part"), filepath.Join(root, "tmp", "notes")
	for _, path := range []string{old, young, foreign} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	aged := time.Now().Add(-25 * time.Hour)
	for _, path := range []string{old, foreign} {
		if err := os.Chtimes(path, aged, aged); err != nil {
			t.Fatal(err)
		}
	}
	openDir(t, root)
	got := files(t, root)
	if _, there := got["tmp/1.part"]; there || len(got) != 2 {
		t.Errorf("left: %v", got)
	}
}

func TestOpenDirNeedsAFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := archive.OpenDir(path); err == nil {
		t.Error("a file was opened as an archive")
	}
}

func BenchmarkDirCommit(b *testing.B) {
	content := make([]byte, 64<<10)
	for _, c := range []struct {
		name string
		next func(i int)
	}{
		{"new", func(i int) { content[0], content[1], content[2] = byte(i), byte(i>>8), byte(i>>16) }},
		{"known", func(int) {}},
	} {
		b.Run(c.name, func(b *testing.B) {
			d := openDir(b, b.TempDir())
			b.SetBytes(int64(len(content)))
			for i := 0; b.Loop(); i++ {
				c.next(i)
				w, err := d.Create(b.Context())
				if err != nil {
					b.Fatal(err)
				}
				if _, err := w.Write(content); err != nil {
					b.Fatal(err)
				}
				if _, _, err := w.Commit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
