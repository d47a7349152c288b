package web

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"recrawl/internal/crawl"
)

// readForm reads the form of a command with these fields. It refuses whatever the command
// would not look at: a field narrows what a command does, so one that is passed over would
// widen it.
func readForm(r *http.Request, fields []string) error {
	given, err := parseForm(r)
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.URL.Query())) {
		return fmt.Errorf("%s in the address %w: a command's fields are sent as a form (application/x-www-form-urlencoded)", quoted(name), errBad)
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		switch values := given[name]; {
		case name == backField:
		case !slices.Contains(fields, name):
			return fmt.Errorf("the field %s %w: this command has %s", quoted(name), errBad, fieldList(fields))
		case len(values) > 1:
			return fmt.Errorf("the field %s %w: it is given %d times", name, errBad, len(values))
		case values[0] == "":
			return fmt.Errorf("the field %s %w: it is empty; leave it out, or give it a value", name, errBad)
		}
	}
	return nil
}

// parseForm returns the fields that a request brings along.
func parseForm(r *http.Request) (url.Values, error) {
	contentType, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	var err error
	switch contentType {
	case "application/x-www-form-urlencoded":
		err = r.ParseForm()
	case "multipart/form-data":
		if err = r.ParseMultipartForm(formMost); err == nil && len(r.MultipartForm.File) > 0 {
			err = errors.New("a command takes no files")
		}
	default:
		if n, _ := io.ReadFull(r.Body, make([]byte, 1)); n > 0 {
			return nil, fmt.Errorf("a body of the type %s %w: a command's fields are sent as a form (application/x-www-form-urlencoded)", quoted(contentType), errBad)
		}
		err = r.ParseForm()
	}
	if tooLong := new(http.MaxBytesError); errors.As(err, &tooLong) {
		return nil, fmt.Errorf("the form %w: it has more than %d bytes", errBad, tooLong.Limit)
	}
	if err != nil {
		return nil, fmt.Errorf("the form %w: %s", errBad, crawl.Clean(err.Error(), 200))
	}
	return r.PostForm, nil
}

func quoted(text string) string { return fmt.Sprintf("%q", crawl.Clean(text, 60)) }

func fieldList(fields []string) string {
	if len(fields) == 0 {
		return "no fields"
	}
	return strings.Join(fields, ", ")
}
