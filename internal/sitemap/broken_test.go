package sitemap

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"testing"
	"unicode/utf16"
)

const declaration = `<?xml version="1.0" encoding="UTF-8"?>`

// TestReadWhatIsNotQuiteXML: an error in one place costs only that place.
func TestReadWhatIsNotQuiteXML(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		body    string
		want    string
		dropped map[string]int
	}{
		"a byte of Latin-1 in a URL": {
			declaration + urlset + "<url><loc>https://a.test/1</loc></url><url><loc>https://a.test/caf\xe9</loc></url><url><loc>https://a.test/2</loc></url></urlset>",
			"/1 /2",
			map[string]int{DropBroken: 1},
		},
		"a byte of Latin-1 elsewhere in an entry": {
			urlset + "<url><loc>https://a.test/1</loc><image:title>caf\xe9</image:title><lastmod>2026-01-02</lastmod></url><url><loc>https://a.test/2</loc></url></urlset>",
			"/1@2026-01-02T00:00:00 /2",
			map[string]int{DropBroken: 1},
		},
		"a byte of Latin-1 in an attribute of an extension": {
			urlset + "<url><loc>https://a.test/1</loc><image:image x='\xe9'><image:loc>https://a.test/i.png</image:loc></image:image></url><url><loc>https://a.test/2</loc></url></urlset>",
			"/1 /2",
			map[string]int{DropBroken: 1},
		},
		"a control character": {
			urlset + "<url><loc>https://a.test/1</loc></url><url><loc>https://a.test/\x01</loc></url><url><loc>https://a.test/2</loc></url></urlset>",
			"/1 /2",
			map[string]int{DropBroken: 1},
		},
		"a control character by its number": {
			urlset + "<url><loc>https://a.test/&#11;</loc></url><url><loc>https://a.test/2</loc></url></urlset>", "/2", map[string]int{DropBroken: 1},
		},
		"a byte of Latin-1 between entries": {
			urlset + "<url><loc>https://a.test/1</loc></url>\xe9<url><loc>https://a.test/2</loc></url></urlset>", "/1 /2", map[string]int{DropBroken: 1},
		},
		"version 1.1": {
			`<?xml version="1.1" encoding="UTF-8"?>` + urlset + "<url><loc>https://a.test/1</loc></url></urlset>", "/1", nil,
		},
		"UTF-8 that says UTF-16": {
			`<?xml version="1.0" encoding="utf-16"?>` + urlset + "<url><loc>https://a.test/é</loc></url></urlset>", "/%C3%A9", nil,
		},
		"an encoding that nobody knows": {
			`<?xml version="1.0" encoding="utf8mb4"?>` + urlset + "<url><loc>https://a.test/é</loc></url></urlset>", "/%C3%A9", nil,
		},
		"a declaration behind a line, and one in the middle": {
			"\n" + declaration + urlset + `<url><loc>https://a.test/1</loc></url><?xml version="1.1"?><url><loc>https://a.test/2</loc></url></urlset>`,
			"/1 /2",
			map[string]int{DropBroken: 1},
		},
		"several loc in an entry": {
			urlset + "<url><loc>https://a.test/1</loc><lastmod>2026-01-02</lastmod><loc>https://a.test/2</loc><loc>https://a.test/3</loc><lastmod>2026-01-03</lastmod></url></urlset>",
			"/1@2026-01-02T00:00:00 /2 /3@2026-01-03T00:00:00", nil,
		},
		"several loc in an entry of an index": {
			"<sitemapindex><sitemap><loc>https://a.test/1.xml</loc><loc>https://a.test/2.xml</loc></sitemap></sitemapindex>", "/1.xml* /2.xml*", nil,
		},
		"text without loc": {
			urlset + "<url>\n https://a.test/1\n<lastmod>2026-01-02</lastmod></url><url>words</url><url>https://a.test/no<loc>https://a.test/2</loc></url></urlset>",
			"/1@2026-01-02T00:00:00 /2",
			map[string]int{DropNoURL: 1},
		},
		"text without entries": {
			urlset + "\nhttps://a.test/1\nhttps://a.test/2 words\n<url><loc>https://a.test/3</loc></url></urlset>", "/1 /2 /3", nil,
		},
		"hyphens in a comment, before the root too": {
			"<!-- -- made by -- -->" + urlset + "<!-- -- <url><loc>https://a.test/no</loc></url> --><url><loc>https://a.test/1</loc></url></urlset>",
			"/1",
			map[string]int{DropBroken: 2},
		},
		"a lonely bracket": {
			urlset + "<url><loc>https://a.test/1</loc><priority>< 1</priority></url><url><loc>https://a.test/2</loc></url></urlset>",
			"/1 /2",
			map[string]int{DropBroken: 1},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l, err := readText(t, tc.body)
			if err != nil || wordsOf(l) != tc.want || l.Problem != "" || !maps.Equal(l.Dropped, tc.dropped) {
				t.Errorf("%q, dropped %v, problem %q, %v; want %q, dropped %v", wordsOf(l), l.Dropped, l.Problem, err, tc.want, tc.dropped)
			}
		})
	}
}

