// Package archivetest states the promises of archive.Store as a test that each
// driver runs.
package archivetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"recrawl/internal/archive"
)

// Run runs the suite. open returns an empty store that belongs to the test.
func Run(t *testing.T, open func(t *testing.T) archive.Store) {
	cases := []struct {
		name string
		test func(t *testing.T, s archive.Store)
	}{
		{"what was committed can be read", roundTrip},
		{"writing in pieces is writing at once", pieces},
		{"nothing is seen before the commit", invisible},
		{"aborting leaves nothing", abort},
		{"a writer is used once", once},
		{"the same content is kept once", twice},
		{"concurrent writers of one content agree", concurrent},
		{"deleted content is gone and can return", deletion},
		{"what is not there is not found", missing},
		{"what is there is listed in order", listed},
		{"a listing goes on behind a digest", listedOn},
		{"a listing may be left", listedInPart},
		{"compression keeps every byte", compressed},
		{"only digests are looked up", hostile},
		{"a cancelled context ends the work", cancelled},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { c.test(t, open(t)) })
	}
}

// Put stores content and returns its digest.
func Put(t testing.TB, s archive.Store, content []byte) string {
	t.Helper()
	w := create(t, s)
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		t.Fatalf("write: %v", err)
	}
	digest, size, err := w.Commit()
	if err != nil {
		t.Fatalf("commit: %v", err)
	}
	if digest != Digest(content) || size != int64(len(content)) {
		t.Fatalf("commit: %s, %d bytes; want %s, %d", digest, size, Digest(content), len(content))
	}
	return digest
}

// Damaged is an archive in which the stored bytes of one content are others than they were.
type Damaged struct {
	archive.Store
	Digest string
}

// Open implements archive.Store.
func (d Damaged) Open(ctx context.Context, digest string) (io.ReadCloser, error) {
	if digest == d.Digest {
		return archive.Decode(io.NopCloser(strings.NewReader("other bytes")), archive.Plain, digest), nil
	}
	return d.Store.Open(ctx, digest)
}

// Digest returns the SHA-256 of content in hex.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

func create(t testing.TB, s archive.Store) archive.Writer {
	t.Helper()
	w, err := s.Create(t.Context())
	if err != nil {
		t.Fatalf("create: %v", err)
	}
	return w
}

func has(t *testing.T, s archive.Store, digest string) bool {
	t.Helper()
	ok, err := s.Has(t.Context(), digest)
	if err != nil {
		t.Fatalf("has: %v", err)
	}
	return ok
}

func read(t *testing.T, s archive.Store, digest string) []byte {
	t.Helper()
	r, err := s.Open(t.Context(), digest)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	content, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatalf("read: %v", err)
	}
	return content
}

// text returns reproducible bytes that compress well, like pages.
func text(n int) []byte {
	words := strings.Fields("the market opens quiet <p> a river of letters </p> under every bridge <a href=/winter> season")
	source := rand.New(rand.NewPCG(2, uint64(n)))
	var b bytes.Buffer
	for b.Len() < n {
		b.WriteString(words[source.IntN(len(words))] + " ")
	}
	return b.Bytes()[:n]
}

// random returns reproducible bytes that no coding makes smaller.
func random(n int) []byte {
	content := make([]byte, n)
	source := rand.New(rand.NewPCG(1, uint64(n)))
	for i := range content {
		content[i] = byte(source.Uint32())
	}
	return content
}

func roundTrip(t *testing.T, s archive.Store) {
	for _, content := range [][]byte{nil, []byte("a"), []byte("<html>é\x00"), random(3 << 20), bytes.Repeat([]byte("z"), 1<<20)} {
		digest := Put(t, s, content)
		if !has(t, s, digest) {
			t.Errorf("%d bytes: not there after the commit", len(content))
		}
		if got := read(t, s, digest); !bytes.Equal(got, content) {
			t.Errorf("%d bytes: read %d others", len(content), len(got))
		}
	}
}

func pieces(t *testing.T, s archive.Store) {
	content := random(100_000)
	w := create(t, s)
	defer w.Abort()
	for rest := content; len(rest) > 0; {
		n := min(len(rest), 777)
		if m, err := w.Write(rest[:n]); err != nil || m != n {
			t.Fatalf("write: %d, %v", m, err)
		}
		rest = rest[n:]
	}
	digest, size, err := w.Commit()
	if err != nil || digest != Digest(content) || size != int64(len(content)) {
		t.Errorf("commit: %s, %d, %v", digest, size, err)
	}
}

