package web

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"recrawl/internal/archive"
)

// damaged is an archive in which other bytes have taken the place of all contents.
type damaged struct {
	Contents
	bytes []byte
}

func (d damaged) Open(_ context.Context, digest string) (io.ReadCloser, error) {
	return archive.Decode(io.NopCloser(bytes.NewReader(d.bytes)), archive.Plain, digest), nil
}

// Nobody takes damaged bytes for those of a page: a short answer is an error, and a long one
// breaks off.
func TestDamagedBody(t *testing.T) {
	t.Parallel()
	w := newPageWorld(t)
	w.shop()
	for _, size := range []int{0, 10, mostChecked - 1, mostChecked, mostChecked + 1, 3 * mostChecked} {
		w.server.Files = damaged{Contents: w.files, bytes: bytes.Repeat([]byte("x"), size)}
		served := httptest.NewServer(w.server.Handler())
		answer, err := http.Get(served.URL + w.at("/", "/versions/1/body"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		served.Close()
		refused := answer.StatusCode == http.StatusInternalServerError && strings.Contains(string(text), archive.ErrCorrupt.Error())
		if broken := err != nil; refused == broken || refused != (size <= mostChecked) {
			t.Errorf("%d bytes: %d, %d bytes, %v", size, answer.StatusCode, len(text), err)
		}
	}
}
