package sitemap

import (
	"encoding/json"
	"errors"
	"io"
	"strings"

	"recrawl/internal/urlkey"
)

// lines reads a list of URLs, one a line. It is a list if the first line is an
// absolute URL.
func (l *lister) lines() error {
	var line []byte
	add := func() error {
		text := strings.TrimSpace(string(line))
		line = line[:0]
		l.in.rest()
		if text == "" {
			return nil
		}
		if _, err := urlkey.Canonical(text); err != nil && l.list.Format == "" {
			return ErrNoList
		}
		l.list.Format = FormatText
		l.list.add(l.base, found{href: text}, l.most)
		return nil
	}
	l.in.rest()
	for {
		c, err := l.in.ReadByte()
		if errors.Is(err, io.EOF) {
			return add()
		}
		if err != nil {
			return err
		}
		if c != '\n' && c != '\r' {
			if len(line) <= maxURL { // one byte more shows that it is too long
				line = append(line, c)
			}
			continue
		}
		if err := add(); err != nil {
			return err
		}
	}
}

// jsonItem is an entry of a JSON Feed (https://www.jsonfeed.org/version/1.1/).
type jsonItem struct {
	URL       string `json:"url"`
	ID        any    `json:"id"`
	Published string `json:"date_published"`
	Modified  string `json:"date_modified"`
}

// json reads a JSON Feed, an item at a time.
func (l *lister) json() error {
	l.in.rest()
	d := json.NewDecoder(l.in)
	if _, err := d.Token(); err != nil {
		return err
	}
	for d.More() {
		l.in.rest()
		key, err := d.Token()
		if err != nil {
			return err
		}
		switch key {
		case "version":
			var version string
			if err := d.Decode(&version); err != nil || !strings.Contains(version, "jsonfeed.org/version/") {
				return ErrNoList
			}
			l.list.Format = FormatJSON
		case "items":
			if err := l.items(d); err != nil {
				return err
			}
		default:
			var other json.RawMessage
			if err := d.Decode(&other); err != nil {
				return err
			}
		}
	}
	if l.list.Format == "" {
		return ErrNoList
	}
	return nil
}

func (l *lister) items(d *json.Decoder) error {
	open, err := d.Token()
	if err != nil {
		return err
	}
	if open != json.Delim('[') {
		return errors.New("items is no list")
	}
	for d.More() {
		l.in.rest()
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return err
		}
		var item jsonItem
		if json.Unmarshal(raw, &item) != nil && item.URL == "" {
			l.list.drop(DropMalformed, 1)
			continue
		}
		href := item.URL
		if id, ok := item.ID.(string); ok && href == "" && strings.HasPrefix(id, "http") {
			href = id
		}
		date := item.Modified
		if date == "" {
			date = item.Published
		}
		l.list.add(l.base, found{href: href, date: date}, l.most)
	}
	_, err = d.Token()
	return err
}
