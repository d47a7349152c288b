package extract

import (
	"strings"
	"testing"
)

// TestFormulas: a formula is read once, in TeX if the page has that, and otherwise on a line that
// tells a fraction from a product.
func TestFormulas(t *testing.T) {
	t.Parallel()
	const (
		squared = `<msup><mi>x</mi><mn>2</mn></msup>`
		tex     = `<annotation encoding="application/x-tex">x^2</annotation>`
		both    = `<math><semantics><mrow>` + squared + `</mrow>` + tex + `</semantics></math>`
		visual  = `<span class=base><span class=mord>x</span><span class=vlist>2</span></span>`
		dollars = "Let $`x^2`$, then."
	)
	line := func(text string) string { return "Let " + text + ", then." }
	for name, c := range map[string]struct{ formula, text, markdown string }{
		"KaTeX":             {`<span class=katex><span class=katex-mathml>` + both + `</span><span class=katex-html aria-hidden=true>` + visual + `</span></span>`, line("x^2"), dollars},
		"MathJax":           {`<mjx-container><mjx-math aria-hidden=true>` + visual + `</mjx-math><mjx-assistive-mml><math>` + squared + `</math></mjx-assistive-mml></mjx-container>`, line("x^2"), ""},
		"MathML with TeX":   {both, line("x^2"), dollars},
		"a style around it": {strings.ReplaceAll(both, "x^2", `{\displaystyle x^{2}}`), line("x^{2}"), "Let $`x^{2}`$, then."},
		"LaTeXML":           {`<math><semantics><mrow>` + squared + `</mrow><annotation-xml encoding=MathML-Content><apply><power></power><ci>x</ci><cn>2</cn></apply></annotation-xml>` + tex + `</semantics></math>`, line("x^2"), dollars},
		"no TeX":            {`<math><semantics>` + squared + `<annotation encoding=text/plain>again</annotation></semantics></math>`, line("x^2"), ""},
		"a fraction":        {`<math><mfrac><mrow><mi>a</mi><mo>+</mo><mn>1</mn></mrow><mi>b</mi></mfrac></math>`, line("(a + 1)/b"), ""},
		"a root":            {`<math><msqrt><mi>a</mi><mo>-</mo><mi>b</mi></msqrt><mo>=</mo><mroot><mi>c</mi><mn>3</mn></mroot></math>`, line("√(a - b) = √[3]c"), ""},
		"a sum":             {`<math><munderover><mo>∑</mo><mrow><mi>i</mi><mo>=</mo><mn>1</mn></mrow><mi>n</mi></munderover><msub><mi>a</mi><mi>i</mi></msub></math>`, line(`∑_(i = 1)^n a_i`), ""},
		"a function":        {`<math><msup><mi>f</mi><mo>′</mo></msup><mo>&#x2061;</mo><mo>(</mo><mi>x</mi><mo>)</mo></math>`, line("f′ (x)"), ""},
		"a matrix":          {`<math><mtable><mtr><mtd><mn>1</mn></mtd><mtd><mn>2</mn></mtd></mtr><mtr><mtd><mn>3</mn></mtd><mtd><mn>4</mn></mtd></mtr></mtable></math>`, line("[1, 2; 3, 4]"), ""},
		"in brackets":       {`<math><mi>f</mi><mfenced><mi>x</mi><mi>y</mi></mfenced></math>`, line("f (x, y)"), ""},
		"with a link":       {`<math><mi>x</mi><mtext><a href=y>see</a></mtext></math>`, "Let x see , then.", ""},
		"hidden for others": {`<i>x</i><span aria-hidden=true>2</span>`, line("x 2"), ""},
	} {
		body := "<p>Let " + c.formula + ", then."
		if page := parse(t, body); page.Text != c.text {
			t.Errorf("%s: %q, want %q", name, page.Text, c.text)
		}
		if got := markdown(t, body, ReadMain).Body; c.markdown != "" && strings.TrimSpace(got) != c.markdown {
			t.Errorf("%s: Markdown %q, want %q", name, got, c.markdown)
		}
		if text, err := Readable([]byte(body), "text/html"); err != nil || strings.Join(strings.Fields(text), "") != strings.Join(strings.Fields(c.text), "") {
			t.Errorf("%s: readers get %q, %v", name, text, err)
		}
		checkWords(t, body, Rules{})
	}
}

// TestFormulaOfOneForm: a crawl that ignores one form of a formula reads the other.
func TestFormulaOfOneForm(t *testing.T) {
	t.Parallel()
	const body = `<p>Let <span class=katex><span class=katex-mathml><math><semantics><mi>x</mi><annotation encoding=application/x-tex>x</annotation></semantics></math></span>` +
		`<span class=katex-html aria-hidden=true>y</span></span> be.`
	for selector, want := range map[string]string{".katex-mathml": "Let y be.", ".katex-html": "Let x be.", "annotation": "Let x be."} {
		page, err := Parse(Source{Body: []byte(body), ContentType: "text/html", URL: mustURL(t, self)}, rulesOf(t, []string{selector}, nil))
		if err != nil || page.Text != want {
			t.Errorf("without %s: %q, %v, want %q", selector, page.Text, err, want)
		}
	}
}
