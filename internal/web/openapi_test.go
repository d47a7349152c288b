package web_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// validator checks values against the schemas of an OpenAPI document. More strictly than
// JSON Schema, it also rejects fields that are not described.
type validator struct {
	document map[string]any
	used     map[string]bool // schemas that a value was checked against
}

// at returns a value of the document by its path.
func (v validator) at(path ...string) any {
	var in any = v.document
	for _, p := range path {
		m, _ := in.(map[string]any)
		in = m[p]
	}
	return in
}

// check returns what is wrong with a value.
func (v validator) check(schema map[string]any, value any, where string) (wrong []string) {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/components/schemas/")
		to, ok := v.at("components", "schemas", name).(map[string]any)
		if !ok {
			return []string{where + ": there is no " + ref}
		}
		v.used[name] = true
		return v.check(to, value, where)
	}
	if choices, ok := schema["anyOf"].([]any); ok {
		for _, one := range choices {
			if wrong = v.check(one.(map[string]any), value, where); len(wrong) == 0 {
				return nil
			}
		}
		return wrong
	}
	if types := typesOf(schema); len(types) > 0 && !slices.Contains(types, typeOf(value)) && (typeOf(value) != "integer" || !slices.Contains(types, "number")) {
		return []string{fmt.Sprintf("%s: %v is no %v", where, value, types)}
	}
	switch value := value.(type) {
	case map[string]any:
		return v.object(schema, value, where)
	case []any:
		for i, item := range value {
			wrong = append(wrong, v.check(schema["items"].(map[string]any), item, fmt.Sprintf("%s[%d]", where, i))...)
		}
	case string:
		if schema["format"] == "date-time" {
			if _, err := time.Parse(time.RFC3339, value); err != nil {
				wrong = append(wrong, where+": "+err.Error())
			}
		}
	}
	return wrong
}

func (v validator) object(schema, value map[string]any, where string) (wrong []string) {
	properties, _ := schema["properties"].(map[string]any)
	rest, open := schema["additionalProperties"].(map[string]any)
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := value[name.(string)]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %s is missing", where, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(value)) {
		if of, ok := properties[name].(map[string]any); ok {
			wrong = append(wrong, v.check(of, value[name], where+"."+name)...)
		} else if open {
			wrong = append(wrong, v.check(rest, value[name], where+"."+name)...)
		} else {
			wrong = append(wrong, fmt.Sprintf("%s: %s is not described", where, name))
		}
	}
	return wrong
}

func typesOf(schema map[string]any) (types []string) {
	switch of := schema["type"].(type) {
	case string:
		return []string{of}
	case []any:
		for _, t := range of {
			types = append(types, t.(string))
		}
	}
	return types
}

func typeOf(value any) string {
	switch value := value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case float64:
		if value == float64(int64(value)) {
			return "integer"
		}
		return "number"
	case []any:
		return "array"
	}
	return "object"
}

func TestValidator(t *testing.T) {
	t.Parallel()
	v := validator{used: map[string]bool{}, document: map[string]any{"components": map[string]any{"schemas": map[string]any{"A": map[string]any{
		"type": "object", "properties": map[string]any{"n": map[string]any{"type": []any{"integer", "null"}}, "t": map[string]any{"type": "string", "format": "date-time"}}, "required": []any{"n"},
	}}}}}
	schema := map[string]any{"type": "array", "items": map[string]any{"anyOf": []any{map[string]any{"$ref": "#/components/schemas/A"}, map[string]any{"type": "null"}}}}
	for text, valid := range map[string]bool{
		`[]`: true, `[null, {"n":1}]`: true, `[{"n":null,"t":"2026-03-01T12:00:00Z"}]`: true,
		`{}`: false, `[1]`: false, `[{}]`: false, `[{"n":1.5}]`: false, `[{"n":1,"t":"today"}]`: false, `[{"n":1,"x":2}]`: false,
	} {
		var value any
		if err := json.Unmarshal([]byte(text), &value); err != nil {
			t.Fatal(err)
		}
		if wrong := v.check(schema, value, "it"); (len(wrong) == 0) != valid {
			t.Errorf("%s: %v", text, wrong)
		}
	}
}

// Every view's answer matches /openapi.json.
func TestAnswersAreAsDescribed(t *testing.T) {
	t.Parallel()
	w := searched(t)
	v := validator{document: data[map[string]any](w, "/openapi.json"), used: map[string]bool{}}
	if v.document["openapi"] != "3.1.0" {
		t.Fatalf("version %v", v.document["openapi"])
	}
	queries := map[string][]string{
		"/crawls/{crawl}/url.json":     {"?url=https://a.test/", "?url=https://elsewhere.test/%3Cb%3E"},
		"/crawls/{crawl}/changes.json": {"", "?diff=1", "?limit=1"},
		"/crawls/{crawl}/pages.json":   {"", "?limit=1", "?text=none"},
		"/crawls/{crawl}/search.json":  {"?q=ticket", "?q=alert+ticket&limit=1", ""},
		"/crawls/{crawl}/hosts.json":   {"", "?limit=1", "?trouble=1"},
	}
	names := strings.NewReplacer("{crawl}", "news", "{host}", "a.test", "{sink}", "team", "{seq}", "1", "{page}", fmt.Sprint(w.pages["https://a.test/prices"]))
	paths := v.document["paths"].(map[string]any)
	for path := range paths {
		schema, ok := v.at("paths", path, "get", "responses", "200", "content", "application/json", "schema").(map[string]any)
		if !ok {
			continue // a button
		}
		for _, query := range append(queries[path], "")[:max(1, len(queries[path]))] {
			address := names.Replace(path) + query
			for _, wrong := range v.check(schema, data[any](w, address), address) {
				t.Error(wrong)
			}
		}
	}
	for _, name := range []string{"StatusLine", "PageItem", "HostItem", "RobotsLine", "RejectedLine", "TrapLine", "PrefixLine", "DuplicateItem", "SourceItem", "SinkItem", "FailedLine", "SearchHit", "Event", "EventDiff", "URLAnswer", "ScopeCheck"} {
		if !v.used[name] {
			t.Errorf("no answer has a %s: the test says nothing of it", name)
		}
	}
	failure := v.at("paths", "/crawls/{crawl}.json", "get", "responses", "default", "content", "application/json", "schema").(map[string]any)
	for _, address := range []string{"/crawls/none.json", "/crawls/news/pages.json?state=dead"} {
		status, _, body := w.get(address)
		var value any
		if err := json.Unmarshal([]byte(body), &value); err != nil || status < 400 {
			t.Fatalf("%s: %d %v", address, status, err)
		}
		for _, wrong := range v.check(failure, value, address) {
			t.Error(wrong)
		}
	}
}
