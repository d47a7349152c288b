package urlkey

import (
	"encoding/json"
	"errors"
	"os"
	"testing"
)

// TestWebPlatform: the behaviour on which browsers agree. Our identity is a
// function of theirs: an address resolves to the canonical form of the URL that a
// browser makes of it, and is refused where a browser refuses it, or where no
// resolver could look up the host.
func TestWebPlatform(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/wpt-http.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases [][3]*string
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		checkAsBrowsers(t, *c[0], *c[1], c[2])
	}
}

func checkAsBrowsers(t *testing.T, input, base string, want *string) {
	t.Helper()
	var from URL
	if base != "" {
		from = must(t, base)
	}
	got, err := Resolve(from, input)
	if want == nil {
		if err == nil {
			t.Errorf("%q on %q is no URL, but became %s", input, base, got)
		}
		return
	}
	theirs, wantErr := Canonical(*want)
	if got != theirs || wantErr != nil && !(errors.Is(wantErr, ErrHost) && errors.Is(err, ErrHost)) {
		t.Errorf("%q on %q became %q, %v; want %q, %v", input, base, got, err, theirs, wantErr)
	}
	if wantErr == nil {
		checkInvariants(t, got)
	}
}
