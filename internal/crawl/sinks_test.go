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

// What is wrong with a secret, or with an address that may be one, is said without it.
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
