package extract

import (
	"strings"
	"testing"
)

// What browsers show without scripts, or with one click, is text, in a tree and tag by tag.
func TestShown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ body, tree, flat string }{
		"a shadow root":            {body: `<p>It costs <x-price><template shadowrootmode=open>12 €<style>b{}</style></template></x-price> today</p>`, tree: "It costs 12 € today", flat: "It costs\n12 €\ntoday"},
		"a closed one with blocks": {body: `<x-card><template ShadowRootMode="Closed"><p>One</p><p>Two</p></template></x-card><p>Three`, tree: "One\nTwo\nThree"},
		"a template":               {body: `<template><p>One</p></template><p>Two`, tree: "Two"},
		"a template in one":        {body: `<x-y><template shadowrootmode=open>One<template>no</template></template></x-y><p>Two`, tree: "One\nTwo"},
		"one in a template":        {body: `<template>no<x-y><template shadowrootmode=open>no</template></x-y>no</template><p>Two`, tree: "Two"},
		"a tab":                    {body: `<div role=tabpanel>One</div><div role=tabpanel hidden>Two</div>`, tree: "One\nTwo"},
		"all is hidden":            {body: `<main hidden><p>One<p hidden>Two</main><script>show()</script>`, tree: "One\nTwo"},
		"hidden":                   {body: `<div hidden>One</div><p>Two`, tree: "Two", flat: "One\nTwo"},
	} {
		for _, before := range []string{"", strings.Repeat("<div>", 600)} {
			want := c.tree
			if before != "" && c.flat != "" {
				want = c.flat
			}
			if page := parse(t, "<body hidden>"+before+c.body); page.Text != want {
				t.Errorf("%s, flat %t: %q, want %q", name, page.Flat, page.Text, want)
			}
		}
	}
}

// What stands in a video or in a list of suggestions is for browsers that cannot show these.
func TestReplacedText(t *testing.T) {
	t.Parallel()
	body := `<div>text <video src=x><p>Your browser cannot play videos.</p><a href=film>film</a></video> more <audio>No sound.</audio><datalist><option>Oslo</datalist>`
	page := parse(t, body)
	if page.Text != "text more" || len(page.Links) != 1 {
		t.Errorf("%q, %d links", page.Text, len(page.Links))
	}
}
