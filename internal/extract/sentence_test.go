package extract

import (
	"strings"
	"testing"
)

// TestWholeSentences: a picture, a formula, an abbreviation or microdata in a sentence does not break it.
func TestWholeSentences(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, want string }{
		"an icon":          {`<p>See <a href=x>the rules<svg><g><path d=M></path></g></svg></a> for more.`, "See the rules for more."},
		"a word in one":    {`<p>It is <svg><text>new</text></svg> here.`, "It is new here."},
		"a formula":        {`<p>If <math><mrow><mi>x</mi><mo>=</mo><mn>2</mn></mrow></math> holds, stop.`, "If x = 2 holds, stop."},
		"microdata":        {`<p>Price <span><meta itemprop=priceCurrency content=EUR>€<span>12</span> <link itemprop=availability href=y></span> today`, "Price €12 today"},
		"an old element":   {`<p>The <acronym title=x>SQL</acronym>:2016 standard`, "The SQL:2016 standard"},
		"a result":         {`<p>You have <output>3</output> messages.`, "You have 3 messages."},
		"a word processor": {`<p>In <st1:City w:st=on>Paris</st1:City>, it rains.<o:p></o:p>`, "In Paris, it rains."},
	} {
		for _, deep := range []bool{false, true} {
			body := c.body
			if deep {
				body = strings.Repeat("<div>", 600) + body
			}
			if page := parse(t, body); page.Text != c.want || page.Flat != deep {
				t.Errorf("%s, flat %t: %q, want %q", name, page.Flat, page.Text, c.want)
			}
			if got := markdown(t, body, ReadAll); got.Displayed != c.want {
				t.Errorf("%s: %q is displayed, want %q", name, got.Displayed, c.want)
			}
			text, err := Readable([]byte(body), "text/html")
			if err != nil || text != c.want+"\n" {
				t.Errorf("%s: readers get %q, %v", name, text, err)
			}
		}
	}
}
