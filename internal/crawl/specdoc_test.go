package crawl

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// specDoc is the page that is made of the spec's types; RECRAWL_UPDATE=1 writes
// it again.
const specDoc = "../../docs/spec.md"

func TestSpecDoc(t *testing.T) {
	t.Parallel()
	want := specMarkdown(t)
	if os.Getenv("RECRAWL_UPDATE") != "" {
		if err := os.WriteFile(specDoc, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(specDoc)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("docs/spec.md does not say what the types say: run `make docs`")
	}
}

const specHead = `# The crawl spec

<!-- Made from internal/crawl/spec.go by ` + "`make docs`" + `; do not edit. -->

The settings of one crawl: the input of the Crawl workflow as JSON, and the file of
` + "`starter crawl --spec FILE`" + ` as YAML or JSON. A missing field has its default; an unknown
field, and in a file one given twice, is an error that names it. Durations have units (` + "`10s`, `36h`, `7d`" + `), and so do
sizes (` + "`10MiB`" + `).

| Field | Default | Meaning |
| --- | --- | --- |
`

func specMarkdown(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString(specHead)
	comments := fieldComments(t)
	var write func(v reflect.Value, prefix string)
	write = func(v reflect.Value, prefix string) {
		for f, value := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Type.Kind() == reflect.Struct {
				write(value, prefix+name+".")
				continue
			}
			comment := comments[v.Type().Name()+"."+f.Name]
			if comment == "" {
				t.Errorf("%s.%s has no comment", v.Type().Name(), f.Name)
			}
			fmt.Fprintf(&b, "| `%s%s` | %s | %s |\n", prefix, name, defaultText(t, value), comment)
		}
	}
	write(reflect.ValueOf(DefaultSpec()), "")
	b.WriteString(filterHead)
	for _, of := range []reflect.Type{reflect.TypeFor[ScopeRule](), reflect.TypeFor[FilterSpec]()} {
		for f := range of.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, kindOf(f.Type), ruleComment(comments, of.Name()+"."+f.Name))
		}
	}
	b.WriteString(revisitHead)
	for f := range reflect.TypeFor[RevisitRule]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if comments["RevisitRule."+f.Name] == "" {
			t.Errorf("RevisitRule.%s has no comment", f.Name)
		}
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, comments["RevisitRule."+f.Name])
	}
	b.WriteString(contentHead)
	for f := range reflect.TypeFor[ContentRule]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fmt.Fprintf(&b, "| `%s` | %s |\n", name, comments["ContentRule."+f.Name])
	}
	b.WriteString(contentExample)
	b.WriteString(sinkHead)
	for _, of := range []struct {
		prefix string
		object reflect.Type
	}{{"", reflect.TypeFor[SinkSpec]()}, {"when.", reflect.TypeFor[SinkWhen]()}, {"when.number.", reflect.TypeFor[SinkNumber]()}} {
		for f := range of.object.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			comment := comments[of.object.Name()+"."+f.Name]
			if comment == "" {
				t.Errorf("%s.%s has no comment", of.object.Name(), f.Name)
			}
			fmt.Fprintf(&b, "| `%s%s` | %s |\n", of.prefix, name, comment)
		}
	}
	b.WriteString(sinkExample)
	example, err := json.MarshalIndent(everyField(reflect.ValueOf(exampleSpec())), "    ", "  ")
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&b, "\nEvery field with its default, for one seed:\n\n    %s\n", example)
	return b.String()
}

const filterHead = `
A rule of ` + "`scope.rules`" + ` has accept or reject, with a filter, and may have a name. A filter
matches a URL that meets all of its conditions; any value of a list meets a condition.
[scope.md](scope.md) has examples.

| Field | Value | Meaning |
| --- | --- | --- |
`

const revisitHead = `
A rule of ` + "`revisit.rules`" + ` plans some of a crawl's pages differently from the rest; the first
that matches a page counts. [policies.md](policies.md) has examples.

| Field | Meaning |
| --- | --- |
`

const contentHead = `
A rule of ` + "`content.rules`" + ` says what the text of some pages is, so that one crawl can watch a
price here and a table there. The first rule that matches a page counts.

| Field | Meaning |
| --- | --- |
`

const contentExample = `
    content:
      rules:
        - {prefix: "https://shop.example.com/", select: [".price", ".in-stock"]}
        - {host: "*.example.org", ignore_selectors: ["#weather"], ignore_patterns: ['\d+ readers']}

A change of ` + "`content`" + ` is no change of a page: when the page's bytes next change, its last version
is read again by the new rules. Only where the site asked that its body not be kept, there is
nothing to read. Selectors count in HTML only, and not in the few pages that are too large or too
deep for a tree. Copies and traps are found by the whole main text, whatever is selected.
` + "`starter show URL --text`" + ` shows what is compared.
`

