package extract

import (
	"strings"
	"testing"
)

func TestReadable(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, body, media, want string }{
		{"nothing", "", "text/html", ""},
		{"no text", "\x89PNG", "image/png", ""},
		{"plain", "a  b\r\n\r\n c\x1b[31m\n", "text/plain", "a b\nc [31m\n"},
		{"blocks", "<title>t</title><h1>One <b>two</b></h1><p>a\nb<br>c<div>d</div>", "text/html", "# One two\na b\nc\nd\n"},
		{"lists", "<ul><li>a<li>b <i>c</i></ul><dl><dt>x<dd>y</dl>", "", "- a\n- b c\nx\n- y\n"},
		{"tables", "<table><tr><th>a<th>b<tr><td>1<td>2</table>", "text/html", "a | b\n1 | 2\n"},
		{"verbatim", "<pre>a\n  b</pre>c\nd", "text/html", "a\nb\nc d\n"},
		{"unseen", "<script>x</script><style>y</style><p hidden>z</p><nav>menu</nav>", "text/html", "menu\n"},
		{"charset", "<p>caf\xe9", "text/html; charset=iso-8859-1", "café\n"},
		{"deep", strings.Repeat("<div>", 600) + "a<p>b<script>x</script>", "text/html", "a\nb\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got, err := Readable([]byte(c.body), c.media)
			if err != nil || got != c.want {
				t.Errorf("%q, %v, want %q", got, err, c.want)
			}
		})
	}
}

// The result has lines that a terminal can show, and reading them again as plain text
// changes nothing.
func FuzzReadable(f *testing.F) {
	for _, seed := range []string{"<p>a", "<pre>\n\n", "<li>-<h1>#", "<td>|", strings.Repeat("<b>", 600) + "x", "\x00\x1b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, body string) {
		text, err := Readable([]byte(body), "text/html; charset=utf-8")
		if err != nil {
			t.Fatal(err) // there is no UTF-8 that cannot be decoded
		}
		if strings.ContainsAny(text, "\x00\x1b\r\t") || strings.Contains(text, "\n\n") || strings.HasPrefix(text, "\n") {
			t.Fatalf("%q", text)
		}
		again, err := Readable([]byte(text), "text/plain; charset=utf-8")
		if err != nil || again != text {
			t.Fatalf("%q is read again as %q, %v", text, again, err)
		}
	})
}
