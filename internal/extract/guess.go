package extract

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode"

	"github.com/gogs/chardet"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
)

const (
	// maxWording bounds the text by which an encoding is guessed.
	maxWording = 64 << 10
	// leastForeign is the least number of bytes beyond ASCII that tell scripts apart.
	leastForeign = 24
)

// wording is the text of a body by which its encoding is guessed.
type wording struct {
	text []byte // the texts between tags that are not all ASCII, each on a line
	lang string // of <html>, in small letters, without a region
	// foreign counts the bytes beyond ASCII, and plain the letters of ASCII beside them.
	foreign, plain int
}

// wordingOf reads what is text in a body: what scripts and styles say is in no language.
func wordingOf(body []byte, isHTML bool) (w wording) {
	if !isHTML {
		for line := range bytes.Lines(body) {
			w.add(line)
		}
		return w
	}
	tokens := html.NewTokenizer(bytes.NewReader(body))
	inside := "" // the element whose text is none
	for len(w.text) < maxWording {
		switch tokens.Next() {
		case html.ErrorToken:
			return w
		case html.StartTagToken:
			name, more := tokens.TagName()
			switch string(name) {
			case "script", "style":
				inside = string(name)
			case "html":
				for more && w.lang == "" {
					var key, value []byte
					if key, value, more = tokens.TagAttr(); string(key) == "lang" {
						lang, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(string(value))), "-")
						w.lang = lang
					}
				}
			}
		case html.EndTagToken:
			if name, _ := tokens.TagName(); string(name) == inside {
				inside = ""
			}
		case html.TextToken:
			if inside == "" {
				w.add(tokens.Raw())
			}
		}
	}
	return w
}

func (w *wording) add(text []byte) {
	text = text[:min(len(text), max(maxWording-len(w.text), 0))]
	foreign, plain := 0, 0
	for _, c := range text {
		switch {
		case c >= 0x80:
			foreign++
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			plain++
		}
	}
	if foreign > 0 {
		w.text = append(append(w.text, bytes.Trim(text, " \t\r\n\f")...), '\n')
		w.foreign, w.plain = w.foreign+foreign, w.plain+plain
	}
}

// guess returns the encoding of a text that names none and is not UTF-8, as browsers guess
// it; windows-1252 unless another is certain. It depends on the body alone, so that a version
// is read alike wherever it is read.
func guess(body []byte, isHTML bool) (encoding.Encoding, string) {
	w := wordingOf(body, isHTML)
	for _, name := range w.candidates() {
		if e, label := charset.Lookup(name); w.fits(e) {
			return e, label
		}
	}
	return charmap.Windows1252, "windows-1252"
}

// scripts are the encodings by the detector's names that are not for Latin letters.
var scripts = map[string]string{
	"Shift_JIS": "shift_jis", "EUC-JP": "euc-jp", "GB18030": "gb18030", "GB-18030": "gb18030", "Big5": "big5", "EUC-KR": "euc-kr",
	"windows-1251": "windows-1251", "ISO-8859-5": "iso-8859-5", "KOI8-R": "koi8-r", "ISO-8859-7": "iso-8859-7", "windows-1253": "windows-1253",
	"ISO-8859-8": "windows-1255", "ISO-8859-8-I": "windows-1255", "windows-1255": "windows-1255",
	"ISO-8859-6": "iso-8859-6", "windows-1256": "windows-1256",
}

// candidates returns the encodings that a text may be in other than windows-1252, the likeliest
// first. In the languages of that one, letters beyond ASCII are few; where they are a third, the
// text is in another script, and the question is only which.
func (w *wording) candidates() (names []string) {
	switch {
	case w.foreign < w.plain/2:
		return w.latin()
	case w.foreign < leastForeign:
		return nil
	case w.isThai():
		return []string{"windows-874"}
	}
	for _, r := range detected(w.text) {
		// The detector says 10 of what it knows nothing against.
		if name := scripts[r.Charset]; name != "" && r.Confidence > 10 {
			names = append(names, name)
		}
	}
	if len(names) > 0 && (names[0] == "iso-8859-7" || names[0] == "windows-1253") {
		names[0] = w.greek()
	}
	return names
}

