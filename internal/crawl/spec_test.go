package crawl

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
)

func TestParseSpecFillsDefaults(t *testing.T) {
	t.Parallel()
	got, err := ParseSpec([]byte(`{"name":"news","seeds":["https://example.com/"],"politeness":{"delay":"1d12h"},"Limits":{"window":3}}`))
	if err != nil {
		t.Fatal(err)
	}
	want := DefaultSpec()
	want.Name, want.Seeds = "news", []string{"https://example.com/"}
	want.Politeness.Delay, want.Limits.Window = Duration(36*3600e9), 3
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	raw, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseSpec(raw); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("read back: %+v, %v", again, err)
	}
}

// An automatic delay is written so that releases without it read the longest delay.
func TestParseSpecAutoDelay(t *testing.T) {
	t.Parallel()
	got, err := ParseSpec([]byte(`{"name":"news","seeds":["https://example.com/"],"Politeness":{"delay":"auto","factor":2}}`))
	if err != nil || got.Politeness.Delay.String() != "10s" || !got.Politeness.AutoDelay || got.Politeness.Factor != 2 {
		t.Fatalf("%+v, %v", got.Politeness, err)
	}
	raw, err := json.Marshal(got)
	if err != nil || !strings.Contains(string(raw), `"delay":"10s","auto_delay":true`) {
		t.Errorf("%s, %v", raw, err)
	}
	if again, err := ParseSpec(raw); err != nil || !reflect.DeepEqual(again, got) {
		t.Errorf("read back: %+v, %v", again, err)
	}
	if err := got.Politeness.SetDelay("5s"); err != nil || got.Politeness.AutoDelay || got.Politeness.DelayWords() != "5s" {
		t.Errorf("a delay of its own: %+v, %v", got.Politeness, err)
	}
}

// Every policy can be asked for; harmonic also needs accept_patents.
func TestParseSpecPolicies(t *testing.T) {
	t.Parallel()
	for _, policy := range Policies() {
		got, err := ParseSpec([]byte(`{"name":"a","seeds":["http://a/"],"revisit":{"policy":"` + policy + `","budget":"50/h","accept_patents":true}}`))
		if err != nil || got.Revisit.Policy != policy {
			t.Errorf("policy %s: %+v, %v", policy, got.Revisit, err)
		}
	}
}

