package archive

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

func TestNames(t *testing.T) {
	digest := "abcd" + strings.Repeat("0", 60)
	for _, c := range Codings() {
		if got, coding, ok := ParseName(Name(digest, c)); got != digest || coding != c || !ok {
			t.Errorf("%s: %s, %s, %t", Name(digest, c), got, coding, ok)
		}
	}
	for _, name := range []string{
		"", "/", ".raw", "ab/cd/.raw", "ab/cd/" + digest, "ab/ce/" + digest + ".raw", digest + ".raw", "/ab/cd/" + digest + ".raw",
		"x/ab/cd/" + digest + ".raw", "ab/cd/" + digest + ".zst.raw", "ab/cd/" + strings.ToUpper(digest) + ".raw", "ab//cd/" + digest + ".raw",
	} {
		if digest, _, ok := ParseName(name); ok {
			t.Errorf("%q is a content's name: %s", name, digest)
		}
	}
}

var errBroken = errors.New("connection reset")

// A stored reader that fails is not a corrupt content.
func TestDecodeKeepsTheReadersError(t *testing.T) {
	content := bytes.Repeat([]byte("<p>words "), 10_000)
	for _, c := range Codings() {
		stored, digest := stored(t, content, c)
		for _, n := range []int{0, 2, len(stored) / 2, len(stored) - 1} {
			r := Decode(io.NopCloser(io.MultiReader(bytes.NewReader(stored[:n]), failing{})), c, digest)
			if _, err := io.Copy(io.Discard, r); !errors.Is(err, errBroken) || errors.Is(err, ErrCorrupt) {
				t.Errorf("%s broken off after %d bytes: %v", c, n, err)
			}
			if _, err := r.Read(make([]byte, 1)); !errors.Is(err, errBroken) {
				t.Errorf("%s, read on: %v", c, err)
			}
		}
	}
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errBroken }