// greek tells two encodings apart that differ in little but one capital letter.
func (w *wording) greek() string {
	if !w.hasControls() && bytes.IndexByte(w.text, 0xB6) >= 0 {
		return "iso-8859-7"
	}
	return "windows-1253"
}

// hasControls reports whether there are bytes that ISO 8859 leaves to control characters.
func (w *wording) hasControls() bool {
	return slices.ContainsFunc(w.text, func(c byte) bool { return 0x80 <= c && c < 0xA0 })
}

// latin returns the encoding of a language in Latin letters, by the defaults that the HTML
// standard gives for it (section 13.2.3.2). Letters alone tell these texts too badly from those
// in western languages.
func (w *wording) latin() []string {
	name := defaults[w.lang]
	switch {
	case name == "":
		return nil
	case name == "windows-1250" && !w.hasControls():
		name = "iso-8859-2"
	}
	return []string{name}
}

// defaults are the encodings of languages in Latin letters other than windows-1252.
var defaults = map[string]string{
	"bs": "windows-1250", "cs": "windows-1250", "hr": "windows-1250", "hu": "windows-1250", "pl": "windows-1250", "ro": "windows-1250",
	"sk": "windows-1250", "sl": "windows-1250", "sq": "windows-1250", "az": "windows-1254", "ku": "windows-1254", "tr": "windows-1254",
	"et": "windows-1257", "lt": "windows-1257", "lv": "windows-1257", "vi": "windows-1258",
}

// detected returns what the detector finds, in one order whatever the order in which it does.
func detected(text []byte) []chardet.Result {
	results, _ := chardet.NewTextDetector().DetectAll(text) // the error means none
	slices.SortFunc(results, func(a, b chardet.Result) int {
		return cmp.Or(b.Confidence-a.Confidence, strings.Compare(a.Charset, b.Charset))
	})
	return results
}

// isThai reports whether the text is in TIS-620, which the detector does not know. It has many
// vowel signs and tone marks, and they stand behind consonants. Second bytes of Chinese and
// Korean stand behind first ones too, but these come in pairs.
func (w *wording) isThai() bool {
	marks, misplaced, undefined, runs, odd, length := 0, 0, 0, 0, 0, 0
	before := byte(0)
	for _, c := range w.text {
		isMark := isThaiMark(c)
		switch {
		case isMark:
			marks++
			if !isThaiMark(before) && (before < 0xA1 || before > 0xCE) {
				misplaced++
			}
		case c >= 0xFC, 0xDB <= c && c <= 0xDE, 0x80 <= c && c < 0xA0:
			undefined++
		}
		switch {
		case c >= 0x80:
			length++
		case length > 0:
			runs, odd, length = runs+1, odd+length%2, 0
		}
		before = c
	}
	return marks*8 > w.foreign && misplaced*50 <= marks && undefined*50 <= w.foreign && odd*5 >= runs
}

func isThaiMark(c byte) bool {
	return c == 0xD1 || 0xD4 <= c && c <= 0xDA || 0xE7 <= c && c <= 0xEE
}

// fits reports whether the text, except for a few bytes, can be read in an encoding and then
// consists of letters.
func (w *wording) fits(e encoding.Encoding) bool {
	decoded, err := e.NewDecoder().Bytes(w.text)
	if err != nil {
		return false
	}
	letters, signs, bad := 0, 0, 0
	for _, r := range string(decoded) {
		switch {
		case r < 0x80:
		case r < 0xA0, r == unicode.ReplacementChar, unicode.Is(unicode.Co, r):
			bad++
		case unicode.IsLetter(r), unicode.IsMark(r):
			letters++
		default:
			signs++
		}
	}
	return bad*50 <= letters && signs <= letters
}
