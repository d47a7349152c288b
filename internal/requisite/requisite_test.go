package requisite

import (
	"fmt"
	"slices"
	"testing"

	"recrawl/internal/extract"
	"recrawl/internal/urlkey"
)

func TestChoose(t *testing.T) {
	t.Parallel()
	var found []extract.Requisite
	for n := range 90 {
		found = append(found, extract.Requisite{URL: fmt.Sprint("other", n), Role: extract.RoleOther})
	}
	for n := range 20 {
		found = append(found, extract.Requisite{URL: fmt.Sprint("image", n), Role: extract.RoleImage})
	}
	found = append(found, extract.Requisite{URL: "font", Role: extract.RoleFont}, extract.Requisite{URL: "style", Role: extract.RoleStyle})
	before := slices.Clone(found)
	chosen := Choose(found)
	if len(chosen) != MaxEach || chosen[0].URL != "style" || chosen[1].URL != "image0" || chosen[20].URL != "image19" || chosen[21].URL != "font" || chosen[22].URL != "other0" {
		t.Errorf("%d requisites: %v", len(chosen), chosen)
	}
	if !slices.Equal(found, before) {
		t.Error("what was found is changed")
	}
	if got := Choose(nil); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
}

func TestLooks(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]bool{
		"https://a.test/x.png": true, "https://a.test/X.JPEG?w=100": true, "https://a.test/a.b/c.woff2": true, "https://a.test/style.css": true,
		"https://a.test/": false, "https://a.test/png": false, "https://a.test/x.html": false, "https://a.test/x?y=.png": false, "https://a.test/x.png/": false,
	} {
		u, err := urlkey.Canonical(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got := Looks(u); got != want {
			t.Errorf("%s: %v", raw, got)
		}
		if got := slices.Contains(Types(u), "application/octet-stream"); got != want {
			t.Errorf("%s of a vague type: %v", raw, got)
		}
		if types := Types(u); !slices.Contains(types, "image/png") || slices.Contains(types, "text/html") {
			t.Errorf("%s: types %v", raw, types)
		}
	}
}

func TestLeads(t *testing.T) {
	t.Parallel()
	if !Leads(1) || !Leads(2) || Leads(3) || Leads(9) {
		t.Error("a chain has not three steps")
	}
}
