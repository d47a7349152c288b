package tsvector

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"recrawl/internal/search"
)

// A key stands among the words of a page, so that a question about one host, or about what is
// below one address, is answered by the same index: it need not look at all pages with a word that
// are elsewhere. A key begins with a character that no word has.
const (
	keyOfHost   = "\x01"
	keyOfFolder = "\x02"
)

// mostFolders is how many folders of a URL have a key, the site itself being the first. What
// is further below is told apart by the URL.
const mostFolders = 5

// keysOf are those of a document.
func keysOf(d search.Document) []string {
	folders := foldersOf(kept(d.URL))
	keys := make([]string, 0, 1+len(folders))
	keys = append(keys, keyOf(keyOfHost, kept(d.Host)))
	for _, folder := range folders {
		keys = append(keys, keyOf(keyOfFolder, folder))
	}
	return keys
}

// keyOf shortens a text to a key: to 64 bits, of which nobody finds a second text.
func keyOf(kind, text string) string {
	sum := sha256.Sum256([]byte(text))
	return kind + base64.RawURLEncoding.EncodeToString(sum[:8])
}

// foldersOf are the beginnings of a URL, or of a prefix of one, that end with the slash behind
// its host or a later one of its path: the first few. A URL has all those of each of its prefixes.
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

// choice is how a question about some pages is asked.
type choice struct {
	keys []string
	// prefix is what the keys do not say: URLs must be compared with it. "" if they say it all.
	prefix string
}

// choiceOf chooses the pages that a query is about.
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