// stored is content in a coding, with its digest.
func stored(t testing.TB, content []byte, c Coding) (file []byte, digest string) {
	t.Helper()
	var b bytes.Buffer
	s := spooled(t, content, func(name string, s *Spool) error {
		digest = name
		if c == Plain {
			b.Write(content)
			return nil
		}
		return compress(&b, io.NewSectionReader(s.file, 0, s.size), s.size, 1<<62) // whatever it saves
	})
	if _, _, err := s.Commit(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes(), digest
}

func spooled(t testing.TB, content []byte, store func(string, *Spool) error) *Spool {
	t.Helper()
	s, err := NewSpool(context.Background(), t.TempDir(), store)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Write(content); err != nil {
		t.Fatal(err)
	}
	return s
}

// A spool's files end with it, and have no names before.
func TestSpoolLeavesNothing(t *testing.T) {
	content := bytes.Repeat([]byte("<p>words "), 10_000)
	for name, fail := range map[string]error{"kept": nil, "failed": errBroken} {
		t.Run(name, func(t *testing.T) {
			s := spooled(t, content, func(_ string, s *Spool) error {
				return s.Encoded(func(r io.ReadSeeker, size int64, c Coding) error {
					if left := entries(t, s.folder); len(left) > 0 {
						t.Errorf("while it is stored: %v", left)
					}
					sent, err := io.ReadAll(r)
					if err != nil || int64(len(sent)) != size || c != Zstd {
						t.Errorf("%d bytes of %d in %s, %v", len(sent), size, c, err)
					}
					return fail
				})
			})
			folder := s.folder
			if _, _, err := s.Commit(); !errors.Is(err, fail) {
				t.Errorf("commit: %v", err)
			}
			if left := entries(t, folder); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

func entries(t *testing.T, folder string) []os.DirEntry {
	t.Helper()
	all, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestSpoolRefusesTooMuch(t *testing.T) {
	s := spooled(t, []byte("x"), nil)
	defer s.Abort()
	s.size = MaxContent - 1
	if _, err := s.Write([]byte("ab")); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := s.Write([]byte("a")); err != nil {
		t.Errorf("the last byte: %v", err)
	}
}

// FuzzStored puts any bytes where a content should be: they are the content, or
// reading them says that they are corrupt.
func FuzzStored(f *testing.F) {
	content := bytes.Repeat([]byte("<p>words "), 1000)
	good, digest := stored(f, content, Zstd)
	for _, seed := range [][]byte{good, good[:len(good)/2], append(slices.Clone(good), good...), content, nil, {0x28, 0xb5, 0x2f, 0xfd}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		for _, c := range Codings() {
			r := Decode(io.NopCloser(bytes.NewReader(file)), c, digest)
			got, err := io.ReadAll(io.LimitReader(r, 1<<20))
			if err == nil && len(got) < 1<<20 && !bytes.Equal(got, content) {
				t.Errorf("%s: %d bytes passed for the content", c, len(got))
			}
			if err != nil && !errors.Is(err, ErrCorrupt) {
				t.Errorf("%s: %v", c, err)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	})
}

// FuzzContent stores any content in the coding that suits it and reads it back.
func FuzzContent(f *testing.F) {
	f.Add([]byte(nil), 1)
	f.Add([]byte("<p>words "), 3000)
	f.Add([]byte{0x28, 0xb5, 0x2f, 0xfd, 0, 1, 2}, 700)
	f.Fuzz(func(t *testing.T, part []byte, times int) {
		content := bytes.Repeat(part, min(max(times, 0), 1<<20/(len(part)+1)))
		s := spooled(t, content, func(digest string, s *Spool) error {
			return s.Encoded(func(file io.ReadSeeker, _ int64, c Coding) error {
				got, err := io.ReadAll(Decode(io.NopCloser(file), c, digest))
				if err != nil || !bytes.Equal(got, content) {
					t.Errorf("%s of %d bytes: read %d, %v", c, len(content), len(got), err)
				}
				return nil
			})
		})
		if _, _, err := s.Commit(); err != nil {
			t.Error(err)
		}
	})
}

// manual is where Debian keeps PostgreSQL's manual, over a thousand pages.
const manual = "/usr/share/doc/postgresql-doc-*/html/*.html"

// manualPages are pages to measure on.
func manualPages(b *testing.B) [][]byte {
	b.Helper()
	files, err := filepath.Glob(manual)
	if err != nil || len(files) == 0 {
		b.Fatalf("no pages %s (%v): install postgresql-doc", manual, err)
	}
	var pages [][]byte
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			b.Fatal(err)
		}
		pages = append(pages, page)
	}
	return pages
}

// BenchmarkLevels is the measurement by which the level was chosen: how many times
// smaller the pages larger than a block become, and at which speed.
func BenchmarkLevels(b *testing.B) {
	pages := manualPages(b)
	for _, l := range []zstd.EncoderLevel{zstd.SpeedFastest, zstd.SpeedDefault, zstd.SpeedBetterCompression, zstd.SpeedBestCompression} {
		b.Run(l.String(), func(b *testing.B) {
			encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(l), zstd.WithWindowSize(window), zstd.WithEncoderConcurrency(1))
			if err != nil {
				b.Fatal(err)
			}
			defer encoder.Close()
			var plain, coded int64
			var buffer []byte
			for b.Loop() {
				for _, page := range pages {
					if len(page) > smallest {
						buffer = encoder.EncodeAll(page, buffer[:0])
						plain, coded = plain+int64(len(page)), coded+int64(len(buffer))
					}
				}
			}
			b.SetBytes(plain / int64(b.N))
			b.ReportMetric(float64(plain)/float64(coded), "ratio")
		})
	}
}

// BenchmarkDir stores and reads pages in a folder: new ones, and ones that are
// there already, as in most visits.
func BenchmarkDir(b *testing.B) {
	pages := manualPages(b)
	put := func(d *Dir, page []byte) string {
		w, err := d.Create(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if _, err := w.Write(page); err != nil {
			b.Fatal(err)
		}
		digest, _, err := w.Commit()
		if err != nil {
			b.Fatal(err)
		}
		return digest
	}
	open := func(b *testing.B) *Dir {
		d, err := OpenDir(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		return d
	}
	page := slices.MaxFunc(pages, func(x, y []byte) int { // one of 64 KiB or just less
		return min(len(x), 64<<10) - min(len(y), 64<<10)
	})[:64<<10]
	b.Run("new", func(b *testing.B) {
		d := open(b)
		b.SetBytes(int64(len(page)))
		for i := 0; b.Loop(); i++ {
			copy(page, []byte{byte(i), byte(i >> 8), byte(i >> 16)})
			put(d, page)
		}
	})
	b.Run("known", func(b *testing.B) {
		d := open(b)
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			put(d, page)
		}
	})
	b.Run("read", func(b *testing.B) {
		d := open(b)
		digest := put(d, page)
		b.SetBytes(int64(len(page)))
		for b.Loop() {
			r, err := d.Open(b.Context(), digest)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.Copy(io.Discard, r); err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
	})
}
