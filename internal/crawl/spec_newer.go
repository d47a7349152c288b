package crawl

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// KeepUnknown returns a spec's JSON with what the stored one has and this release does not
// know. A program of this release that changes a spec beside programs of the next one would
// otherwise drop their settings.
func KeepUnknown(spec, stored string) (string, error) {
	var to, from map[string]json.RawMessage
	if err := json.Unmarshal([]byte(spec), &to); err != nil {
		return "", fmt.Errorf("read the new spec: %w", err)
	}
	if err := json.Unmarshal([]byte(stored), &from); err != nil {
		return "", fmt.Errorf("read the stored spec: %w", err)
	}
	if !keepUnknown(to, from, reflect.TypeFor[Spec]()) {
		return spec, nil
	}
	kept, err := json.Marshal(to)
	if err != nil {
		return "", fmt.Errorf("keep settings of a newer release: %w", err)
	}
	return string(kept), nil
}

// keepUnknown copies the members of an object that the type does not have, also in the objects
// in it, and reports whether there are any. Elements of lists are not told apart.
func keepUnknown(to, from map[string]json.RawMessage, object reflect.Type) (kept bool) {
	if object.Kind() == reflect.Pointer {
		object = object.Elem()
	}
	for name, value := range from {
		field, known := fieldNamed(object, name)
		if !known {
			to[name], kept = value, true
			continue
		}
		var inner, was map[string]json.RawMessage
		if json.Unmarshal(to[name], &inner) != nil || json.Unmarshal(value, &was) != nil || inner == nil {
			continue // no objects
		}
		changed := false
		switch {
		case holdsStruct(field):
			changed = keepUnknown(inner, was, field)
		case field.Kind() == reflect.Map && holdsStruct(field.Elem()):
			changed = keepUnknownOfEach(inner, was, field.Elem())
		}
		if !changed {
			continue
		}
		if text, err := json.Marshal(inner); err == nil {
			to[name], kept = text, true
		}
	}
	return kept
}

// keepUnknownOfEach is keepUnknown of the objects of one name in two maps.
func keepUnknownOfEach(to, from map[string]json.RawMessage, object reflect.Type) (kept bool) {
	for name := range to {
		var inner, was map[string]json.RawMessage
		if json.Unmarshal(to[name], &inner) != nil || json.Unmarshal(from[name], &was) != nil || inner == nil || !keepUnknown(inner, was, object) {
			continue
		}
		if text, err := json.Marshal(inner); err == nil {
			to[name], kept = text, true
		}
	}
	return kept
}
