package tsvector

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"recrawl/internal/search"
)

// A key stands among the words of a page, so that the same index answers a query about one
// host, or about addresses below one: it need not look at all other pages with a word. A
// key begins with a character that no word has.
const (
	keyOfHost   = "\x01"
	keyOfFolder = "\x02"
)

// mostFolders is the number of folders of a URL that have a key, the site itself being the
// first. Pages further below are told apart by the URL.
const mostFolders = 5

// keysOf returns the keys of a document.
func keysOf(d search.Document) []string {
	folders := foldersOf(kept(d.URL))
	keys := make([]string, 0, 1+len(folders))
	keys = append(keys, keyOf(keyOfHost, kept(d.Host)))
	for _, folder := range folders {
		keys = append(keys, keyOf(keyOfFolder, folder))
	}
	return keys
}

// keyOf shortens a text to a key: to 64 bits, for which no second text is found.
func keyOf(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return kind + base64.RawURLEncoding.EncodeToString(sum[:8])
}

// foldersOf returns the first few beginnings of a URL, or of a prefix of one, that end with
// the slash after its host or a later one of its path. A URL has all those of each of its
// prefixes.
func foldersOf(url string) (folders []string) {
	from := strings.Index(url, "://")
	if from < 0 {
		return nil
	}
	from += len("://")
	for i := from; i < len(url) && len(folders) < mostFolders; i++ {
		switch url[i] {
		case '/':
			folders = append(folders, url[:i+1])
		case '?', '#':
			return folders
		}
	}
	return folders
}

// choice selects the pages of a query.
type choice struct {
	keys []string
	// prefix is the part that the keys do not cover: URLs must be compared with it. "" if
	// the keys cover it all.
	prefix string
}

// choiceOf returns the choice of a query.
func choiceOf(q search.Query) (c choice) {
	if q.Host != "" {
		c.keys = append(c.keys, keyOf(keyOfHost, kept(q.Host)))
	}
	prefix := kept(q.Prefix)
	folders := foldersOf(prefix)
	if len(folders) > 0 {
		c.keys = append(c.keys, keyOf(keyOfFolder, folders[len(folders)-1]))
	}
	if len(folders) == 0 || folders[len(folders)-1] != prefix {
		c.prefix = prefix
	}
	return c
}

// among narrows a tsquery to the pages of a choice.
func (c choice) among(words string) string {
	if len(c.keys) == 0 {
		return words
	}
	narrowed := "( " + words + " )"
	for _, key := range c.keys {
		narrowed += " & " + quoted(key)
	}
	return narrowed
}
