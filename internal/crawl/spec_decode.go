package crawl

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// SpecError names the field of a spec that is wrong, and how.
type SpecError struct {
	Field   string
	Problem string
}

func (e *SpecError) Error() string {
	if e.Field == "" {
		return "spec: " + e.Problem
	}
	return "spec: " + e.Field + ": " + e.Problem
}

// ParseSpec decodes a spec over the defaults and validates it. Every error is
// a *SpecError.
func ParseSpec(data []byte) (Spec, error) {
	spec := DefaultSpec()
	if len(bytes.TrimSpace(data)) == 0 {
		return Spec{}, &SpecError{Problem: "missing: " + giveObject}
	}
	data = spellDelay(data)
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&spec); err != nil {
		return Spec{}, decodeError(data, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return Spec{}, &SpecError{Problem: "text after the JSON object"}
	}
	if err := spec.Validate(); err != nil {
		return Spec{}, err
	}
	return spec, nil
}

// decodeError returns in which field the decoding of data failed, which
// encoding/json reports for some errors only.
func decodeError(data []byte, err error) error {
	if field, cause := wrongField(data, reflect.TypeFor[Spec](), ""); cause != nil {
		return &SpecError{Field: field, Problem: decodeProblem(cause)}
	}
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return &SpecError{Problem: fmt.Sprintf("a JSON %s: %s", typeErr.Value, giveObject)}
	}
	return &SpecError{Problem: decodeProblem(err)}
}

// giveObject explains the form of a spec.
const giveObject = `give a JSON object such as {"name":"news","seeds":["https://example.com/"]}`

func decodeProblem(err error) string {
	var typeErr *json.UnmarshalTypeError
	if errors.As(err, &typeErr) {
		return fmt.Sprintf("a JSON %s does not fit here", typeErr.Value)
	}
	return strings.TrimPrefix(err.Error(), "json: ")
}

var errUnknownField = errors.New("unknown field")

// wrongField finds the first field of a JSON object that the struct type does
// not have or that does not fit, and returns its path. Without an error it is no
// object, or a correct one.
func wrongField(data []byte, object reflect.Type, path string) (string, error) {
	if object.Kind() == reflect.Pointer {
		object = object.Elem()
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field, ok := fieldNamed(object, name)
		if !ok {
			return path + name, errUnknownField
		}
		if inner, err := wrongMember(members[name], field, path+name); err != nil {
			return inner, err
		}
		if err := json.Unmarshal(members[name], reflect.New(field).Interface()); err != nil {
			return path + name, err
		}
	}
	return "", nil
}

// wrongMember is wrongField of a member that is an object, or a list or map of objects.
func wrongMember(data []byte, member reflect.Type, path string) (string, error) {
	if holdsStruct(member) {
		return wrongField(data, member, path+".")
	}
	if member.Kind() == reflect.Map && holdsStruct(member.Elem()) {
		return wrongNamed(data, member.Elem(), path)
	}
	var list []json.RawMessage
	if member.Kind() != reflect.Slice || !holdsStruct(member.Elem()) || json.Unmarshal(data, &list) != nil {
		return "", nil
	}
	for i, element := range list {
		at := fmt.Sprintf("%s[%d]", path, i)
		if inner, err := wrongField(element, member.Elem(), at+"."); err != nil {
			return inner, err
		}
		if err := json.Unmarshal(element, reflect.New(member.Elem()).Interface()); err != nil {
			return at, err
		}
	}
	return "", nil
}

// wrongNamed is wrongField of each object in a map.
func wrongNamed(data []byte, object reflect.Type, path string) (string, error) {
	var named map[string]json.RawMessage
	if json.Unmarshal(data, &named) != nil {
		return "", nil
	}
	for _, name := range slices.Sorted(maps.Keys(named)) {
		at := path + "." + name
		if inner, err := wrongField(named[name], object, at+"."); err != nil {
			return inner, err
		}
		if err := json.Unmarshal(named[name], reflect.New(object).Interface()); err != nil {
			return at, err
		}
	}
	return "", nil
}

func holdsStruct(t reflect.Type) bool {
	return t.Kind() == reflect.Struct || t.Kind() == reflect.Pointer && t.Elem().Kind() == reflect.Struct
}

// fieldNamed returns the type of the struct's field with the JSON name.
func fieldNamed(object reflect.Type, name string) (reflect.Type, bool) {
	for f := range object.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); strings.EqualFold(tag, name) {
			return f.Type, true
		}
	}
	return nil, false
}