func invisible(t *testing.T, s archive.Store) {
	content := []byte("not yet")
	w := create(t, s)
	defer w.Abort()
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	if has(t, s, Digest(content)) {
		t.Error("there before the commit")
	}
}

func abort(t *testing.T, s archive.Store) {
	content := []byte("never mind")
	w := create(t, s)
	if _, err := w.Write(content); err != nil {
		t.Fatal(err)
	}
	w.Abort()
	w.Abort() // does nothing
	if has(t, s, Digest(content)) {
		t.Error("there after the abort")
	}
	if _, _, err := w.Commit(); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("commit after abort: %v", err)
	}
}

func once(t *testing.T, s archive.Store) {
	w := create(t, s)
	if _, _, err := w.Commit(); err != nil {
		t.Fatal(err)
	}
	if _, _, err := w.Commit(); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("second commit: %v", err)
	}
	if _, err := w.Write([]byte("x")); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("write after commit: %v", err)
	}
	w.Abort()
	if !has(t, s, Digest(nil)) {
		t.Error("abort after commit removed the content")
	}
}

func twice(t *testing.T, s archive.Store) {
	content := random(5000)
	first, second := Put(t, s, content), Put(t, s, content)
	if first != second || !bytes.Equal(read(t, s, first), content) {
		t.Errorf("%s, then %s", first, second)
	}
}

func concurrent(t *testing.T, s archive.Store) {
	content := random(50_000)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			w, err := s.Create(t.Context())
			if err != nil {
				t.Errorf("create: %v", err)
				return
			}
			defer w.Abort()
			if _, err := w.Write(content); err != nil {
				t.Errorf("write: %v", err)
			}
			if digest, _, err := w.Commit(); err != nil || digest != Digest(content) {
				t.Errorf("commit: %s, %v", digest, err)
			}
		})
	}
	all.Wait()
	if got := read(t, s, Digest(content)); !bytes.Equal(got, content) {
		t.Errorf("read %d other bytes", len(got))
	}
}

func deletion(t *testing.T, s archive.Store) {
	content := []byte("take me down")
	digest := Put(t, s, content)
	other := Put(t, s, []byte("leave me"))
	for range 2 { // the second time there is nothing to delete
		if err := s.Delete(t.Context(), digest); err != nil {
			t.Fatalf("delete: %v", err)
		}
		if has(t, s, digest) {
			t.Error("there after the deletion")
		}
	}
	if !has(t, s, other) {
		t.Error("another content went too")
	}
	Put(t, s, content)
	if got := read(t, s, digest); !bytes.Equal(got, content) {
		t.Error("did not return")
	}
}

func missing(t *testing.T, s archive.Store) {
	digest := Digest([]byte("nowhere"))
	if has(t, s, digest) {
		t.Error("has what was never stored")
	}
	if _, err := s.Open(t.Context(), digest); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("open: %v", err)
	}
}

// list collects a listing, which must be in order.
func list(t *testing.T, s archive.Store, after string) []archive.Info {
	t.Helper()
	var all []archive.Info
	for info, err := range s.List(t.Context(), after) {
		if err != nil {
			t.Fatalf("list: %v", err)
		}
		if n := len(all); info.Digest <= after || n > 0 && info.Digest <= all[n-1].Digest {
			t.Fatalf("list: %s out of order", info.Digest)
		}
		all = append(all, info)
	}
	return all
}

