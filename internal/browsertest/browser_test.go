package browsertest

import (
	"fmt"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// site serves a few pages about which a browser complains.
func site(t *testing.T) *httptest.Server {
	pages := map[string]string{
		"/": `<title>home</title><body><main><h1>Home</h1><a id="next" href="/next">next</a>
			<details><summary>more</summary><button id="folded">no</button></details>
			<form action="/form"><label>what <input name="what" value="old"></label><button>go</button></form></main>`,
		"/next":     `<title>next</title><body><p id="p">plain</p><script>document.querySelector('#p').textContent = 'script ran'</script>`,
		"/form":     `<title>form</title><p>sent`,
		"/wrong":    `<script>console.error("said", 7); setTimeout(() => { throw new Error("thrown") })</script><img src="/none.png" alt="">`,
		"/late":     `<body><p id="p">early</p><script>setTimeout(() => document.querySelector('#p').textContent = 'late "text"')</script>`,
		"/dialog":   `<script>alert("boo")</script>`,
		"/colours":  `<style>body { background: white } @media (prefers-color-scheme: dark) { body { background: black } }</style><body>`,
		"/unusable": `<!doctype html><html lang="en"><title>t</title><main><h1>t</h1><p style="color: #aaa; background: #bbb">pale</p><input>`,
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page, ok := pages[r.URL.Path]
		if !ok {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, page)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no other program")
	}
	b, s := Start(t, Options{Names: []string{"shop.example"}}), site(t)
	t.Run("a person's way", func(t *testing.T) { walk(t, b, s.URL) })
	t.Run("without scripts", func(t *testing.T) {
		tab := b.Tab(t)
		tab.Scripts(false)
		tab.Open(s.URL + "/next")
		if text := tab.Text(); text != "plain" {
			t.Errorf("without scripts: %q", text)
		}
	})
	t.Run("complaints", func(t *testing.T) { complains(t, b, s.URL) })
	t.Run("colours and sizes", func(t *testing.T) { colours(t, b, s.URL) })
	t.Run("names", func(t *testing.T) {
		tab := b.Tab(t)
		at := strings.Replace(s.URL, "127.0.0.1", "shop.example", 1) + "/form"
		if shown := tab.Open(at); shown.URL != at || shown.Status != http.StatusOK {
			t.Errorf("%+v", shown)
		}
	})
	t.Run("axe", func(t *testing.T) {
		axe, err := LoadAxe("../../tools/browser/node_modules/axe-core/axe.min.js")
		if err != nil {
			t.Fatal(err)
		}
		tab := b.Tab(t)
		tab.Open(s.URL + "/unusable")
		found := axe.Check(tab)
		for _, rule := range []string{"color-contrast", "label"} {
			if !slices.ContainsFunc(found, func(v Violation) bool { return v.Rule == rule && len(v.Nodes) == 1 }) {
				t.Errorf("%s is not found: %v", rule, found)
			}
		}
		if found := axe.Check(tab, "label"); len(found) != 1 {
			t.Errorf("one rule finds %v", found)
		}
		if but := axe.CheckBut(tab, "label"); len(but) != len(found)-1 || slices.ContainsFunc(but, func(v Violation) bool { return v.Rule == "label" }) {
			t.Errorf("all rules but one find %v", but)
		}
		tab.Open(s.URL + "/")
		if found := axe.Check(tab, "label"); len(found) != 0 {
			t.Errorf("a label is missed: %v", found)
		}
	})
}

func walk(t *testing.T, b *Browser, base string) {
	tab := b.Tab(t)
	if shown := tab.Open(base + "/"); shown != (Shown{base + "/", http.StatusOK, "text/html"}) {
		t.Errorf("opened %+v", shown)
	}
	if shown := tab.Follow("#next"); shown.URL != base+"/next" || tab.Text() != "script ran" {
		t.Errorf("followed to %+v: %s", shown, tab.Text())
	}
	tab.Open(base + "/")
	tab.Type("input", "new & more")
	if shown := tab.Follow("form button"); shown.URL != base+"/form?what=new+%26+more" {
		t.Errorf("the form led to %+v", shown)
	}
	tab.Open(base + "/")
	tab.Press(TabKey)
	if shown := tab.Leads(func() { tab.Press(Enter) }); shown.URL != base+"/next" {
		t.Errorf("the keyboard led to %+v", shown)
	}
	tab.Open(base + "/late")
	tab.AwaitText(`late "text"`)
	tab.AwaitText("late")
	if shown := tab.Open(base + "/none"); shown.Status != http.StatusNotFound {
		t.Errorf("a page that is not there: %+v", shown)
	}
	if asked := tab.Asked(); !slices.Contains(asked, base+"/none") {
		t.Errorf("asked for %v", asked)
	}
}

func complains(t *testing.T, b *Browser, base string) {
	tab := b.Tab(t)
	tab.Open(base + "/")
	if troubles := tab.Troubles(); len(troubles) != 0 {
		t.Errorf("a good page: %v", troubles)
	}
	tab.Open(base + "/wrong")
	tab.Eval("new Promise(r => setTimeout(r))", nil)
	all := strings.Join(tab.Troubles(), "\n")
	for _, want := range []string{"console.error: said 7", "Error: thrown", "404 (Not Found) " + base + "/none.png"} {
		if !strings.Contains(all, want) {
			t.Errorf("nothing says %q:\n%s", want, all)
		}
	}
	if troubles := tab.Troubles(); len(troubles) != 0 {
		t.Errorf("said twice: %v", troubles)
	}
	tab.Open(base + "/dialog")
	if troubles := tab.Troubles(); !slices.Contains(troubles, "dialog: boo") {
		t.Errorf("no dialog: %v", troubles)
	}
}

func colours(t *testing.T, b *Browser, base string) {
	tab := b.Tab(t)
	for _, v := range []View{Desktop, Night, Phone} {
		tab.Look(v)
		tab.Open(base + "/colours")
		path := filepath.Join(t.TempDir(), "page.png")
		tab.Picture(path, 100)
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		picture, err := png.Decode(file)
		if err != nil {
			t.Fatal(err)
		}
		red, _, _, _ := picture.At(3, 3).RGBA()
		if size := picture.Bounds().Size(); size.X != v.Width || size.Y > 100 || (red == 0) != v.Dark {
			t.Errorf("%s: %v, red %d", v.Name, size, red)
		}
	}
}
