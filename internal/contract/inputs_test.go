package contract

import (
	"reflect"
	"testing"

	"go.temporal.io/sdk/converter"
)

// decoded is an update's input as a workflow gets it when a person types it.
func decoded[T any](t *testing.T, typed string) T {
	t.Helper()
	var arg T
	payloads, err := converter.GetDefaultDataConverter().ToPayloads(nil)
	if err != nil {
		t.Fatal(err)
	}
	payloads.Payloads[0].Data = []byte(typed)
	payloads.Payloads[0].Metadata[converter.MetadataEncoding] = []byte(converter.MetadataEncodingJSON)
	if err := converter.GetDefaultDataConverter().FromPayloads(payloads, &arg); err != nil {
		t.Errorf("%s: %v", typed, err)
	}
	return arg
}

func TestInputsOfAnyFormAreRead(t *testing.T) {
	t.Parallel()
	for typed, want := range map[string]DurationArg{
		`"2h"`: "2h", `5`: "5", `0`: "0", `2.5`: "2.5", `["2h"]`: `["2h"]`, `{}`: "{}", `null`: "", `true`: "true",
	} {
		if got := decoded[DurationArg](t, typed); got != want {
			t.Errorf("%s: %q, want %q", typed, got, want)
		}
	}
	a, b := "https://a.example/", "https://b.example/"
	for typed, want := range map[string]AddSeedsArg{
		`{"seeds":["` + a + `","` + b + `"]}`: {Seeds: []string{a, b}},
		`["` + a + `"]`:                       {Seeds: []string{a}},
		`"` + a + `"`:                         {Seeds: []string{a}},
		`5`:                                   {Malformed: "5"},
		`{"seeds":5}`:                         {Malformed: `{"seeds":5}`},
		`[1,2]`:                               {Malformed: "[1,2]"},
		`{}`:                                  {},
	} {
		if got := decoded[AddSeedsArg](t, typed); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", typed, got, want)
		}
	}
}
