package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// ParseWrittenSpec is ParseSpec for a spec that a person wrote. It also refuses two things
// that encoding/json accepts: a member that is there twice, whose last value would count, and
// a name whose case is not the field's. Stored specs are taken as they are.
func ParseWrittenSpec(data []byte) (Spec, error) {
	if json.Valid(data) { // ParseSpec says what is wrong otherwise
		k := keyReader{json.NewDecoder(bytes.NewReader(data))}
		if err := k.value(reflect.TypeFor[Spec](), ""); err != nil {
			return Spec{}, err
		}
	}
	return ParseSpec(data)
}

// keyReader reads the keys of all objects of a valid JSON text.
type keyReader struct{ dec *json.Decoder }

// value reads a value that should fit the type; nil stands for an unknown type.
func (k keyReader) value(is reflect.Type, path string) error {
	for is != nil && is.Kind() == reflect.Pointer {
		is = is.Elem()
	}
	token, err := k.dec.Token()
	if err != nil {
		return err
	}
	switch token {
	case json.Delim('{'):
		err = k.object(is, path)
	case json.Delim('['):
		err = k.list(is, path)
	default:
		return nil
	}
	if err == nil {
		_, err = k.dec.Token() // the end
	}
	return err
}

func (k keyReader) object(is reflect.Type, path string) error {
	prefix := path
	if path != "" {
		prefix += "."
	}
	seen := map[string]bool{}
	for k.dec.More() {
		token, err := k.dec.Token()
		if err != nil {
			return err
		}
		name, _ := token.(string)
		field, want := memberOf(is, name)
		switch {
		case seen[name]:
			return &SpecError{Field: prefix + name, Problem: "given twice"}
		case want != name:
			return &SpecError{Field: prefix + name, Problem: "the field is " + want}
		}
		seen[name] = true
		if err := k.value(field, prefix+name); err != nil {
			return err
		}
	}
	return nil
}

func (k keyReader) list(is reflect.Type, path string) error {
	var element reflect.Type
	if is != nil && is.Kind() == reflect.Slice {
		element = is.Elem()
	}
	for i := 0; k.dec.More(); i++ {
		if err := k.value(element, fmt.Sprintf("%s[%d]", path, i)); err != nil {
			return err
		}
	}
	return nil
}

// memberOf returns the type of an object's member, and how its name is written. A name that
// the object does not have is as good as any.
func memberOf(object reflect.Type, name string) (reflect.Type, string) {
	switch {
	case object == nil:
		return nil, name
	case object.Kind() == reflect.Map:
		return object.Elem(), name
	case object.Kind() != reflect.Struct:
		return nil, name
	}
	for f := range object.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); strings.EqualFold(tag, name) {
			return f.Type, tag
		}
	}
	return nil, name
}
