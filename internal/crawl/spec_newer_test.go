package crawl

import (
	"encoding/json"
	"testing"
)

func TestKeepUnknown(t *testing.T) {
	for _, c := range []struct{ spec, stored, want string }{
		{`{"name":"a"}`, `{"name":"b","limits":{"max_pages":3}}`, `{"name":"a"}`},
		{`{"name":"a"}`, `{"name":"b","future":{"x":1}}`, `{"future":{"x":1},"name":"a"}`},
		{`{"name":"a","limits":{"max_pages":4}}`, `{"limits":{"max_pages":3,"max_moons":2}}`, `{"limits":{"max_moons":2,"max_pages":4},"name":"a"}`},
		// A sink that was taken out is gone, and one that stays keeps what it has.
		{`{"sinks":{"b":{"kind":"x"}}}`, `{"sinks":{"a":{"future":1},"b":{"kind":"y","future":2}}}`, `{"sinks":{"b":{"future":2,"kind":"x"}}}`},
		{`{"seeds":["a"],"limits":null}`, `{"seeds":[],"limits":{"future":1}}`, `{"seeds":["a"],"limits":null}`},
	} {
		got, err := KeepUnknown(c.spec, c.stored)
		if err != nil || got != c.want {
			t.Errorf("%s over %s: %s, %v; want %s", c.spec, c.stored, got, err, c.want)
		}
	}
	if _, err := KeepUnknown("{}", "no JSON"); err == nil {
		t.Error("a damaged spec was taken")
	}
	whole, err := json.Marshal(DefaultSpec())
	if err != nil {
		t.Fatal(err)
	}
	if got, err := KeepUnknown(string(whole), string(whole)); err != nil || got != string(whole) {
		t.Errorf("a spec of this release was changed to %s, %v", got, err)
	}
}
