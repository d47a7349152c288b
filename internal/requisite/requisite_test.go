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

func TestWithoutPictures(t *testing.T) {
	t.Parallel()
	var found []extract.Requisite
	for _, r := range []struct {
		url  string
		role extract.Role
	}{
		{"https://a.test/a.css", extract.RoleStyle},
		{"https://a.test/a.png", extract.RoleImage},
		{"https://a.test/b.WOFF2?v=1", extract.RoleFont},
		{"https://a.test/ground.png", extract.RoleFont}, // of a style
		{"https://a.test/font?kit=1", extract.RoleFont}, // may be a picture
		{"https://a.test/icon.ico", extract.RoleIcon},
		{"https://a.test/wide.png", extract.RoleOther},
		{"https://a.test/font.woff", extract.RoleImage}, // shown as a picture
	} {
		found = append(found, extract.Requisite{URL: r.url, Role: r.role})
	}
	rest, pictures := WithoutPictures(found)
	if want := []extract.Requisite{found[0], found[2]}; !slices.Equal(rest, want) {
		t.Errorf("without pictures %v, want %v", rest, want)
	}
	if want := slices.Concat(found[1:2], found[3:]); !slices.Equal(pictures, want) {
		t.Errorf("pictures %v, want %v", pictures, want)
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
