package testsite

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"net/http"
	"strings"
	"sync"
)

const (
	listXML  = "HTTP/1.1 200 OK\r\nContent-Type: application/xml\r\n\r\n" + `<?xml version="1.0"?>`
	urlset   = `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
	feedPath = "/feed.xml"
	sitemaps = `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`
)

// lists returns the hostile lists of a host, by their paths.
func lists(host string) map[string]http.Handler {
	site := "http://" + host
	return map[string]http.Handler{
		// An index of itself, under ever more names.
		"/index.xml": says(listXML, sitemaps, numbered(5000, "<sitemap><loc>"+site+"/index.xml?%d</loc></sitemap>"), "</sitemapindex>"),
		// One page for ever, which has always just changed.
		"/endless.xml": repeats(listXML+urlset, "<url><loc>"+site+"/page</loc><lastmod>2099-01-01</lastmod></url>"),
		"/entities.xml": says(listXML, `<!DOCTYPE a [<!ENTITY a "`+strings.Repeat("lol", 100)+`">`, numbered(9, `<!ENTITY a%d "&a;&a;&a;&a;&a;&a;&a;&a;&a;&a;">`), "]>",
			urlset, "<url><loc>&a8;</loc></url></urlset>"),
		"/deep.xml":    says(listXML, strings.Repeat("<a>", 1_000_000)),
		"/bomb.xml.gz": plainBytes("application/gzip", zeros()),
		feedPath:       repeats("HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n<rss><channel>", "<item><link>"+site+"/fed</link><pubDate>now</pubDate></item>"),
	}
}

// listAttacks returns hosts whose sitemaps and feeds are the attack.
func listAttacks() []Attack {
	robots := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for path := range lists(r.Host) {
			if path != feedPath {
				fmt.Fprintf(w, "Sitemap: http://%s%s\n", r.Host, path)
			}
		}
	})
	return []Attack{{Name: "lists", Handler: withRobots(robots, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if list := lists(r.Host)[r.URL.Path]; list != nil {
			list.ServeHTTP(w, r)
			return
		}
		writePage(w, r, `<link rel="alternate" type="application/rss+xml" href="`+feedPath+`">`)
	}))}}
}

func plainBytes(mediaType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", mediaType)
		w.Write(body)
	})
}

// zeros returns more zero bytes than a list may have, compressed.
var zeros = sync.OnceValue(func() []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(make([]byte, 60<<20)) // to memory, which does not fail
	w.Close()
	return b.Bytes()
})
