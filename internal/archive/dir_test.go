package archive_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

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

// place writes a file of a content by hand.
func place(t *testing.T, root, digest string, c archive.Coding, stored []byte) string {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(archive.Name(digest, c)))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, stored, 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func readAll(t *testing.T, s archive.Store, digest string) ([]byte, error) {
	t.Helper()
	r, err := s.Open(t.Context(), digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	return io.ReadAll(r)
}

func TestDirCodings(t *testing.T) {
	text, noise := bytes.Repeat([]byte("<p>words and words"), 1000), make([]byte, 20_000)
	source := rand.NewChaCha8([32]byte{})
	if _, err := source.Read(noise); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		content []byte
		coding  archive.Coding
	}{
		"empty":          {nil, archive.Plain},
		"up to a block":  {text[:4096], archive.Plain},
		"over a block":   {text[:4097], archive.Zstd},
		"text":           {text, archive.Zstd},
		"incompressible": {noise, archive.Plain},
		"a little less":  {append(bytes.Clone(noise), text[:2000]...), archive.Plain},
		"much less":      {append(bytes.Clone(noise), text[:9000]...), archive.Zstd},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			digest := archivetest.Put(t, openDir(t, root), c.content)
			got := files(t, root)
			size, there := got[archive.Name(digest, c.coding)]
			if !there || len(got) != 1 {
				t.Errorf("files %v, want one %s", got, c.coding)
			}
			if c.coding == archive.Zstd && size > int64(len(c.content))*7/8 {
				t.Errorf("%d bytes became %d", len(c.content), size)
			}
		})
	}
}

// Contents from before there was compression stay as they are.
func TestDirKeepsPlainFiles(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root)
	content := bytes.Repeat([]byte("page "), 5000)
	digest := archivetest.Digest(content)
	place(t, root, digest, archive.Plain, content)
	archivetest.Put(t, d, content)
	if got := files(t, root); len(got) != 1 || got[archive.Name(digest, archive.Plain)] != int64(len(content)) {
		t.Errorf("files %v", got)
	}
	if got, err := readAll(t, d, digest); err != nil || !bytes.Equal(got, content) {
		t.Errorf("read %d bytes, %v", len(got), err)
	}
	if err := d.Delete(t.Context(), digest); err != nil || len(files(t, root)) > 0 {
		t.Errorf("delete: %v, left %v", err, files(t, root))
	}
}

// frame is content as one zstd frame; states says whether it states its size.
func frame(t testing.TB, content []byte, states bool) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := zstd.NewWriter(&b)
	if err != nil {
		t.Fatal(err)
	}
	if states {
		w.ResetContentSize(&b, int64(len(content)))
	}
	_, err = w.Write(content[:1])
	if err == nil && !states {
		err = w.Flush() // a short frame would state it by itself
	}
	if err == nil {
		_, err = w.Write(content[1:])
	}
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Whatever was done to a file, reading it reports that it is corrupt, and storing
// the content again mends it.
func TestDirFindsCorruption(t *testing.T) {
	small, large := []byte("hello"), bytes.Repeat([]byte("<p>hello "), 4000)
	good := frame(t, large, true)
	flipped := bytes.Clone(good)
	flipped[len(flipped)/2] ^= 0x40
	cases := []struct {
		name    string
		content []byte
		coding  archive.Coding
		damage  []byte
	}{
		{"changed", small, archive.Plain, []byte("hellO")},
		{"cut", small, archive.Plain, []byte("hel")},
		{"longer", small, archive.Plain, []byte("hello!")},
		{"emptied", small, archive.Plain, nil},
		{"large one changed", large, archive.Plain, append([]byte("x"), large[1:]...)},
		{"compressed, changed", large, archive.Zstd, flipped},
		{"compressed, cut", large, archive.Zstd, good[:len(good)-9]},
		{"compressed, cut in the header", large, archive.Zstd, good[:3]},
		{"compressed, longer", large, archive.Zstd, append(bytes.Clone(good), "x"...)},
		{"compressed, twice", large, archive.Zstd, append(bytes.Clone(good), good...)},
		{"compressed, emptied", large, archive.Zstd, nil},
		{"compressed, zeroed", large, archive.Zstd, make([]byte, len(good))},
		{"compressed, not a frame", large, archive.Zstd, large},
		{"compressed, another content", large, archive.Zstd, frame(t, large[1:], true)},
		{"compressed, of unstated size", large, archive.Zstd, frame(t, large, false)},
		{"compressed, behind a frame to skip", large, archive.Zstd, append([]byte{0x50, 0x2a, 0x4d, 0x18, 1, 0, 0, 0, 0}, good...)},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			d := openDir(t, root)
			digest := archivetest.Digest(c.content)
			place(t, root, digest, c.coding, c.damage)
			if got, err := readAll(t, d, digest); !errors.Is(err, archive.ErrCorrupt) || len(got) > len(c.content)+1 {
				t.Errorf("read %d bytes, %v", len(got), err)
			}
			archivetest.Put(t, d, c.content)
			if got, err := readAll(t, d, digest); err != nil || !bytes.Equal(got, c.content) {
				t.Errorf("storing it again did not mend it: %d bytes, %v", len(got), err)
			}
			if got := files(t, root); len(got) != 1 {
				t.Errorf("files %v", got)
			}
		})
	}
}

