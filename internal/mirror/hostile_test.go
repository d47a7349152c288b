package mirror_test

import (
	"fmt"
	"strings"
	"testing"

	"recrawl/internal/mirror"
)

// hostile are pages that cost other programs minutes, gigabytes or their stack.
var hostile = map[string]struct {
	contentType string
	unit        string // repeated
	before      string
}{
	"open tags":             {unit: "<b>"},
	"open tables":           {unit: "<table><tr><td>"},
	"links":                 {unit: "<a href=x>", before: "<base href='https://example.com/" + strings.Repeat("long/", 400) + "'>"},
	"different links":       {unit: "<a href=%d>", before: "<base href='https://example.com/" + strings.Repeat("long/", 400) + "'>"},
	"srcset":                {unit: "/%d.png 1x,", before: "<img srcset='"},
	"attributes":            {unit: "a%d=1 ", before: "<p "},
	"one attribute's quote": {unit: "x<p>", before: "<p title='"},
	"comments":              {unit: "<!--"},
	"declarations":          {unit: "<!doctype "},
	"less":                  {unit: "<"},
	"scripts":               {unit: "<script><!--<script>"},
	"styles":                {unit: "url(\"a\"", before: "<style>"},
	"style attributes":      {unit: "<p style='a:url(%d)'>"},
	"cdata":                 {unit: "<![CDATA[", contentType: "application/xhtml+xml"},
	"bases":                 {unit: "<base target=x>"},
	"frames":                {unit: "<iframe src=/>"},
	"foreign":               {unit: "<svg><style/>"},
	"css: functions":        {unit: "a(", contentType: "text/css"},
	"css: strings":          {unit: "\"\\\n", contentType: "text/css"},
	"css: addresses":        {unit: "url(a\\", contentType: "text/css"},
	"css: comments":         {unit: "/*", contentType: "text/css"},
	"css: escapes":          {unit: "\\61", contentType: "text/css"},
	"css: charsets":         {unit: "@charset ", contentType: "text/css"},
	"css: image sets":       {unit: "image-set(\"a%d\"", contentType: "text/css"},
	"svg: elements":         {unit: "<g>", contentType: "image/svg+xml"},
	"svg: styles":           {unit: "<style>", contentType: "image/svg+xml"},
	"svg: attributes":       {unit: "a%d='1' ", before: "<svg ", contentType: "image/svg+xml"},
	"svg: entities":         {unit: "&a;", before: `<!DOCTYPE svg [<!ENTITY a "&a;&a;">]><svg>`, contentType: "image/svg+xml"},
	"svg: declarations":     {unit: "<!a <", before: "<!DOCTYPE a [", contentType: "image/svg+xml"},
}

// Whatever a page repeats, four megabytes of it are rewritten: quadratic work would take
// hours. The output stays within a few times the input.
func TestHostile(t *testing.T) {
	t.Parallel()
	size := 4 << 20
	if testing.Short() {
		size >>= 4
	}
	for name, c := range hostile {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var in strings.Builder
			in.WriteString(c.before)
			for i := 0; in.Len() < size; i++ {
				if strings.Contains(c.unit, "%d") {
					fmt.Fprintf(&in, c.unit, i)
				} else {
					in.WriteString(c.unit)
				}
			}
			if c.contentType == "" {
				c.contentType = "text/html"
			}
			f := mirror.File{URL: "https://example.com/a/b", Path: site["https://example.com/a/b"], ContentType: c.contentType + "; charset=utf-8"}
			out, err := mirror.Rewrite(t.Context(), f, []byte(in.String()), site)
			if err != nil || len(out) > 10*in.Len()+1<<21 {
				t.Errorf("%d bytes became %d, %v", in.Len(), len(out), err)
			}
		})
	}
}
