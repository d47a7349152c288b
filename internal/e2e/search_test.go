package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// found is the part of a hit that the tests read.
type found struct {
	Page    int64  `json:"page"`
	URL     string `json:"url"`
	Snippet string `json:"snippet"`
}

// library is a site of a home page and some pages with words to be searched for.
func library() http.Handler {
	texts := map[string]string{
		"/tokyo": "<title>Tokyo</title><p>東京都に住む人々の暮らし", "/kyoto": "<title>Kyoto</title><p>京都の寺と庭",
		"/retry": "<title>Retries</title><h2>The retry policy</h2><p>An activity is tried again.", "/secret": "<title>Unmentionable</title><p>It is an unspeakable thing of Tōkyō.",
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch text, ok := texts[r.URL.Path]; {
		case ok:
			fmt.Fprint(w, text)
		case r.URL.Path == "/":
			fmt.Fprint(w, "<title>Home</title><p><a href=/tokyo>One</a><p><a href=/kyoto>Two</a><p><a href=/retry>Three</a><p><a href=/secret>Four</a>")
		default:
			http.NotFound(w, r)
		}
	})
}

// TestSearchFollowsTheCrawl finds the words of pages by the command and the page's server;
// the index comes back when its file is deleted, and has nothing of forgotten pages.
func TestSearchFollowsTheCrawl(t *testing.T) {
	sideBySide(t, 60)
	s := serve(t, library())
	data := filepath.Join(t.TempDir(), "data")
	d := startDev(t, data, append(crawlArgs(s, "10ms"), "--search")...)
	search := func(words ...string) (urls []string) {
		t.Helper()
		for _, h := range lines[found](d, append([]string{"--output", "json", "search", "t"}, words...)...) {
			urls = append(urls, strings.TrimPrefix(h.URL, s.url))
		}
		slices.Sort(urls)
		return urls
	}
	finds := func(words string, want ...string) func() bool {
		return func() bool { return slices.Equal(search(words), want) }
	}
	d.await("all pages are in the index", func() bool {
		return len(search("東京"))+len(search("寺"))+len(search("activity"))+len(search("unspeakable")) == 4
	})
	for words, want := range map[string][]string{
		"東京": {"/tokyo"}, "京都": {"/kyoto", "/tokyo"}, "東京都": {"/tokyo"}, "RETRY policy": {"/retry"}, "tokyo": {"/secret", "/tokyo"}, `"`: nil,
	} {
		if got := search(words); !slices.Equal(got, want) {
			t.Errorf("%s finds %q, want %q", words, got, want)
		}
	}
	if hits := lines[found](d, "--output", "json", "search", "t", "東京"); len(hits) != 1 || !strings.Contains(hits[0].Snippet, "東京都に住む") {
		t.Errorf("%+v", hits)
	}
	if out, code, errout := d.starter("search", "t", "--rebuild"); code != 0 || !strings.Contains(out, "filled anew: 5 pages") {
		t.Errorf("rebuild: %d, %s%s", code, out, errout)
	}
	if !finds("京都", "/kyoto", "/tokyo")() {
		t.Errorf("after a rebuild 京都 finds %q", search("京都"))
	}

	response, err := http.Get(d.state().Web + "/crawls/t/search.json?q=" + "%E6%9D%B1%E4%BA%AC")
	if err != nil {
		t.Fatal(err)
	}
	var answer struct{ Items []found }
	err = json.NewDecoder(response.Body).Decode(&answer)
	if response.Body.Close(); err != nil || len(answer.Items) != 1 {
		t.Errorf("%+v, %v", answer, err)
	}

	file := filepath.Join(data, "search.db")
	for _, suffix := range []string{"-wal", "-shm", ""} {
		_ = os.Remove(file + suffix)
	}
	d.await("the index is filled again", finds("京都", "/kyoto", "/tokyo"))

	d.await("it has the page that is to be forgotten", finds("unspeakable", "/secret"))
	if out, code, errout := d.starter("forget", s.url+"/secret", "--yes"); code != 0 {
		t.Fatalf("forget: %d: %s%s", code, out, errout)
	}
	for _, suffix := range []string{"", "-wal"} {
		content, err := os.ReadFile(file + suffix)
		if err != nil && suffix == "" {
			t.Fatal(err)
		}
		for _, word := range []string{"nspeakable", "nmentionable", "/secret"} {
			if bytes.Contains(content, []byte(word)) {
				t.Errorf("%s%s has %s", file, suffix, word)
			}
		}
	}
	if !finds("unspeakable")() {
		t.Error("what was forgotten is found")
	}
	if out, code, errout := d.starter("stop", "t"); code != 0 {
		t.Fatalf("stop: %d: %s%s", code, out, errout)
	}
	if out, code, errout := d.starter("delete", "t", "--yes"); code != 0 {
		t.Fatalf("delete: %d: %s%s", code, out, errout)
	}
	if found := tablesWith(t, file, s.url); len(found) > 0 {
		t.Errorf("after the crawl was deleted, the index has it in %v", found)
	}
	d.stop()
}