const sinkHead = `
A sink of ` + "`sinks`" + ` is sent what changes. [sinks-delivery.md](sinks-delivery.md) says how.

| Field | Meaning |
| --- | --- |
`

const sinkExample = `
    sinks:
      team: {kind: webhook, to: "https://example.com/hook", secret: "env:TEAM_HOOK", kinds: [page.new, page.changed]}
      daily: {kind: mail, to: "you@example.org", every: 24h, prefix: "https://example.org/docs/"}
      cheap: {kind: mail, to: "you@example.org", when: {number: {after: "Price:", below: 100}}}
`

// kindOf says how a field of a rule is written.
func kindOf(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[Texts]():
		return "text or list"
	case reflect.TypeFor[*Range]():
		return "`{min, max}`"
	case reflect.TypeFor[*FilterSpec]():
		return "filter"
	case reflect.TypeFor[[]FilterSpec]():
		return "list of filters"
	}
	return "text"
}

// ruleComment is the comment of a rule's field; accept and reject share that of
// the rule.
func ruleComment(comments map[string]string, field string) string {
	switch field {
	case "ScopeRule.Accept":
		return "The URLs that the rule accepts."
	case "ScopeRule.Reject":
		return "The URLs that the rule rejects."
	}
	return comments[field]
}

func exampleSpec() Spec {
	spec := DefaultSpec()
	spec.Name, spec.Seeds = "news", []string{"https://example.com/"}
	return spec
}

// everyField is a value that is written with the fields that JSON leaves out when they are
// empty, too.
func everyField(v reflect.Value) any {
	_, written := v.Interface().(json.Marshaler)
	switch {
	case written:
	case v.Kind() == reflect.Slice && v.IsNil():
		return reflect.MakeSlice(v.Type(), 0, 0).Interface()
	case v.Kind() == reflect.Map && v.IsNil():
		return reflect.MakeMap(v.Type()).Interface()
	case v.Kind() == reflect.Struct:
		var fields []reflect.StructField
		var values []reflect.Value
		for f, value := range v.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			values = append(values, reflect.ValueOf(everyField(value)))
			fields = append(fields, reflect.StructField{Name: f.Name, Type: values[len(values)-1].Type(), Tag: reflect.StructTag(fmt.Sprintf(`json:"%s"`, name))})
		}
		whole := reflect.New(reflect.StructOf(fields)).Elem()
		for i, value := range values {
			whole.Field(i).Set(value)
		}
		return whole.Interface()
	}
	return v.Interface()
}

// defaultText is a default as a person writes it; "" and null are none.
func defaultText(t *testing.T, v reflect.Value) string {
	t.Helper()
	raw, err := json.Marshal(v.Interface())
	if err != nil {
		t.Fatal(err)
	}
	switch text := strings.Trim(string(raw), `"`); text {
	case "", "null":
		return "–"
	default:
		return "`" + text + "`"
	}
}

// forPeople is a field's comment without the names of Go.
func forPeople(name, comment string) string {
	for _, start := range []string{name + " is ", name + " are ", name + " "} {
		if rest, ok := strings.CutPrefix(comment, start); ok {
			comment = strings.ToUpper(rest[:1]) + rest[1:]
			break
		}
	}
	return goName.ReplaceAllStringFunc(strings.ReplaceAll(comment, "|", `\|`), func(word string) string {
		return strings.ToLower(word[:1]) + upper.ReplaceAllStringFunc(word[1:], func(c string) string { return "_" + strings.ToLower(c) })
	})
}

var (
	goName = regexp.MustCompile(`\b[A-Z][a-z]+[A-Z][A-Za-z]*\b`)
	upper  = regexp.MustCompile(`[A-Z]`)
)

// fieldComments reads the comments of the spec's fields, by "Type.Field".
func fieldComments(t *testing.T) map[string]string {
	t.Helper()
	comments := map[string]string{}
	for _, name := range []string{"spec.go", "filter.go", "sources.go", "documents.go", "content.go", "sinks.go", "revisit_rules.go"} {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		addComments(file, comments)
	}
	return comments
}

func addComments(file *ast.File, comments map[string]string) {
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range s.Fields.List {
				text := strings.Join(strings.Fields(field.Doc.Text()), " ")
				for _, name := range field.Names {
					comments[spec.Name.Name+"."+name.Name] = forPeople(name.Name, text)
				}
			}
		}
		return true
	})
}
