package requisite

import (
	"fmt"
	"strings"
	"testing"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	var named []string
	for n := range 100 {
		named = append(named, fmt.Sprint("h", n))
	}
	nobody := func(string) bool { return false }
	if got := PageHosts().Take(named, nobody, 0); len(got) != MaxHosts || got[0] != "h0" {
		t.Errorf("a page takes %q", got)
	}
	if got := CrawlHosts(7).Take(named, nobody, 5); len(got) != 2 {
		t.Errorf("a crawl takes %q", got)
	}
	// One registration counts each reason once, so they must differ.
	page, whole := PageHosts().Refusal(), CrawlHosts(7).Refusal()
	if page.Reason == whole.Reason || !strings.Contains(page.Detail, "20 hosts") || !strings.Contains(whole.Detail, "7 hosts for requisites (documents.requisite_hosts)") {
		t.Errorf("refused: %+v, %+v", page, whole)
	}
}
