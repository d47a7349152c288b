package testsite

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// An error may hide behind a 200.
func TestSoftError(t *testing.T) {
	t.Parallel()
	trouble := Trouble{Status: 200, Window: Window{From: time.Hour, For: time.Hour}}
	page := Page{Path: "/", Title: "Home", ETag: true, Troubles: []Trouble{trouble}}
	clock := &handClock{at: epoch}
	site := New(Options{Clock: clock, Hosts: []Host{{Name: "a.localhost", Pages: []Page{page}}}})
	for _, soft := range []bool{false, true, false} {
		rec := httptest.NewRecorder()
		site.ServeHTTP(rec, httptest.NewRequest("GET", "http://a.localhost/", nil))
		if rec.Code != 200 || (rec.Header().Get("ETag") == "") != soft || strings.Contains(rec.Body.String(), "Page not found") != soft {
			t.Errorf("%d %v %s", rec.Code, rec.Header(), rec.Body)
		}
		clock.move(time.Hour)
	}
	if want := "says with 200 OK that it was not found after 1 h for 1 h"; !strings.Contains(page.Words(), want) {
		t.Errorf("%q, want %q", page.Words(), want)
	}
}
