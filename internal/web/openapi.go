package web

import (
	"bytes"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"
	"strings"
)

// operation describes a view or a button to programs.
type operation struct {
	pattern string // of the view or the action
	summary string
	params  []param
	// of is a value of the answer's type; a button has none.
	of any
}

// param is a parameter of an address, or a field of a form.
type param struct {
	name, about string
	kind        string // "" is string
	required    bool
}

// openAPI answers with the description of the API, as docs/openapi.json has it.
func (s *Server) openAPI(w http.ResponseWriter, _ *http.Request) {
	text, err := descriptionText()
	s.writeText(w, http.StatusOK, text, err)
}

// descriptionText is the description with a line for each property, so that people can read
// it and compare two.
func descriptionText() ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(description())
	return text.Bytes(), err
}

// description is an OpenAPI document (3.1) of all addresses that programs may ask.
func description() object {
	known, paths := newSchemas(), object{}
	failure := known.of(reflect.TypeFor[failureAnswer]())
	for _, o := range viewOperations() {
		get := o.describe(known, failure)
		get["parameters"] = append(pathParams(o.pattern), queryParams(o.params)...)
		paths[jsonPath(o.pattern)] = object{"get": get}
	}
	for _, o := range buttonOperations() {
		o.of = said{}
		post := o.describe(known, failure)
		post["parameters"] = append(pathParams(o.pattern), object{
			"name": "Accept", "in": "header", "required": true, "description": "application/json: without it, the answer leads a browser back.", "schema": object{"type": "string"},
		})
		if len(o.params) > 0 {
			post["requestBody"] = object{"content": object{"application/x-www-form-urlencoded": object{"schema": formOf(o.params)}}}
		}
		paths[o.pattern] = object{"post": post}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "recrawl", "version": strconv.Itoa(apiVersion),
			"description": "Everything that the page for operators shows. The version is that of the objects, and v of a list is the same number. Fields are added without a new version; it is raised when a field changes its meaning or its type, or goes.",
		},
		"security":   []object{{}, {"token": []string{}}},
		"paths":      paths,
		"components": object{"schemas": known.named, "securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}}},
	}
}

// failureAnswer and said are the other answers that programs get.
type failureAnswer struct {
	Error string `json:"error"`
}

type said struct {
	Message string `json:"message"`
}

func (o operation) describe(known *schemas, failure object) object {
	answers := func(about string, schema object) object {
		return object{"description": about, "content": object{"application/json": object{"schema": schema}}}
	}
	return object{
		"summary": o.summary,
		"responses": object{
			"200":     answers("The answer.", known.of(reflect.TypeOf(o.of))),
			"default": answers("What was wrong: 400 with the question, 401 without the token, 403 with who asks, 404 if there is no such thing, 409 if a command failed, 500 with the store, 503 if the answer takes too long.", failure),
		},
	}
}

// jsonPath returns the address at which a view answers programs.
func jsonPath(pattern string) string {
	if at := jsonPattern(pattern); at != "" {
		return at
	}
	return pattern + jsonSuffix
}

// pathParams describes the wildcards of a pattern.
func pathParams(pattern string) []object {
	all := []object{}
	for part := range strings.SplitSeq(pattern, "/") {
		name, ok := strings.CutPrefix(part, "{")
		if name = strings.TrimSuffix(name, "}"); ok && name != "$" {
			all = append(all, object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}})
		}
	}
	return all
}

func queryParams(params []param) []object {
	all := []object{}
	for _, p := range params {
		all = append(all, object{"name": p.name, "in": "query", "required": p.required, "description": p.about, "schema": p.schema()})
	}
	return all
}

func (p param) schema() object {
	if p.kind == "" {
		return object{"type": "string"}
	}
	return object{"type": p.kind}
}

func formOf(params []param) object {
	properties := object{}
	for _, p := range params {
		of := p.schema()
		of["description"] = p.about
		properties[p.name] = of
	}
	return object{"type": "object", "properties": properties}
}
