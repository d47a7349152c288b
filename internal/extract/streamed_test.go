package extract

import (
	"fmt"
	"strings"
	"testing"
)

// A part that React sends late is read where the page shows it.
func TestStreamedParts(t *testing.T) {
	t.Parallel()
	const (
		call   = `<script>$RC=function(b,c){};$RC("B:0","S:1")</script>`
		inline = `<body><h1>Lamps</h1><div><!--$--><p>12 €</p><ul><li>Oak</ul><!--/$--></div><p>Shop`
	)
	for _, c := range []struct{ name, body, want string }{
		{"in its place", inline, "Lamps\n12 €\nOak\nShop"},
		{"late", `<body><h1>Lamps</h1><div><!--$?--><template id="B:0"></template><p>Loading</p><p>more</p><!--/$--></div><p>Shop<div hidden id="S:1"><p>12 €</p><ul><li>Oak</ul></div>` + call, "Lamps\n12 €\nOak\nShop"},
		{"late, in steps", `<body><h1>Lamps</h1><div><!--$?--><template id="B:0"></template>Loading<!--/$--></div><p>Shop<div hidden id="S:2"><li>Oak</div>` +
			`<div hidden id="S:1"><p>12 €</p><ul><template id="P:2"></template></ul></div><script>$RS("S:2","P:2")</script>` + call, "Lamps\n12 €\nOak\nShop"},
		{"beside its style", `<body><h1>Lamps</h1><!--$?--><template id="B:0"></template>Loading<!--/$--><p>Shop<div hidden id="S:1">12 €</div><script>$RR("B:0","S:1",[["a.css"]])</script>`, "Lamps\n12 €\nShop"},
		{"within another late part", `<body><!--$?--><template id="B:0"></template>Loading<!--/$--><p>Shop<div hidden id="S:1"><h1>Lamps</h1><!--$?--><template id="B:1"></template>Wait<!--/$--></div>` +
			call + `<div hidden id="S:3">12 €</div><script>$RC("B:1","S:3")</script>`, "Lamps\n12 €\nShop"},
		{"not there yet", `<body><h1>Lamps</h1><!--$?--><template id="B:0"></template>Loading<!--/$--><p>Shop`, "Lamps\nLoading\nShop"},
		{"without a call", `<body><h1>Lamps</h1><!--$?--><template id="B:0"></template>Loading<!--/$--><p>Shop<div hidden id="S:1">12 €</div>`, "Lamps\nLoading\nShop"},
		{"a place in itself", `<body><h1>Lamps</h1><template id="A"></template><div hidden id="S:1">12 €<!--$?--><template id="B:0"></template>Loading<!--/$--></div>` + call, "Lamps"},
		{"an end elsewhere", `<body><h1>Lamps</h1><!--$?--><template id="B:0"></template><p>Loading<i><!--/$--></i><p>Shop<div hidden id="S:1">12 €</div>` + call, "Lamps\nLoading\nShop"},
	} {
		if got := parsed(t, c.body).Text; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// Parts within parts make no tree that is deeper than others, and take no long time.
func TestStreamedPartsOfHostilePages(t *testing.T) {
	t.Parallel()
	const many = 5000
	var chain, scripts strings.Builder
	for i := range many {
		fmt.Fprintf(&chain, `<div hidden id="S:%d"><b><template id="P:%d"></template></b></div>`, i, i+1)
		fmt.Fprintf(&scripts, `$RS("S:%d","P:%d");`, i+1, i+1)
	}
	body := `<body><p>Shop<template id="P:0"></template>` + chain.String() + `<script>` + scripts.String() + `$RS("S:0","P:0")</script>`
	if got := parsed(t, body); got.Flat || !strings.HasPrefix(got.Text, "Shop") {
		t.Errorf("%v, %q", got.Flat, got.Text)
	}
	parsed(t, "<body><p>Shop"+strings.Repeat("<!--$?--><template id=a></template>", many)+strings.Repeat("<!--/$-->", 2*many)+`<div hidden id=S>x</div><script>`+strings.Repeat(`$RC("a","S");`, many)+"</script>")
}

func parsed(t *testing.T, body string) Page {
	t.Helper()
	page, err := Parse(Source{Body: []byte(body), ContentType: "text/html; charset=utf-8", URL: mustURL(t, "http://h.example/a")}, Rules{})
	if err != nil {
		t.Fatal(err)
	}
	return page
}
