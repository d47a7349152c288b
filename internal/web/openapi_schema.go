package web

import (
	"encoding"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// object is an object of JSON.
type object map[string]any

// schemas describes types in OpenAPI 3.1's JSON Schema: structs by their names, so that
// each is described once.
type schemas struct {
	named object
	types map[string]reflect.Type
}

func newSchemas() *schemas { return &schemas{named: object{}, types: map[string]reflect.Type{}} }

var (
	marshalsJSON = reflect.TypeFor[json.Marshaler]()
	marshalsText = reflect.TypeFor[encoding.TextMarshaler]()
	isTime       = reflect.TypeFor[time.Time]()
)

// of describes a type as encoding/json writes it.
func (s *schemas) of(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[json.RawMessage](), t.Kind() == reflect.Interface:
		return object{}
	case t.Kind() == reflect.Pointer:
		return orNull(s.of(t.Elem()))
	case t == isTime:
		return object{"type": "string", "format": "date-time"}
	case t.Implements(marshalsJSON):
		return ofMarshaler(t)
	case t.Implements(marshalsText):
		return object{"type": "string"}
	}
	switch t.Kind() {
	case reflect.Struct:
		return s.reference(t)
	case reflect.Slice, reflect.Array:
		return object{"type": "array", "items": s.of(t.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": s.of(t.Elem())}
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Float32, reflect.Float64:
		return object{"type": "number"}
	}
	return object{"type": "integer"}
}

// ofMarshaler describes a type that writes itself: a text, a time, or null in its place.
func ofMarshaler(t reflect.Type) object {
	o := object{"type": "string"}
	if t.ConvertibleTo(isTime) {
		o["format"] = "date-time"
	}
	zero, err := json.Marshal(reflect.Zero(t).Interface())
	if err == nil && string(zero) == "null" {
		return orNull(o)
	}
	return o
}

// orNull describes a value that may be missing.
func orNull(o object) object {
	if of, ok := o["type"].(string); ok {
		o["type"] = []string{of, "null"}
		return o
	}
	return object{"anyOf": []object{o, {"type": "null"}}}
}

// reference names a struct, and describes it if that has not been done.
func (s *schemas) reference(t reflect.Type) object {
	name := schemaName(t)
	if known, ok := s.types[name]; ok && known != t {
		panic(fmt.Sprintf("web: %s and %s have the same name in the description of the API", known, t))
	} else if !ok {
		s.types[name] = t
		properties, required := object{}, []string{}
		s.fields(t, properties, &required)
		s.named[name] = object{"type": "object", "properties": properties, "required": required}
	}
	return object{"$ref": "#/components/schemas/" + name}
}

// schemaName returns the name of a struct in the description: list[report.PageItem] is
// PageItemList.
func schemaName(t reflect.Type) string {
	name, of, generic := strings.Cut(strings.TrimSuffix(t.Name(), "]"), "[")
	if generic {
		name = of[strings.LastIndex(of, ".")+1:] + capital(name)
	}
	name = strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, name)
	if name == "" {
		panic(fmt.Sprintf("web: %s has no name for the description of the API", t))
	}
	return capital(name)
}

// sometimesNull are the lists that are null instead of empty, by schema and field.
var sometimesNull = map[string]bool{"ScopeCheck.steps": true}

// fields describes the fields of a struct, with those of embedded ones.
func (s *schemas) fields(t reflect.Type, properties object, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "-", !f.IsExported() && !f.Anonymous:
			continue
		case f.Anonymous && name == "":
			s.fields(f.Type, properties, required)
			continue
		case name == "":
			name = f.Name
		}
		of := s.of(f.Type)
		if sometimesNull[schemaName(t)+"."+name] {
			of = orNull(of)
		}
		properties[name] = of
		if !strings.Contains(options, "omit") {
			*required = append(*required, name)
		}
	}
}

// capital returns a text with its first letter as a capital.
func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
