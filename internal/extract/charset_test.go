package extract

import (
	"strings"
	"testing"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/simplifiedchinese"
)

func encoded(t *testing.T, e encoding.Encoding, text string) string {
	t.Helper()
	s, err := e.NewEncoder().String(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Some pages name their encoding after the kilobyte at which browsers look before they
// begin to read.
func TestLateMeta(t *testing.T) {
	style := "<html><head><style>" + strings.Repeat("p { margin: 0 } /* <meta charset=koi8-r> */\n", 500) + "</style>"
	for _, c := range []struct {
		name, charset, meta, text string
		encoding                  encoding.Encoding
	}{
		{"Chinese", "gbk", `<meta http-equiv="Content-Type" content="text/html; charset=gb2312">`, "票价从十二元涨到十五元。", simplifiedchinese.GBK},
		{"Czech", "windows-1250", `<meta charset="windows-1250">`, "Příliš žluťoučký kůň úpěl ďábelské ódy", charmap.Windows1250},
		{"Russian", "windows-1251", `<META CONTENT='text/html;charset = "windows-1251"' HTTP-EQUIV=content-type>`, "Цена билета выросла", charmap.Windows1251},
		{"seven-bit Japanese", "iso-2022-jp", `<meta charset=iso-2022-jp>`, "日本の値段", japanese.ISO2022JP},
		{"after one of no encoding", "windows-1251", `<meta charset=klingon><meta content="charset=koi8-r"><meta charset=cp1251>`, "Цена билета", charmap.Windows1251},
		{"in the body", "windows-1251", `</head><body><meta charset=windows-1251>`, "Цена билета", charmap.Windows1251},
		{"of UTF-16", "utf-8", `<meta charset=utf-16>`, "a\uFFFDb", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := "a\xffb"
			if c.encoding != nil {
				body = encoded(t, c.encoding, c.text)
			}
			page := parseAs(t, []byte(style+c.meta+"<p>"+body), "text/html")
			if page.Charset != c.charset || page.Text != c.text {
				t.Errorf("got %s %q, want %s %q", page.Charset, page.Text, c.charset, c.text)
			}
		})
	}
}

func TestMetaIsLookedForWithinBounds(t *testing.T) {
	body := "<style>" + strings.Repeat(" ", maxPrescan) + "</style><meta charset=windows-1251><p>\xe6"
	if page := parseAs(t, []byte(body), "text/html"); page.Charset != "windows-1252" {
		t.Errorf("read as %s", page.Charset)
	}
	body = "<style>" + strings.Repeat(" ", 2000) + "</style><meta charset=windows-1251><p>\xe6"
	if page := parseAs(t, []byte(body), "application/xhtml+xml"); page.Charset != "windows-1252" {
		t.Errorf("a <meta> of XHTML: %s", page.Charset)
	}
}

// A bad byte spoils one character, and no others.
func TestBadBytesInUTF8(t *testing.T) {
	const text = "Größe, Übung, Äpfel, Öl, süß und schön"
	late := strings.Repeat("a ", 600)
	for name, c := range map[string]struct{ body, charset, text string }{
		"one":                        {text + " \xfc", "utf-8", text + " \uFFFD"},
		"one, behind a kilobyte":     {late + text + " \xfc", "utf-8", late + text + " \uFFFD"},
		"beside a wrong declaration": {"<meta charset=iso-8859-1>" + text + " \xfc", "utf-8", text + " \uFFFD"},
		"a character cut off":        {text + " \xe2\x82", "utf-8", text + " \uFFFD"},
		"more than characters":       {"gr\xf6\xdfer: ü", "windows-1252", "größer: Ã¼"},
		"a cut character alone":      {"caf\xe9", "windows-1252", "café"},
	} {
		t.Run(name, func(t *testing.T) {
			page := parseAs(t, []byte(c.body), "text/html")
			if page.Charset != c.charset || page.Text != c.text {
				t.Errorf("got %s %q, want %s %q", page.Charset, page.Text, c.charset, c.text)
			}
		})
	}
}

// GBK is read as GB18030, of which it is a part: pages that call themselves the one have
// characters of the other.
func TestGBKIsReadAsGB18030(t *testing.T) {
	const text = "票价 😀 㐀"
	body := "<p>" + encoded(t, simplifiedchinese.GB18030, text)
	for _, label := range []string{"gb2312", "gbk"} {
		if page := parseAs(t, []byte(body), "text/html; charset="+label); page.Text != text || page.Charset != "gbk" {
			t.Errorf("%s: got %s %q, want gbk %q", label, page.Charset, page.Text, text)
		}
	}
}

// No text of another encoding is taken for UTF-8.
func TestOtherEncodingsAreNotUTF8(t *testing.T) {
	const chinese = "中华人民共和国国务院公布了新的票价,从十二元涨到十五元。市民对此议论纷纷,有人表示理解。"
	const russian = "Цена билета выросла с двенадцати до пятнадцати евро. ЗАПИСЬ ПО ТЕЛЕФОНУ «Ёлка» — №1"
	for name, body := range map[string]string{
		"gb2312":       encoded(t, simplifiedchinese.GBK, chinese),
		"gb18030":      encoded(t, simplifiedchinese.GB18030, chinese),
		"windows-1250": encoded(t, charmap.Windows1250, "Příliš žluťoučký kůň úpěl ďábelské ódy"),
		"windows-1251": encoded(t, charmap.Windows1251, russian),
		"koi8-r":       encoded(t, charmap.KOI8R, "Цена билета выросла с двенадцати до пятнадцати евро. ЗАПИСЬ ПО ТЕЛЕФОНУ"),
		"shift_jis":    encoded(t, japanese.ShiftJIS, "チケットの値段は十二ユーロから十五ユーロになった"),
		"euc-jp":       encoded(t, japanese.EUCJP, "チケットの値段は十二ユーロから十五ユーロになった"),
		"windows-874":  encoded(t, charmap.Windows874, "ราคาตั๋วเพิ่มขึ้นจากสิบสองเป็นสิบห้ายูโร เด็กเข้าฟรี"),
	} {
		if mostlyUTF8([]byte(body)) {
			t.Errorf("%s is taken for UTF-8", name)
		}
	}
}

// Readings of characters belong to their word.
func TestRubyIsInline(t *testing.T) {
	for body, want := range map[string]string{
		"<p>これは<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です":                          "これは漢かん字じです",
		"<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp></ruby><ruby>字<rt>じ</ruby>です": "漢(かん)字じです",
		"<p><ruby><rb>東<rb>京<rtc><rt>とう<rt>きょう</rtc></ruby>":                    "東京とうきょう",
	} {
		if got := parse(t, body).Text; got != want {
			t.Errorf("%s: got %q, want %q", body, got, want)
		}
		readable, err := Readable([]byte(body), "text/html; charset=utf-8")
		if err != nil || strings.TrimSpace(readable) != want {
			t.Errorf("%s: readable as %q, want %q (%v)", body, readable, want, err)
		}
	}
}
