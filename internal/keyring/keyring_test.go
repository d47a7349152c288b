package keyring

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// text is a key in base64.
func text(b byte) string { return base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{b}, keySize)) }

func ring(t *testing.T, list string) Ring {
	t.Helper()
	r, err := Parse(list, func(name string) string { return map[string]string{"K1": text(1), "K2": text(2)}[name] })
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestSealOpen(t *testing.T) {
	t.Parallel()
	old, both, later := ring(t, "k1=env:K1"), ring(t, "k2=env:K2,k1=env:K1"), ring(t, "k2=env:K2")
	said := []byte("https://example.com/")
	key, sealed, err := old.Seal(said)
	if err != nil || key != "k1" || bytes.Contains(sealed, said) {
		t.Fatalf("%q %q %v", key, sealed, err)
	}
	if _, again, _ := old.Seal(said); bytes.Equal(again, sealed) {
		t.Error("the same text was encrypted twice in the same way")
	}
	for _, r := range []Ring{old, both} {
		if got, err := r.Open(key, sealed); err != nil || !bytes.Equal(got, said) {
			t.Errorf("%s opens %q, %v", r, got, err)
		}
	}
	if key, _, _ := both.Seal(said); key != "k2" {
		t.Errorf("%s encrypts with %s", both, key)
	}
	var locked *LockedError
	if _, err := later.Open(key, sealed); !errors.As(err, &locked) || *locked != (LockedError{"k1", true}) {
		t.Errorf("without the key: %v", err)
	}
	sealed[len(sealed)-1] ^= 1
	if _, err := old.Open(key, sealed); !errors.As(err, &locked) || locked.Unknown {
		t.Errorf("changed: %v", err)
	}
}

// Two keys of the same name are distinguished.
func TestSameName(t *testing.T) {
	t.Parallel()
	_, sealed, err := ring(t, "k=env:K1").Seal([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	var locked *LockedError
	if _, err := ring(t, "k=env:K2").Open("k", sealed); !errors.As(err, &locked) || locked.Unknown {
		t.Errorf("another key of the name: %v", err)
	}
}

func TestNone(t *testing.T) {
	t.Parallel()
	r := ring(t, "none,k1=env:K1")
	if key, said, err := r.Seal([]byte("x")); r.Encrypts() || key != "" || string(said) != "x" || err != nil {
		t.Errorf("%q %q %v", key, said, err)
	}
	_, sealed, err := ring(t, "k1=env:K1").Seal([]byte("y"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := r.Open("k1", sealed); string(got) != "y" || err != nil {
		t.Errorf("%q %v", got, err)
	}
}

func TestParseMistakes(t *testing.T) {
	t.Parallel()
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("c2VjcmV0LXNlY3JldA==\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for list, want := range map[string]string{
		text(7):                       "write NAME=file:PATH",
		"k1=" + text(7):               "a key itself is not taken",
		"k1=file:" + short:            "not a key of 32 bytes",
		"k1=file:/no/such":            "no such file",
		"k1=env:K9":                   "variable K9 is empty",
		"k1=env:K1,k1=env:K2":         "k1 is named twice",
		"k1=env:K1,":                  "entry 2",
		"k1=env:K1,none":              "entry 2",
		"none":                        "names no key",
		"a b=env:K1":                  "entry 1",
		strings.Repeat("k", 33) + "=": "entry 1",
	} {
		_, err := Parse(list, func(name string) string { return map[string]string{"K1": text(1), "K2": text(2)}[name] })
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", list, err, want)
			continue
		}
		if strings.Contains(err.Error(), text(7)) || strings.Contains(err.Error(), "c2Vjc") {
			t.Errorf("%q shows a key: %v", list, err)
		}
	}
}

func TestPrintsNoKey(t *testing.T) {
	t.Parallel()
	type settings struct{ Keys Ring }
	shown := fmt.Sprintf("%v %+v %#v %s", settings{ring(t, "k1=env:K1")}, settings{ring(t, "k1=env:K1")}, ring(t, "k1=env:K1"), ring(t, "k1=env:K1"))
	if !strings.Contains(shown, "keyring(k1, of 1)") || strings.Contains(shown, "1, 1, 1") {
		t.Error(shown)
	}
}

// A key is the same however its file writes it.
func TestKeyFiles(t *testing.T) {
	t.Parallel()
	key, sealed, err := ring(t, "k=env:K1").Seal([]byte("x"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "key")
	for _, written := range []string{text(1), text(1) + "\n", strings.Repeat("01", keySize) + "\n", "  " + strings.Repeat("01", keySize) + "\r\n"} {
		if err := os.WriteFile(file, []byte(written), 0o600); err != nil {
			t.Fatal(err)
		}
		r := ring(t, "none, k=file:"+file)
		if got, err := r.Open(key, sealed); string(got) != "x" || err != nil {
			t.Errorf("%q: %q, %v", written, got, err)
		}
	}
}
