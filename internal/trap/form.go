package trap

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"recrawl/internal/urlkey"
)

// The form of a URL is the shapes of its segments, and then "?name=shape" for each
// parameter. In the form of many URLs anyValue stands for the differing parts, and
// a last formDate for a date of any spelling, alone.
const (
	anyValue = "*"
	formDate = "{date}"
)

const (
	// ownPart is how many pages of one value, or which share of the pages, make a value
	// part of a form. Names differ from page to page, and months have twelve values; a
	// folder, or the name of a program, has a third of the pages or some dozens.
	ownPart  = 20
	ownShare = 0.3
	// leastForm is the least number of pages that establish a form.
	leastForm = 5
)

func formOf(u urlkey.URL) []string {
	form := pathShapes(u)
	var params []string
	for _, p := range u.Params() {
		name, value, _ := strings.Cut(p, "=")
		params = append(params, "?"+name+"="+shape(value))
	}
	slices.Sort(params)
	return append(form, params...)
}

// SameKind reports whether two URLs of one host may be of one form: they have as many
// segments, and parameters of the same names.
func SameKind(a, b urlkey.URL) bool {
	return a.HostKey() == b.HostKey() && len(a.Segments()) == len(b.Segments()) && slices.Equal(paramNames(a), paramNames(b))
}

// formText writes a form as a path with a query.
func formText(form []string) string {
	var path, query []string
	for _, part := range form {
		if param, ok := strings.CutPrefix(part, "?"); ok {
			query = append(query, param)
		} else {
			path = append(path, part)
		}
	}
	text := strings.Join(path, "/")
	if len(query) > 0 {
		text += "?" + strings.Join(query, "&")
	}
	return text
}

func hasForm(u urlkey.URL, form []string) bool {
	if n := len(form); isDates(form) {
		d, ok := onlyDate(u)
		return ok && slices.Equal(pathShapes(u)[:d.at], form[:n-1])
	}
	return fits(formOf(u), form)
}

// fits reports whether the form of a URL is of a form of many, which is none of dates.
func fits(own, form []string) bool {
	return slices.EqualFunc(own, form, func(part, of string) bool {
		return part == of || nameOf(part)+anyValue == of
	})
}

// nameOf is the text before the value in a part of a form.
func nameOf(part string) string {
	if !strings.HasPrefix(part, "?") {
		return ""
	}
	name, _, _ := strings.Cut(part, "=")
	return name + "="
}

// isNumbered reports whether the URLs of a form differ in one number alone.
func isNumbered(form []string) bool {
	text := strings.Join(form, "/")
	return strings.Count(text, "#") == 1 && !strings.Contains(text, anyValue) && !isDates(form)
}

// hasName reports whether the form has a distinctive part, so that not all pages of
// a host may be of it.
func hasName(form []string) bool {
	return slices.ContainsFunc(form, func(part string) bool {
		value := strings.TrimPrefix(part, nameOf(part))
		return nameOf(part) != "" || value != anyValue && value != formDate && value != "#"
	})
}

// family is visited pages of one host whose URLs have one form, by id.
type family struct {
	form  []string
	pages []Page
}

func isDates(form []string) bool { return len(form) > 0 && form[len(form)-1] == formDate }

// familiesOf finds the forms of the visited pages of a host, most pages first.
func familiesOf(pages []Page) []family {
	kinds, dates := map[string][]Page{}, map[string][]Page{}
	forms := make(map[urlkey.URL][]string, len(pages))
	for _, p := range pages {
		form := formOf(p.URL)
		forms[p.URL] = form
		var kind strings.Builder
		for _, part := range form {
			kind.WriteString(nameOf(part) + "/")
		}
		kinds[kind.String()] = append(kinds[kind.String()], p)
		if d, ok := onlyDate(p.URL); ok {
			at := strings.Join(form[:d.at], "/")
			dates[at] = append(dates[at], p)
		}
	}
	var found []family
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		split(kinds[kind], forms, nil, &found)
	}
	for _, at := range slices.Sorted(maps.Keys(dates)) {
		some := dates[at]
		d, _ := onlyDate(some[0].URL)
		found = append(found, family{append(slices.Clone(forms[some[0].URL][:d.at]), formDate), some})
	}
	found = slices.DeleteFunc(found, func(f family) bool { return len(f.pages) < leastForm }) // dates
	slices.SortStableFunc(found, func(a, b family) int { return cmp.Compare(len(b.pages), len(a.pages)) })
	return found
}

// split divides pages, whose forms begin with form, by their next part, and joins
// those whose next part few others have.
func split(pages []Page, forms map[urlkey.URL][]string, form []string, found *[]family) {
	at := len(form)
	if len(pages) < leastForm {
		return
	}
	if at == len(forms[pages[0].URL]) {
		*found = append(*found, family{form, pages})
		return
	}
	byPart := map[string][]Page{}
	for _, p := range pages {
		part := forms[p.URL][at]
		byPart[part] = append(byPart[part], p)
	}
	if len(byPart) == 1 { // no other form begins so: copying what all have would cost the square of it
		split(pages, forms, append(form, forms[pages[0].URL][at]), found)
		return
	}
	var rest []Page
	for _, part := range slices.Sorted(maps.Keys(byPart)) {
		some := byPart[part]
		if len(some) >= ownPart || float64(len(some)) >= ownShare*float64(len(pages)) {
			split(some, forms, append(slices.Clip(form), part), found)
		} else {
			rest = append(rest, some...)
		}
	}
	if len(rest) > 0 {
		slices.SortFunc(rest, func(a, b Page) int { return cmp.Compare(a.ID, b.ID) })
		split(rest, forms, append(slices.Clip(form), nameOf(forms[rest[0].URL][at])+anyValue), found)
	}
}
