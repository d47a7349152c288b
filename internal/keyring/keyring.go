// Package keyring encrypts recrawl's data in Temporal. A ring has several keys, each with
// a name that travels with the data that it encrypted, so that a key can be replaced while
// everything written before stays readable.
package keyring

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"
)

// keySize is that of AES-256.
const keySize = 32

// Ring encrypts with one key and decrypts with all. The zero Ring has none. Neither its
// printed form nor any error shows a key.
type Ring struct {
	first string                  // "" encrypts nothing
	keys  *map[string]cipher.AEAD // a pointer, so that rings can be compared
}

// Encrypts reports whether Seal encrypts.
func (r Ring) Encrypts() bool { return r.first != "" }

// String says which key encrypts, and how many there are.
func (r Ring) String() string {
	if r.keys == nil {
		return "keyring()"
	}
	return fmt.Sprintf("keyring(%s, of %d)", r.first, len(*r.keys))
}

func (r Ring) key(name string) cipher.AEAD {
	if r.keys == nil {
		return nil
	}
	return (*r.keys)[name]
}

// GoString keeps %#v from printing the keys.
func (r Ring) GoString() string { return r.String() }

// Setting is the variable with the list that Parse reads.
const Setting = "RECRAWL_ENCRYPTION_KEYS"

// LockedError says that a ring cannot decrypt something, and what to do.
type LockedError struct {
	Key     string // that it needs
	Unknown bool   // the ring has no key of this name; otherwise its key does not fit
}

func (e *LockedError) Error() string {
	if e.Unknown {
		return fmt.Sprintf("encrypted with the key %q, which is not in %s: add it there as %s=file:PATH or %s=env:NAME", e.Key, Setting, e.Key, e.Key)
	}
	return fmt.Sprintf("it does not decrypt with the key %q of %s: another key had this name, or the data was changed", e.Key, Setting)
}

// Seal encrypts data with the first key and returns that key's name, "" and data itself
// if the ring encrypts nothing.
func (r Ring) Seal(data []byte) (key string, sealed []byte, err error) {
	if r.first == "" {
		return "", data, nil
	}
	// The AEAD draws a random nonce for each message, and puts it before it.
	return r.first, r.key(r.first).Seal(nil, nil, data, []byte(r.first)), nil
}

// Open decrypts data that Seal encrypted with the key of this name. The error is a
// *LockedError.
func (r Ring) Open(key string, sealed []byte) ([]byte, error) {
	aead := r.key(key)
	if aead == nil {
		return nil, &LockedError{Key: key, Unknown: true}
	}
	data, err := aead.Open(nil, nil, sealed, []byte(key))
	if err != nil {
		return nil, &LockedError{Key: key}
	}
	return data, nil
}

// none, as the first word of a list, decrypts with the other keys and encrypts nothing.
const none = "none"

// Key names are short: they travel with every message, some of which have little room.
var keyName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$`)

// Parse reads "NAME=file:PATH,NAME=env:VARIABLE": the places of keys, never keys. The first
// one encrypts, unless the word "none" stands before it. No error repeats a text that may
// be a key.
func Parse(list string, getenv func(string) string) (Ring, error) {
	keys := map[string]cipher.AEAD{}
	ring := Ring{keys: &keys}
	for i, word := range strings.Split(list, ",") {
		word = strings.TrimSpace(word)
		if word == none && i == 0 {
			continue
		}
		name, where, _ := strings.Cut(word, "=")
		if !keyName.MatchString(name) || name == none {
			return Ring{}, fmt.Errorf("entry %d: write NAME=file:PATH or NAME=env:VARIABLE, the name of 1 to 32 of A-Z a-z 0-9 . _ -, with commas between; only the first may be the word none", i+1)
		}
		if keys[name] != nil {
			return Ring{}, fmt.Errorf("%s is named twice", name)
		}
		text, err := fetch(name, where, getenv)
		if err != nil {
			return Ring{}, err
		}
		if keys[name], err = aeadOf(name, text); err != nil {
			return Ring{}, err
		}
		if i == 0 {
			ring.first = name
		}
	}
	if len(keys) == 0 {
		return Ring{}, errors.New("none alone names no key: unset the variable")
	}
	return ring, nil
}

// fetch reads a key's text from its place.
func fetch(name, where string, getenv func(string) string) (string, error) {
	kind, at, _ := strings.Cut(where, ":")
	switch {
	case kind == "file" && at != "":
		data, err := os.ReadFile(at)
		if err != nil {
			return "", fmt.Errorf("%s: %w", name, err)
		}
		return string(data), nil
	case kind == "env" && at != "":
		text := getenv(at)
		if text == "" {
			return "", fmt.Errorf("%s: the variable %s is empty", name, at)
		}
		return text, nil
	}
	return "", fmt.Errorf("%s: say where the key is, with file:PATH or env:VARIABLE; a key itself is not taken here, where logs and process lists may show it", name)
}

// aeadOf makes a key from its text.
func aeadOf(name, text string) (cipher.AEAD, error) {
	text = strings.TrimSpace(text)
	key, err := hex.DecodeString(text)
	if err != nil || len(key) != keySize {
		key, err = base64.StdEncoding.DecodeString(text)
	}
	if err != nil || len(key) != keySize {
		return nil, fmt.Errorf("%s: this is not a key of %d bytes in base64 or hexadecimal: make one with `openssl rand -base64 %d`", name, keySize, keySize)
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return cipher.NewGCMWithRandomNonce(block)
}