func listed(t *testing.T, s archive.Store) {
	if all := list(t, s, ""); len(all) > 0 {
		t.Fatalf("an empty archive lists %v", all)
	}
	// File systems and servers round times to seconds at the worst.
	began := time.Now().Add(-2 * time.Second)
	contents := map[string][]byte{}
	for _, content := range [][]byte{nil, []byte("small"), random(20_000), text(200_000)} {
		contents[Put(t, s, content)] = content
	}
	w := create(t, s)
	defer w.Abort()
	if _, err := w.Write([]byte("not committed")); err != nil {
		t.Fatal(err)
	}
	all := list(t, s, "")
	if len(all) != len(contents) {
		t.Errorf("%d contents are listed, want %d", len(all), len(contents))
	}
	for _, info := range all {
		content, ok := contents[info.Digest]
		switch n := int64(len(content)); {
		case !ok:
			t.Errorf("%s is listed and was not stored", info.Digest)
		case n == 200_000 && info.Size > n/2:
			t.Errorf("%d bytes of text take %d", n, info.Size)
		case n < 200_000 && info.Size != n:
			t.Errorf("%d small or random bytes take %d", n, info.Size)
		}
		if end := time.Now().Add(2 * time.Second); info.At.Before(began) || info.At.After(end) {
			t.Errorf("stored at %s, not between %s and %s", info.At, began, end)
		}
	}
	gone := all[1].Digest
	if err := s.Delete(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for _, info := range list(t, s, "") {
		if info.Digest == gone {
			t.Error("a deleted content is listed")
		}
	}
}

func listedOn(t *testing.T, s archive.Store) {
	var digests []string
	for i := range 40 {
		digests = append(digests, Put(t, s, fmt.Append(nil, i)))
	}
	slices.Sort(digests)
	for _, from := range []int{0, 1, 17, 38, 39} {
		var got []string
		for _, info := range list(t, s, digests[from]) {
			got = append(got, info.Digest)
		}
		if !slices.Equal(got, digests[from+1:]) {
			t.Errorf("%d contents behind number %d, want %d", len(got), from, 39-from)
		}
	}
	missing := strings.Repeat("8", 64) // a digest need not be there
	want := slices.IndexFunc(digests, func(d string) bool { return d > missing })
	if got := list(t, s, missing); len(got) != 40-want {
		t.Errorf("%d contents behind %s, want %d", len(got), missing, 40-want)
	}
	if got := list(t, s, strings.Repeat("f", 64)); len(got) > 0 {
		t.Errorf("%d contents behind the last digest", len(got))
	}
}

func listedInPart(t *testing.T, s archive.Store) {
	for i := range 10 {
		Put(t, s, fmt.Append(nil, i))
	}
	n := 0
	for _, err := range s.List(t.Context(), "") {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("left after %d contents", n)
	}
}

func compressed(t *testing.T, s archive.Store) {
	for _, n := range []int{1, 4095, 4096, 4097, 64 << 10, 1<<20 + 1, 5 << 20} {
		for kind, content := range map[string][]byte{"text": text(n), "random": random(n), "zeros": make([]byte, n)} {
			if got := read(t, s, Put(t, s, content)); !bytes.Equal(got, content) {
				t.Errorf("%d bytes of %s: read %d others", n, kind, len(got))
			}
		}
	}
}

func hostile(t *testing.T, s archive.Store) {
	good := Put(t, s, []byte("x"))
	for _, digest := range []string{
		"", good[:63], good + "0", strings.ToUpper(good), "../" + good[3:], strings.Repeat("/", 64), strings.Repeat("g", 64),
		strings.Repeat("é", 32), good[:62] + "\x00a", strings.Repeat(".", 64),
	} {
		if _, err := s.Open(t.Context(), digest); !errors.Is(err, archive.ErrBadDigest) {
			t.Errorf("open %q: %v", digest, err)
		}
		if _, err := s.Has(t.Context(), digest); !errors.Is(err, archive.ErrBadDigest) {
			t.Errorf("has %q: %v", digest, err)
		}
		if err := s.Delete(t.Context(), digest); !errors.Is(err, archive.ErrBadDigest) {
			t.Errorf("delete %q: %v", digest, err)
		}
		if digest == "" {
			continue // lists from the beginning
		}
		for _, err := range s.List(t.Context(), digest) {
			if !errors.Is(err, archive.ErrBadDigest) {
				t.Errorf("list after %q: %v", digest, err)
			}
		}
	}
}

func cancelled(t *testing.T, s archive.Store) {
	digest := Put(t, s, []byte("x"))
	ctx, cancel := context.WithCancel(t.Context())
	w, err := s.Create(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	cancel()
	if _, err := w.Write([]byte("late")); !errors.Is(err, context.Canceled) {
		t.Errorf("write: %v", err)
	}
	if _, err := s.Create(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("create: %v", err)
	}
	if _, err := s.Open(ctx, digest); !errors.Is(err, context.Canceled) {
		t.Errorf("open: %v", err)
	}
	if _, err := s.Has(ctx, digest); !errors.Is(err, context.Canceled) {
		t.Errorf("has: %v", err)
	}
	if err := s.Delete(ctx, digest); !errors.Is(err, context.Canceled) {
		t.Errorf("delete: %v", err)
	}
	err = nil
	for _, err = range s.List(ctx, "") {
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("list: %v", err)
	}
	if has(t, s, Digest([]byte("late"))) || !has(t, s, digest) {
		t.Error("what was cancelled was done")
	}
}
