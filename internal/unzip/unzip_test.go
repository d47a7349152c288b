package unzip_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"recrawl/internal/unzip"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestMembers(t *testing.T) {
	t.Parallel()
	one, two := zipped(t, "one "), zipped(t, "two")
	for name, tc := range map[string]struct {
		in, want string
		err      error
	}{
		"one member":           {one, "one ", nil},
		"two":                  {one + two, "one two", nil},
		"an empty one":         {one + zipped(t, "") + two, "one two", nil},
		"zeros behind":         {one + two + strings.Repeat("\x00", 512), "one two", nil},
		"a line feed behind":   {one + "\n", "one ", nil},
		"the begin of another": {one + two[:5], "one ", io.ErrUnexpectedEOF},
		"cut off":              {one[:len(one)-6], "one ", io.ErrUnexpectedEOF},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := unzip.NewReader(bufio.NewReader(strings.NewReader(tc.in)))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(iotest.OneByteReader(r))
			if string(got) != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%q, %v; want %q, %v", got, err, tc.want, tc.err)
			}
		})
	}
}

// An error of the body behind a member is the body's, and no end.
func TestBodyThatBreaks(t *testing.T) {
	t.Parallel()
	broken := errors.New("reset")
	r, err := unzip.NewReader(bufio.NewReader(io.MultiReader(strings.NewReader(zipped(t, "one")), iotest.ErrReader(broken))))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); string(got) != "one" || !errors.Is(err, broken) {
		t.Errorf("%q, %v", got, err)
	}
}

// FuzzMembers: whatever members hold and whatever follows them, their contents are read one after the
// other, however they come.
func FuzzMembers(f *testing.F) {
	f.Add("abc", "def", "\x00\x00", uint8(1))
	f.Add("", "x", "\x1f", uint8(2))
	f.Fuzz(func(t *testing.T, a, b, behind string, how uint8) {
		if unzip.IsGzip([]byte(behind)) {
			return
		}
		var in io.Reader = strings.NewReader(zipped(t, a) + zipped(t, b) + behind)
		switch how % 3 {
		case 1:
			in = iotest.OneByteReader(in)
		case 2:
			in = iotest.DataErrReader(in)
		}
		r, err := unzip.NewReader(bufio.NewReaderSize(in, 16))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || string(got) != a+b {
			t.Errorf("%q, %v; want %q", got, err, a+b)
		}
	})
}
