package crawl

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// manySinks are n sinks as members of a JSON object.
func manySinks(n int) string {
	var sinks []string
	for i := range n {
		sinks = append(sinks, fmt.Sprintf(`"s%d":{"kind":"exec","to":"a"}`, i))
	}
	return strings.Join(sinks, ",")
}

func TestSinksOfEachKind(t *testing.T) {
	t.Parallel()
	spec, err := ParseSpec([]byte(`{"name":"a","seeds":["http://a/"],"sinks":{` + manySinks(maxSinks-6) + `,
		"hook":{"kind":"webhook","to":"http://127.0.0.1:8080/x?a=b","allow_private":true,"secret":"env:OLD file:/run/secrets/new","format":"slack"},
		"mail":{"kind":"mail","to":"You <you@example.org>, me@example.org","every":"1h","max_items":1000,"kinds":["page.*","feed.gap"]},
		"price":{"kind":"mail","to":"you@example.org","when":{"appears":"sold out","goes":["in stock","available"],"words":3,"number":{"after":"€","below":1.5,"above":2}}},
		"slack":{"kind":"webhook","to":"env:SLACK_URL"},
		"prog":{"kind":"exec","to":"apprise","hosts":"*.example.com","prefix":["https://a.example/","https://b.example/docs"],"from":"all"},
		"dir":{"kind":"folder","to":"docs/news","format":"text","from":"now"}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if items := [2]int{spec.Sinks["mail"].Items(), spec.Sinks["price"].Items()}; items != [2]int{1000, usualSinkItems} {
		t.Errorf("items %v", items)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := ParseSpec(text); err != nil || len(again.Sinks) != maxSinks {
		t.Errorf("as stored it is read as %d sinks, %v", len(again.Sinks), err)
	}
}

// A spec without sinks is stored as before there were any.
func TestSpecWithoutSinks(t *testing.T) {
	t.Parallel()
	spec, err := ParseSpec([]byte(`{"name":"a","seeds":["http://a/"]}`))
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(spec)
	if err != nil || strings.Contains(string(text), "sink") {
		t.Errorf("%s, %v", text, err)
	}
}

// An error about a secret, or about an address that may be one, does not contain it.
func TestMistakesKeepSecrets(t *testing.T) {
	t.Parallel()
	for _, sink := range []string{
		`{"kind":"webhook","to":"https://a.example/","secret":"hunter2"}`,
		`{"kind":"webhook","to":"https://a.example/","secret":"env:A hunter2"}`,
		`{"kind":"mail","to":"you@example.org","secret":"hunter2"}`,
		`{"kind":"webhook","to":"https://a.example/hunter2#x"}`,
		`{"kind":"webhook","to":"a.example/hunter2"}`,
		`{"kind":"webhook","to":"https://me:hunter2@a.example/"}`,
	} {
		_, err := ParseSpec([]byte(`{"name":"a","seeds":["http://a/"],"sinks":{"x":` + sink + `}}`))
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", sink, err)
		}
	}
}

// A search index has no receiver and no choice of changes, and a crawl has one.
func TestSearchSink(t *testing.T) {
	t.Parallel()
	parse := func(sinks string) (Spec, error) {
		return ParseSpec([]byte(`{"name":"a","seeds":["http://a/"],"sinks":{` + sinks + `}}`))
	}
	spec, err := parse(`"x":{"kind":"exec","to":"a"},"words":{"kind":"search","hosts":"a.test","prefix":"https://a.test/docs/"}`)
	if name, sink, ok := spec.SearchSink(); err != nil || !ok || name != "words" || sink.Hosts[0] != "a.test" {
		t.Errorf("%q, %+v, %v", name, sink, err)
	}
	text, err := json.Marshal(spec.Sinks["words"])
	if err != nil || strings.Contains(string(text), `"to"`) {
		t.Errorf("%s, %v", text, err)
	}
	spec, err = parse(`"x":{"kind":"exec","to":"a"}`)
	if _, _, ok := spec.SearchSink(); err != nil || ok {
		t.Errorf("without one: %v", err)
	}
	for sinks, want := range map[string]string{
		`"x":{"kind":"search","to":"a"}`:               "sinks.x.to: is set, but a search index is kept with the store",
		`"x":{"kind":"search"},"y":{"kind":"search"}`:  "sinks.y.kind: is search, as that of sink x",
		`"x":{"kind":"search","kinds":["page.new"]}`:   "sinks.x.kinds: is set, but a search index follows all",
		`"x":{"kind":"search","when":{"appears":"a"}}`: "sinks.x.when: is set, but a search index follows all",
		`"x":{"kind":"search","every":"1h"}`:           "sinks.x.every: is set, but a search index holds",
		`"x":{"kind":"search","format":"text"}`:        "sinks.x.format: is set, but a sink of the kind search",
		`"x":{"kind":"search","allow_private":true}`:   "sinks.x.allow_private",
		`"x":{"kind":"search","secret":"env:A"}`:       "sinks.x.secret",
		`"x":{"kind":"searching"}`:                     "folder, search",
		`"x":{"kind":"webhook"}`:                       "sinks.x.to: has 0 bytes",
	} {
		if _, err := parse(sinks); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", sinks, err, want)
		}
	}
}
