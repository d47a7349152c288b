package replay_test

import (
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"recrawl/internal/browsertest"
	"recrawl/internal/export"
	"recrawl/internal/export/exporttest"
	"recrawl/internal/replay"
)

// player is the script that `make replay` installs.
const player = "../../tools/replay/node_modules/@webrecorder/wabac/dist/sw.js"

// font is one of fonts-dejavu-core.
const font = "/usr/share/fonts/truetype/dejavu/DejaVuSerif-Bold.ttf"

// exported writes the site in a format and returns the export's folder.
func exported(t *testing.T, f export.Format) string {
	t.Helper()
	serif, err := os.ReadFile(font)
	if err != nil {
		t.Fatalf("a font is missing; make packages installs it on Debian: %v", err)
	}
	o := export.Options{Format: f, Crawl: "site", At: exporttest.Start.AddDate(0, 1, 0), Software: "recrawl/test"}
	done, err := export.Export(t.Context(), exporttest.Site(serif), t.TempDir(), o)
	if err != nil {
		t.Fatal(err)
	}
	return done.Folder
}

// seen holds what a person sees of the site's home page.
type seen struct {
	Red, Green, Logo, Lost float64 // widths of the pictures, as they are loaded
	GreenFrom              string
	Out, Title             string
	Background, Heading    string
	Font                   string // whether it is loaded
}

// look reads a document that is shown, once its pictures and fonts have come or failed.
const look = `async (doc) => {
	const shown = (id) => doc.getElementById(id);
	await Promise.all(["red", "green", "logo", "lost"].map((id) => shown(id).complete || new Promise((r) => { shown(id).onload = shown(id).onerror = r })));
	const style = (element) => doc.defaultView.getComputedStyle(element);
	style(doc.body).fontFamily; // so that the styles' fonts are known
	await Promise.allSettled([...doc.fonts].map((f) => f.load()));
	return {
		Red: shown("red").naturalWidth, Green: shown("green").naturalWidth, Logo: shown("logo").naturalWidth, Lost: shown("lost").naturalWidth,
		GreenFrom: shown("green").currentSrc, Out: shown("out").textContent, Title: doc.title,
		Background: style(doc.querySelector("main")).backgroundImage, Heading: style(doc.querySelector("h1")).color,
		Font: [...doc.fonts].map((f) => f.family + " " + f.status).join(),
	};
}`

// picture keeps a picture of the tab if somebody asks for it.
func picture(tab *browsertest.Tab, name string) {
	if folder := os.Getenv("RECRAWL_TEST_PICTURES"); folder != "" {
		tab.Picture(filepath.Join(folder, name+".png"), 900)
	}
}

// A mirror browses from a disk, with its pictures, styles and fonts, without scripts, and
// requests only its files. Served by a web server it is the same.
func TestMirrorInBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no other program")
	}
	folder := exported(t, export.Mirror)
	b := browsertest.Start(t, browsertest.Options{})
	served := httptest.NewServer(fileServer(folder))
	t.Cleanup(served.Close)
	for name, base := range map[string]string{"disk": "file://" + filepath.ToSlash(folder), "served": served.URL} {
		tab := b.Tab(t)
		tab.Open(base + "/site.test/@index.html")
		var got seen
		tab.Eval("("+look+")(document)", &got)
		picture(tab, "mirror-"+name)
		if got.Red != 16 || got.Green != 16 || got.Logo == 0 || got.Lost != 0 || !strings.Contains(got.GreenFrom, "green.png") {
			t.Errorf("%s: pictures %+v", name, got)
		}
		if got.Out != "no script" || got.Title != "The home page" {
			t.Errorf("%s: something ran: %+v", name, got)
		}
		if !strings.Contains(got.Background, "tile.png") || got.Heading != "rgb(0, 0, 200)" || got.Font != "Archive loaded" {
			t.Errorf("%s: styles %+v", name, got)
		}
		for _, asked := range tab.Asked() {
			if u, err := url.Parse(asked); err != nil || !strings.HasPrefix(asked, base) && u.Host != "site.test" {
				t.Errorf("%s: asked for %s, %v", name, asked, err)
			}
		}
		for _, trouble := range tab.Troubles() {
			if !strings.Contains(trouble, "lost.png") && !strings.Contains(trouble, "favicon.ico") {
				t.Errorf("%s: %s", name, trouble)
			}
		}
		if shown := tab.Follow("#about"); !strings.HasSuffix(shown.URL, "/site.test/about/@page.html#more") && !strings.HasSuffix(shown.URL, "/site.test/about/@page.html") {
			t.Errorf("%s: followed to %s", name, shown.URL)
		}
		if text := tab.Text(); !strings.Contains(text, "Words about the site.") {
			t.Errorf("%s: %s", name, text)
		}
		picture(tab, "mirror-"+name+"-about")
		tab.Follow("#home")
		var away string
		tab.Eval("document.getElementById('away').href", &away)
		if away != "https://elsewhere.test/" {
			t.Errorf("%s: a link away leads to %s", name, away)
		}
	}
}