// Every mistake names the field with its whole path.
func TestParseSpecMistakes(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ field, json string }{
		{"", ``},
		{"", `null trailing`},
		{"", `[]`},
		{"name", `{}`},
		{"name", `{"name":7}`},
		{"name", `{"name":"-a","seeds":["http://a/"]}`},
		{"nmae", `{"nmae":"a"}`},
		{"seeds", `{"name":"a"}`},
		{"seeds", `{"name":"a","seeds":"http://a/"}`},
		{"seeds[1]", `{"name":"a","seeds":["http://a/","b"]}`},
		{"seeds[0]", `{"name":"a","seeds":["http://user@a/"]}`},
		{"politeness.dealy", `{"name":"a","seeds":["http://a/"],"politeness":{"dealy":"5s"}}`},
		{"politeness.delay", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":"-5s"}}`},
		{"politeness.delay", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":5}}`},
		{"purpose[1]", `{"name":"a","seeds":["http://a/"],"purpose":["search","training"]}`},
		{"purpose[1]", `{"name":"a","seeds":["http://a/"],"purpose":["search","search"]}`},
		{"purpose", `{"name":"a","seeds":["http://a/"],"purpose":"search"}`},
		{"retention.changes", `{"name":"a","seeds":["http://a/"],"retention":{"changes":"-1h"}}`},
		{"politeness.delay", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":"8d"}}`},
		{"politeness.delay", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":"automatic"}}`},
		{"politeness.auto_delay", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":"500ms","auto_delay":true}}`},
		{"politeness.dealy", `{"name":"a","seeds":["http://a/"],"politeness":{"delay":"auto","dealy":"5s"}}`},
		{"politeness.factor", `{"name":"a","seeds":["http://a/"],"politeness":{"factor":-1}}`},
		{"politeness", `{"name":"a","seeds":["http://a/"],"politeness":"strict"}`},
		{"limits.max_pages", `{"name":"a","seeds":["http://a/"],"limits":{"max_pages":1.5}}`},
		{"limits.site_time", `{"name":"a","seeds":["http://a/"],"limits":{"site_time":"24h"}}`},
		{"limits.window", `{"name":"a","seeds":["http://a/"],"limits":{"window":0}}`},
		{"fetch.max_body", `{"name":"a","seeds":["http://a/"],"fetch":{"max_body":"lots"}}`},
		{"fetch.max_body", `{"name":"a","seeds":["http://a/"],"fetch":{"max_body":"0B"}}`},
		{"fetch.max_body", `{"name":"a","seeds":["http://a/"],"fetch":{"max_body":"2GiB"}}`},
		{"fetch.max_body", `{"name":"a","seeds":["http://a/"],"fetch":{"max_body":-1}}`},
		{"fetch.time_limit", `{"name":"a","seeds":["http://a/"],"fetch":{"time_limit":"0"}}`},
		{"fetch.time_limit", `{"name":"a","seeds":["http://a/"],"fetch":{"time_limit":"61m"}}`},
		{"fetch.content_types", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":[]}}`},
		{"fetch.content_types[0]", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":["text/html; charset=utf-8"]}}`},
		{"fetch.content_types[0]", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":["text/"]}}`},
		{"fetch.content_types[0]", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":["/html"]}}`},
		{"limits.max_pages", `{"name":"a","seeds":["http://a/"],"limits":{"max_pages":-1}}`},
		{"limits.window", `{"name":"a","seeds":["http://a/"],"limits":{"window":10001}}`},
		{"politeness.factor", `{"name":"a","seeds":["http://a/"],"politeness":{"factor":1001}}`},
		{"politeness.max_crawl_delay", `{"name":"a","seeds":["http://a/"],"politeness":{"max_crawl_delay":"-1s"}}`},
		{"retention.max_versions", `{"name":"a","seeds":["http://a/"],"retention":{"max_versions":-1}}`},
		{"retention.max_visits", `{"name":"a","seeds":["http://a/"],"retention":{"max_visits":-1}}`},
		{"seeds[0]", `{"name":"a","seeds":["ftp://a/"]}`},
		{"seeds[0]", `{"name":"a","seeds":["http:///path"]}`},
		{"seeds[0]", `{"name":"a","seeds":["http://a b/"]}`},
		{"identity.agent", `{"name":"a","seeds":["http://a/"],"identity":{"agent":"bot/2"}}`},
		{"identity.agent", `{"name":"a","seeds":["http://a/"],"identity":{"agent":""}}`},
		{"identity.agent", `{"name":"a","seeds":["http://a/"],"identity":{"agent":"` + strings.Repeat("a", 65) + `"}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"me"}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"Me <me@example.com>"}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"https://example.com/bot(1)"}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"https:///bot"}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"ftp://example.com/"}}`},
		{"fetch.allow_networks[0]", `{"name":"a","seeds":["http://a/"],"fetch":{"allow_networks":["10.0.0.1"]}}`},
		{"fetch.content_types[0]", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":["text/x*"]}}`},
		{"fetch.content_types[1]", `{"name":"a","seeds":["http://a/"],"fetch":{"content_types":["text/*","*"]}}`},
		{"urls.strip_param", `{"name":"a","seeds":["http://a/"],"urls":{"strip_param":["utm_*"]}}`},
		{"urls.strip_params", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":"utm_*"}}`},
		{"urls.strip_params", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["a"` + strings.Repeat(`,"a"`, maxStripNames) + `]}}`},
		{"urls.strip_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":[""]}}`},
		{"urls.strip_params[1]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["ok","utm=x"]}}`},
		{"urls.strip_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["u*m"]}}`},
		{"urls.strip_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["***"]}}`},
		{"urls.strip_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["a b"]}}`},
		{"urls.strip_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["` + strings.Repeat("a", maxStripName+1) + `"]}}`},
		{"urls.strip_path_params[0]", `{"name":"a","seeds":["http://a/"],"urls":{"strip_path_params":[";jsessionid"]}}`},
		{"urls.sort_query", `{"name":"a","seeds":["http://a/"],"urls":{"sort_query":"yes"}}`},
		{"scope.rules", `{"name":"a","seeds":["http://a/"],"scope":{"rules":{}}}`},
		{"scope.rules[0]", `{"name":"a","seeds":["http://a/"],"scope":{"rules":["images"]}}`},
		{"scope.rules[0]", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"name":"x"}]}}`},
		{"scope.rules[0]", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"accept":{},"reject":{}}]}}`},
		{"scope.rules[1].name", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"name":"x","accept":{}},{"name":"x","accept":{}}]}}`},
		{"scope.rules[0].name", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"name":"` + strings.Repeat("x", maxRuleName+1) + `","accept":{}}]}}`},
		{"scope.rules[0].drop", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"drop":{}}]}}`},
		{"scope.rules[0].accept.hots", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"accept":{"hots":"b"}}]}}`},
		{"scope.rules[0].reject.any[1].not.hots", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"any":[{},{"not":{"hots":"b"}}]}}]}}`},
		{"scope.rules[0].reject.any", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"any":[]}}]}}`},
		{"scope.rules[0].reject.host", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"host":7}}]}}`},
		{"scope.rules[0].reject.host", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"host":[]}}]}}`},
		{"scope.rules[0].reject.host[1]", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"host":["a","*b"]}}]}}`},
		{"scope.rules[0].reject.host", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"host":"Example.com"}}]}}`},
		{"scope.rules[0].reject.domain", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"domain":"*.example.com"}}]}}`},
		{"scope.rules[0].reject.scheme", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"scheme":"ftp"}}]}}`},
		{"scope.rules[0].reject.extension", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"extension":"pdf"}}]}}`},
		{"scope.rules[0].reject.param", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"param":"a=1"}}]}}`},
		{"scope.rules[0].reject.params", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"params":3}}]}}`},
		{"scope.rules[0].reject.params", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"params":{}}}]}}`},
		{"scope.rules[0].reject.params.mni", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"params":{"mni":1}}}]}}`},
		{"scope.rules[0].reject.level", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"level":{"min":3,"max":2}}}]}}`},
		{"scope.rules[0].reject.regex", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"regex":"(?=a)"}}]}}`},
		{"scope.rules[0].reject.language", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"language":"german language"}}]}}`},
		{"scope.rules[0].reject.program", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"program":"/bin/sh"}}]}}`},
		{"scope.rules[0].reject" + strings.Repeat(".not", maxFilterDepth), `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":` + strings.Repeat(`{"not":`, maxFilterDepth) + `{}` + strings.Repeat("}", maxFilterDepth) + `}]}}`},
		{"scope.rules", `{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"accept":{}}` + strings.Repeat(`,{"accept":{}}`, maxScopeRules) + `]}}`},
		{"scope.max_hops_off_host", `{"name":"a","seeds":["http://a/"],"scope":{"max_hops_off_host":-1}}`},
		{"traps.max_host_pages", `{"name":"a","seeds":["http://a/"],"traps":{"max_host_pages":-1}}`},
		{"traps.max_prefix_pages", `{"name":"a","seeds":["http://a/"],"traps":{"max_prefix_pages":-1}}`},
		{"content.ignore_selector", `{"name":"a","seeds":["http://a/"],"content":{"ignore_selector":[".ad"]}}`},
		{"content.ignore_selectors", `{"name":"a","seeds":["http://a/"],"content":{"ignore_selectors":".ad"}}`},
		{"content.ignore_selectors", `{"name":"a","seeds":["http://a/"],"content":{"ignore_selectors":["a"` + strings.Repeat(`,"a"`, maxIgnored) + `]}}`},
		{"content.ignore_selectors[1]", `{"name":"a","seeds":["http://a/"],"content":{"ignore_selectors":[".ad"," "]}}`},
		{"content.ignore_patterns[0]", `{"name":"a","seeds":["http://a/"],"content":{"ignore_patterns":["` + strings.Repeat("a", maxIgnoreRule+1) + `"]}}`},
		{"content.ignore_patterns[1]", `{"name":"a","seeds":["http://a/"],"content":{"ignore_patterns":["a+","(a"]}}`},
		{"content.ignore_patterns[0]", `{"name":"a","seeds":["http://a/"],"content":{"ignore_patterns":["(?=a)"]}}`},
		{"content.near_duplicate", `{"name":"a","seeds":["http://a/"],"content":{"near_duplicate":-0.1}}`},
		{"content.near_duplicate", `{"name":"a","seeds":["http://a/"],"content":{"near_duplicate":80}}`},
		{"content.rules[0].prefix", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"select":["b"]}]}}`},
		{"content.rules[0].host", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"prefix":"http://a/","host":"a"}]}}`},
		{"content.rules[1].host", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a"},{"host":"http://a/"}]}}`},
		{"content.rules[0].select[1]", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a","select":["b",""]}]}}`},
		{"content.rules[0].select", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a","select":["b"` + strings.Repeat(`,"b"`, maxIgnored) + `]}]}}`},
		{"content.rules[0].ignore_selectors[0]", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a","ignore_selectors":[" "]}]}}`},
		{"content.rules[0].ignore_patterns[0]", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a","ignore_patterns":["(a"]}]}}`},
		{"content.rules[0].selct", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a","selct":["b"]}]}}`},
		{"content.rules", `{"name":"a","seeds":["http://a/"],"content":{"rules":[{"host":"a"}` + strings.Repeat(`,{"host":"a"}`, maxContentRules) + `]}}`},
		{"sources.sitemap", `{"name":"a","seeds":["http://a/"],"sources":{"sitemap":true}}`},
		{"sources.feeds", `{"name":"a","seeds":["http://a/"],"sources":{"feeds":"yes"}}`},
		{"sources.max_urls", `{"name":"a","seeds":["http://a/"],"sources":{"max_urls":0}}`},
		{"sources.max_urls", `{"name":"a","seeds":["http://a/"],"sources":{"max_urls":50001}}`},
		{"politeness.per_address", `{"name":"a","seeds":["http://a/"],"politeness":{"per_address":-1}}`},
		{"politeness.per_address", `{"name":"a","seeds":["http://a/"],"politeness":{"per_address":1001}}`},
		{"sources.foreign_hosts", `{"name":"a","seeds":["http://a/"],"sources":{"foreign_hosts":-1}}`},
		{"sources.foreign_hosts", `{"name":"a","seeds":["http://a/"],"sources":{"foreign_hosts":1001}}`},
		{"documents.requisite_hosts", `{"name":"a","seeds":["http://a/"],"documents":{"requisite_hosts":-1}}`},
		{"documents.requisite_hosts", `{"name":"a","seeds":["http://a/"],"documents":{"requisite_hosts":10001}}`},
		{"sources.well_known", `{"name":"a","seeds":["http://a/"],"sources":{"sitemaps":false,"well_known":true}}`},
		{"sinks", `{"name":"a","seeds":["http://a/"],"sinks":{"Team":{"kind":"webhook","to":"https://a.example/hook"}}}`},
		{"sinks", `{"name":"a","seeds":["http://a/"],"sinks":{` + manySinks(maxSinks+1) + `}}`},
		{"sinks.x.kind", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"to":"a"}}}`},
		{"sinks.x.article", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"a","format":"text","article":true}}}`},
		{"sinks.x.article", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","format":"markdown","article":true}}}`},
		{"sinks.x.kind", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"fax","to":"a"}}}`},
		{"sinks.x.knds", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","knds":["page.new"]}}}`},
		{"sinks.x.when.number.belw", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"number":{"belw":1}}}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"example.com/hook"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"ftp://a.example/"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://u:p@a.example/"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/#x"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example:25/"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"mail","to":"you"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"exec","to":"/bin/sh"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"/etc"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"../x"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"a/../../b"}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"."}}}`},
		{"sinks.x.to", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"a\\\\b"}}}`},
		{"sinks.x.secret", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","secret":"whsec_c2VjcmV0"}}}`},
		{"sinks.x.secret", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","secret":"env:A hunter2"}}}`},
		{"sinks.x.secret", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","secret":"env:A env:B env:C"}}}`},
		{"sinks.x.secret", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"mail","to":"you@example.org","secret":"env:A"}}}`},
		{"sinks.x.kinds[1]", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","kinds":["page.*","page.new*x"]}}}`},
		{"sinks.x.kinds", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","kinds":"page.new"}}}`},
		{"sinks.x.hosts", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","hosts":[]}}}`},
		{"sinks.x.hosts[1]", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","hosts":["a.example","B.example"]}}}`},
		{"sinks.x.prefix", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","prefix":"a.example/docs/"}}}`},
		{"sinks.x.when", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{}}}}`},
		{"sinks.x.when.appears", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"appears":" "}}}}`},
		{"sinks.x.when.words", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"words":-1}}}}`},
		{"sinks.x.when.number", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"number":{"after":"Price"}}}}}`},
		{"sinks.x.when.number", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"number":{"below":3,"above":2}}}}}`},
		{"sinks.x.when.number.below", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"number":{"below":"3"}}}}}`},
		{"sinks.x.kinds[0]", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","when":{"words":3},"kinds":["page.gone"]}}}`},
		{"sinks.x.from", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","from":"yesterday"}}}`},
		{"sinks.x.every", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","every":"10s"}}}`},
		{"sinks.x.every", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","every":3600}}}`},
		{"sinks.x.every", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"folder","to":"a","every":"1h"}}}`},
		{"sinks.x.max_items", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","every":"1h","max_items":1001}}}`},
		{"sinks.x.max_items", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","max_items":5}}}`},
		{"sinks.x.format", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"webhook","to":"https://a.example/hook","format":"html"}}}`},
		{"sinks.x.format", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"mail","to":"you@example.org","format":"html"}}}`},
		{"sinks.x.allow_private", `{"name":"a","seeds":["http://a/"],"sinks":{"x":{"kind":"exec","to":"a","allow_private":true}}}`},
		{"revisit.policy", `{"name":"a","seeds":["http://a/"],"revisit":{"policy":"often"}}`},
		{"revisit.default_interval", `{"name":"a","seeds":["http://a/"],"revisit":{"default_interval":"tomorrow"}}`},
		{"revisit.max_interval", `{"name":"a","seeds":["http://a/"],"revisit":{"min_interval":"2h","max_interval":"1h"}}`},
		{"revisit.budget", `{"name":"a","seeds":["http://a/"],"revisit":{"budget":"plenty"}}`},
		{"revisit.budget", `{"name":"a","seeds":["http://a/"],"revisit":{"budget":"Inf/day"}}`},
		{"revisit.accept_patents", `{"name":"a","seeds":["http://a/"],"revisit":{"policy":"harmonic"}}`},
		{"revisit.selective", `{"name":"a","seeds":["http://a/"],"revisit":{"selective":true}}`},
		{"revisit.rules[0].prefix", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"weight":2}]}}`},
		{"revisit.rules[0].prefix", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"prefix":"/news/"}]}}`},
		{"revisit.rules[0].host", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"prefix":"http://a/","host":"a"}]}}`},
		{"revisit.rules[1].host", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"*.a"},{"host":"http://a/"}]}}`},
		{"revisit.rules[0].policy", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"a","policy":"often"}]}}`},
		{"revisit.rules[0].policy", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"a","policy":"fresh"}]}}`},
		{"revisit.rules[0].weight", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"a","weight":-1}]}}`},
		{"revisit.rules[0].max_interval", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"a","max_interval":"1m"}]}}`},
		{"revisit.rules[0].wieght", `{"name":"a","seeds":["http://a/"],"revisit":{"rules":[{"host":"a","wieght":2}]}}`},
		{"identity.contact", `{"name":"a","seeds":["http://a/"],"identity":{"contact":"me"}}`},
		{"maintain_every", `{"name":"a","seeds":["http://a/"],"maintain_every":"1ms"}`},
	} {
		_, err := ParseSpec([]byte(tc.json))
		var wrong *SpecError
		if !errors.As(err, &wrong) || wrong.Field != tc.field || wrong.Problem == "" || strings.Contains(wrong.Error(), "\n") {
			t.Errorf("%s: %v, want an error of %q", tc.json, err, tc.field)
		}
	}
}

