package web

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files anew")

// openAPIFile is the description of the API as people read it without a server.
const openAPIFile = "../../docs/openapi.json"

// The file has what /openapi.json answers. Whatever programs may rely on stays in it unchanged
// until the version is raised: even -update refuses to write another file.
func TestOpenAPIFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	served := []byte(w.get("/openapi.json"))
	file, err := os.ReadFile(openAPIFile)
	if err != nil && !(*update && os.IsNotExist(err)) {
		t.Fatal(err)
	}
	if err == nil {
		for _, what := range broken(t, file, served) {
			t.Errorf("%s, on which programs rely: raise apiVersion, or leave it", what)
		}
	}
	if t.Failed() || bytes.Equal(file, served) {
		return
	}
	if !*update {
		t.Fatal("docs/openapi.json is not what is served: make docs writes it anew")
	}
	if err := os.WriteFile(openAPIFile, served, 0o644); err != nil {
		t.Fatal(err)
	}
}

// broken lists what of an older description does not hold in a newer one with the same
// version.
func broken(t *testing.T, older, newer []byte) []string {
	t.Helper()
	var before, now map[string]any
	if err := errors.Join(json.Unmarshal(older, &before), json.Unmarshal(newer, &now)); err != nil {
		t.Fatal(err)
	}
	version := func(of map[string]any) any { info, _ := of["info"].(map[string]any); return info["version"] }
	if version(before) != version(now) {
		return nil
	}
	return breaks(before, now, "")
}

// inWords are the parts of a description that no program relies on.
var inWords = []string{"description", "summary", "title"}

// breaks compares a part of two descriptions. What is new breaks nothing, except a parameter
// that must be given.
func breaks(before, now any, where string) (found []string) {
	switch before := before.(type) {
	case map[string]any:
		now, ok := now.(map[string]any)
		if !ok {
			return []string{where + " is of another kind"}
		}
		for _, name := range slices.Sorted(maps.Keys(before)) {
			at := where + "/" + name
			switch there, ok := now[name]; {
			case slices.Contains(inWords, name) && !isSchema(before[name]):
			case !ok:
				found = append(found, at+" is gone")
			case name == "parameters" && isList(before[name]) && isList(there):
				found = append(found, brokenParameters(before[name], there, at)...)
			case name == "required" && isList(before[name]) && isList(there):
				found = append(found, optional(before[name], there, at)...)
			default:
				found = append(found, breaks(before[name], there, at)...)
			}
		}
	default:
		if !reflect.DeepEqual(before, now) {
			return []string{fmt.Sprintf("%s was %v and is %v", where, before, now)}
		}
	}
	return found
}

// isSchema tells a property that is called "title" from a title.
func isSchema(v any) bool { _, is := v.(map[string]any); return is }

func isList(v any) bool { _, is := v.([]any); return is }

// optional lists the required fields that need not be there any more.
func optional(before, now any, where string) (found []string) {
	for _, name := range before.([]any) {
		if !slices.Contains(now.([]any), name) {
			found = append(found, fmt.Sprintf("%s: %v may be missing now", where, name))
		}
	}
	return found
}

func brokenParameters(before, now any, where string) (found []string) {
	byName := func(all any) map[string]any {
		named := map[string]any{}
		for _, p := range all.([]any) {
			p := p.(map[string]any)
			named[fmt.Sprint(p["in"], " ", p["name"])] = p
		}
		return named
	}
	was, is := byName(before), byName(now)
	found = breaks(was, is, where)
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, known := was[name]; !known && is[name].(map[string]any)["required"] == true {
			found = append(found, where+"/"+name+" must be given now")
		}
	}
	return found
}

// A property that goes or changes its type is found, also one that has the name of a word of
// OpenAPI's own. What is added or put in other words breaks nothing.
func TestBreaks(t *testing.T) {
	t.Parallel()
	const before = `{"info":{"version":"1"},"paths":{"/a":{"get":{"summary":"A","parameters":[{"name":"p","in":"query","required":false,"schema":{"type":"string"}}]}}},
		"schemas":{"A":{"type":"object","properties":{"n":{"type":"integer"},"title":{"type":["string","null"]}},"required":["n"]}}}`
	for change, want := range map[string]string{
		``:                                    "",
		`"A" => "B"`:                          "",
		`"/a":{ => "/b":{},"/a":{`:            "",
		`"n":{ => "m":{},"n":{`:               "",
		`["n"] => ["n","title"]`:              "",
		`"n":{"type":"integer"}, => `:         "/schemas/A/properties/n is gone",
		`"integer" => "number"`:               "/schemas/A/properties/n/type was integer and is number",
		`["string","null"] => "string"`:       "/schemas/A/properties/title/type was [string null] and is string",
		`"title":{ => "heading":{`:            "/schemas/A/properties/title is gone",
		`["n"] => []`:                         "/schemas/A/required: n may be missing now",
		`"/a" => "/b"`:                        "/paths//a is gone",
		`"name":"p" => "name":"q"`:            "/paths//a/get/parameters/query p is gone",
		`"required":false => "required":true`: "/paths//a/get/parameters/query p/required was false and is true",
		`"parameters":[ => "parameters":[{"name":"q","in":"query","required":true},`: "/paths//a/get/parameters/query q must be given now",
		`"version":"1"},"paths":{"/a" => "version":"2"},"paths":{"/b"`:               "",
	} {
		old, replaced, _ := strings.Cut(change, " => ")
		now := strings.Replace(before, old, replaced, 1)
		if change != "" && now == before {
			t.Errorf("%s changes nothing", change)
		}
		if got := strings.Join(broken(t, []byte(before), []byte(now)), "; "); got != want {
			t.Errorf("%s: %q, want %q", change, got, want)
		}
	}
}