// A small file cannot make its reader read for ever: frames that promise more
// than any content has are refused, and others yield the promised size.
func TestDirBombs(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root)
	digest := archivetest.Digest([]byte("x"))
	zeros := frame(t, make([]byte, 64<<20), true)
	for name, c := range map[string]struct {
		bomb []byte
		most int
	}{
		// Magic, descriptor with 8 bytes of size, window, the size, and blocks that
		// repeat a byte 128 KiB times.
		"an endless frame": {append([]byte{0x28, 0xb5, 0x2f, 0xfd, 0xc0, 0x58, 0, 0, 0, 0, 0, 0, 0, 1}, bytes.Repeat([]byte{0x02, 0, 0x10, 0}, 10_000)...), 0},
		"many frames":      {bytes.Repeat(zeros, 100), 64 << 20},
	} {
		t.Run(name, func(t *testing.T) {
			place(t, root, digest, archive.Zstd, c.bomb)
			r, err := d.Open(t.Context(), digest)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			if n, err := io.Copy(io.Discard, r); !errors.Is(err, archive.ErrCorrupt) || n > int64(c.most) {
				t.Errorf("%d bytes made %d, %v; want %d at the most", len(c.bomb), n, err, c.most)
			}
		})
	}
}

// Two files of one content are one content, as young as the younger, whose bytes may be about to
// be needed; and other files are none.
func TestDirListsContentsOnly(t *testing.T) {
	root := t.TempDir()
	d := openDir(t, root)
	content := bytes.Repeat([]byte("page "), 5000)
	digest := archivetest.Digest(content)
	stored := frame(t, content, true)
	place(t, root, digest, archive.Plain, content)
	place(t, root, digest, archive.Zstd, stored)
	young := time.Now().Add(-time.Hour).Truncate(time.Second)
	for coding, at := range map[archive.Coding]time.Time{archive.Plain: young.AddDate(0, 0, -1), archive.Zstd: young} {
		if err := os.Chtimes(filepath.Join(root, filepath.FromSlash(archive.Name(digest, coding))), at, at); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{
		"notes.txt", "aa/notes.txt", "aa/bb/notes.raw", "aa/bb/" + digest + ".raw", "AA/bb/x.raw", "tmp/" + digest + ".raw",
		digest[:2] + "/" + digest[2:4] + "/" + digest, digest[:2] + "/" + digest[2:4] + "/" + digest + ".raw.bak",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	n := 0
	for info, err := range d.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; info.Digest != digest || info.Size != int64(len(content)+len(stored)) || !info.At.Equal(young) {
			t.Errorf("%+v, want that of %s", info, young)
		}
	}
	if n != 1 {
		t.Errorf("%d contents, want 1", n)
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
