package crawl

import (
	"encoding/json"
	"errors"
	"reflect"
	"testing"
)

// A person who writes a field twice, or in other letters, is told so. What is stored is
// read as ever.
func TestParseWrittenSpec(t *testing.T) {
	t.Parallel()
	const begin = `{"name":"a","seeds":["http://a/"]`
	for _, tc := range []struct{ json, want string }{
		{begin + `,"politeness":{"delay":"30s"},"politeness":{"delay":"1s"}}`, "spec: politeness: given twice"},
		{begin + `,"politeness":{"delay":"30s","factor":1,"delay":"1s"}}`, "spec: politeness.delay: given twice"},
		{begin + `,"n\u0061me":"b"}`, "spec: name: given twice"},
		{`{"Name":"a","seeds":["http://a/"]}`, "spec: Name: the field is name"},
		{begin + `,"Politeness":{"delay":"1s"},"politeness":{"delay":"30s"}}`, "spec: Politeness: the field is politeness"},
		{begin + `,"scope":{"rules":[{"accept":{}},{"reject":{"host":"a","host":"b"}}]}}`, "spec: scope.rules[1].reject.host: given twice"},
		{begin + `,"scope":{"rules":[{"reject":{"any":[{"not":{"Host":"b"}}]}}]}}`, "spec: scope.rules[0].reject.any[0].not.Host: the field is host"},
		{begin + `,"sinks":{"hook":{"kind":"webhook","url":"http://a/"},"hook":{"kind":"search"}}}`, "spec: sinks.hook: given twice"},
		{begin + `,"sinks":{"hook":{"Kind":"webhook"}}}`, "spec: sinks.hook.Kind: the field is kind"},
		{begin + `,"dealy":{"a":1,"a":2}}`, "spec: dealy.a: given twice"},
		{begin + `,"dealy":[[1]]}`, "spec: dealy: unknown field"},
		{begin + `} trailing`, "spec: text after the JSON object"},
		{``, "spec: missing: " + giveObject},
	} {
		var problem *SpecError
		if _, err := ParseWrittenSpec([]byte(tc.json)); !errors.As(err, &problem) || err.Error() != tc.want {
			t.Errorf("%s: %v, want %s", tc.json, err, tc.want)
		}
	}
	twice := []byte(begin + `,"limits":{"window":3},"limits":{"Window":4}}`)
	if spec, err := ParseSpec(twice); err != nil || spec.Limits.Window != 4 {
		t.Errorf("a stored spec: %v, %v", spec.Limits.Window, err)
	}
	full := DefaultSpec()
	full.Name, full.Seeds = "a", []string{"http://a/"}
	full.Sinks = map[string]SinkSpec{"a": {Kind: SinkSearch}, "A": {Kind: SinkSearch}}
	data, err := json.Marshal(full)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := ParseSpec(data)
	if written, again := ParseWrittenSpec(data); !reflect.DeepEqual(written, stored) || (err == nil) != (again == nil) {
		t.Errorf("what the program writes: %v, %v, want %v, %v", written, again, stored, err)
	}
}