func FuzzParseSpec(f *testing.F) {
	f.Add([]byte(`{"name":"news","seeds":["https://example.com/"],"politeness":{"delay":"1d"}}`))
	f.Add([]byte(`{"limits":{"window":1e9}}`))
	f.Add([]byte(`{"name":"a","seeds":["http://a/"],"scope":{"rules":[{"reject":{"any":[{"not":{"params":{"min":1}}}],"host":"*.a"}}]}}`))
	f.Add([]byte(`{"name":"a","seeds":["http://a/"],"urls":{"strip_params":["utm_*","*id"],"sort_query":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		spec, err := ParseSpec(data)
		if err != nil {
			var wrong *SpecError
			if !errors.As(err, &wrong) {
				t.Fatalf("%v is no *SpecError", err)
			}
			return
		}
		raw, err := json.Marshal(spec)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseSpec(raw)
		if err != nil || !reflect.DeepEqual(again, spec) {
			t.Errorf("%s reads back as %+v, %v; was %+v", raw, again, err, spec)
		}
	})
}

func FuzzDuration(f *testing.F) {
	for _, text := range []string{"10s", "1d12h", "0", "1.5d", "36h", "-1s", "1h1m1ns", "9999999d"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := ParseDuration(text)
		if err != nil {
			return
		}
		if back, err := ParseDuration(FormatDuration(d)); d < 0 || err != nil || back != d {
			t.Errorf("%q is %d, printed %s, read back %d, %v", text, d, FormatDuration(d), back, err)
		}
	})
}