// TestReadListsOfBytes: lines and headers may be wrong about their encoding, too.
func TestReadListsOfBytes(t *testing.T) {
	t.Parallel()
	without := []byte{}
	for _, unit := range utf16.Encode([]rune(urlset + "<url><loc>https://a.test/é</loc></url></urlset>")) {
		without = append(without, byte(unit), byte(unit>>8))
	}
	for name, tc := range map[string]struct {
		body, contentType, want string
		dropped                 map[string]int
	}{
		"lines":                    {"https://a.test/1\nhttps://a.test/\xe9\nhttps://a.test/2\n", "text/plain", "/1 /2", map[string]int{DropBroken: 1}},
		"lines that say UTF-8":     {"https://a.test/1\nhttps://a.test/\xe9\nhttps://a.test/2\n", "text/plain; charset=utf-8", "/1 /2", map[string]int{DropBroken: 1}},
		"a header that says UTF-8": {urlset + "<url><loc>https://a.test/\xe9</loc></url><url><loc>https://a.test/2</loc></url></urlset>", "text/xml; charset=utf-8", "/2", map[string]int{DropBroken: 1}},
		"a header that says UTF-16": {
			urlset + "<url><loc>https://a.test/é</loc></url></urlset>", "application/xml; charset=utf-16", "/%C3%A9", nil,
		},
		"UTF-16 without a mark": {string(without), "application/xml; charset=utf-16", "/%C3%A9", nil},
	} {
		l, err := Read(Source{Body: strings.NewReader(tc.body), URL: canonical(t, "https://a.test/"), ContentType: tc.contentType, MaxURLs: 10})
		if err != nil || wordsOf(l) != tc.want || l.Problem != "" || !maps.Equal(l.Dropped, tc.dropped) {
			t.Errorf("%s: %q, dropped %v, problem %q, %v", name, wordsOf(l), l.Dropped, l.Problem, err)
		}
	}
}

// TestOneBadByteInAMany: fifty thousand entries lose one.
func TestOneBadByteInAMany(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	b.WriteString(declaration + urlset)
	const entries = 50_000
	for i := range entries {
		bad := ""
		if i == 1000 {
			bad = "\xfc"
		}
		fmt.Fprintf(&b, "<url><loc>https://a.test/%d%s</loc></url>\n", i, bad)
	}
	b.WriteString("</urlset>")
	l, err := Read(Source{Body: &b, URL: canonical(t, "https://a.test/"), MaxURLs: entries})
	if err != nil || len(l.Entries) != entries-1 || l.Dropped[DropBroken] != 1 || l.Problem != "" {
		t.Errorf("%d entries, dropped %v, problem %q, %v", len(l.Entries), l.Dropped, l.Problem, err)
	}
}

// TestBrokenAllOver: a list that is broken everywhere is given up, with the entries
// read so far.
func TestBrokenAllOver(t *testing.T) {
	t.Parallel()
	body := endless(urlset+"<url><loc>https://a.test/1</loc></url>", "<", 2*maxBroken)
	l, err := Read(Source{Body: body, URL: canonical(t, "https://a.test/"), MaxURLs: 10})
	if err != nil || wordsOf(l) != "/1" || l.Problem != errBroken.Error() {
		t.Errorf("%q, problem %q, %v", wordsOf(l), l.Problem, err)
	}
}