// A WACZ file replays in a browser that reaches only this machine.
func TestReplayInBrowser(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: no other program")
	}
	if _, err := os.Stat(player); err != nil {
		t.Fatalf("wabac.js is not installed; make replay does: %v", err)
	}
	files, err := filepath.Glob(filepath.Join(exported(t, export.WACZ), "*.wacz"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	a, err := replay.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	served := httptest.NewServer(replay.Handler(a, player))
	t.Cleanup(served.Close)
	tab := browsertest.Start(t, browsertest.Options{}).Tab(t)
	tab.Open(strings.Replace(served.URL, "127.0.0.1", "localhost", 1) + "/")
	tab.AwaitText("Ready: choose a page.")
	if text := tab.Text(); !strings.Contains(text, "The home page") || !strings.Contains(text, "https://site.test/about") || strings.Contains(text, "d.png") {
		t.Errorf("the list: %s", text)
	}
	picture(tab, "replay-list")
	tab.Click("main li a")
	const replayed = `new Promise((shown) => {
		const frame = document.getElementById("frame");
		const done = () => frame.contentDocument && frame.contentDocument.getElementById("%s") && shown(null);
		frame.addEventListener("load", done);
		if (frame.contentDocument && frame.contentDocument.readyState === "complete") done();
	})`
	tab.Eval(strings.Replace(replayed, "%s", "out", 1), nil)
	var got seen
	tab.Eval("("+look+")(document.getElementById('frame').contentDocument)", &got)
	picture(tab, "replay-home")
	if got.Red != 16 || got.Green != 16 || got.Logo == 0 || got.Lost != 0 {
		t.Errorf("pictures %+v", got)
	}
	if got.Out != "script ran" || !strings.Contains(got.Background, "tile.png") || got.Heading != "rgb(0, 0, 200)" || got.Font != "Archive loaded" {
		t.Errorf("styles and scripts %+v", got)
	}
	tab.Eval("document.getElementById('frame').contentDocument.getElementById('about').click()", nil)
	tab.Eval(strings.Replace(replayed, "%s", "more", 1), nil)
	tab.AwaitText("https://site.test/about") // in the bar
	picture(tab, "replay-about")
	troubles := slices.DeleteFunc(tab.Troubles(), func(s string) bool {
		// The sandbox keeps a page from leading the window elsewhere, not one that breaks out.
		return strings.Contains(s, "lost.png") || strings.Contains(s, "none.png") || strings.Contains(s, "can escape its sandboxing")
	})
	if len(troubles) > 0 {
		t.Errorf("the browser complains: %q", troubles)
	}
	for _, asked := range tab.Asked() {
		if u, err := url.Parse(asked); err != nil || u.Hostname() != "localhost" && u.Scheme != "about" {
			t.Errorf("asked for %s, %v", asked, err)
		}
	}
}
