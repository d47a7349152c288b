package extract

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
)

// Texts about a library, in the languages of undeclared encodings.
const (
	inJapanese = "図書館は月曜日を除いて毎日九時から開いています。利用者は一度に五冊まで借りることができます。返却が遅れた場合は連絡してください。"
	inChinese  = "图书馆除星期一外每天九点开放。读者一次最多可以借五本书。如果不能按时归还，请与我们联系。新的阅览室在二楼，对所有人开放。"
	inTaiwan   = "圖書館除星期一外每天九點開放。讀者一次最多可以借五本書。如果不能按時歸還，請與我們聯絡。新的閱覽室在二樓，對所有人開放。"
	inKorean   = "도서관은 월요일을 제외하고 매일 아홉 시에 문을 엽니다. 이용자는 한 번에 다섯 권까지 빌릴 수 있습니다. 늦어질 때에는 연락해 주십시오."
	inRussian  = "Библиотека открыта каждый день с девяти часов, кроме понедельника. Читатель может взять не более пяти книг. Если вы не успеваете вернуть книгу, сообщите нам об этом."
	inUkrain   = "Бібліотека відкрита щодня з дев’ятої години, крім понеділка. Читач може взяти не більше п’яти книг. Якщо ви не встигаєте повернути книгу, повідомте нам про це."
	inGreek    = "Η βιβλιοθήκη είναι ανοιχτή κάθε μέρα από τις εννέα, εκτός από τη Δευτέρα. Άλλα βιβλία υπάρχουν στον δεύτερο όροφο και είναι για όλους τους αναγνώστες."
	inHebrew   = "הספרייה פתוחה בכל יום משעה תשע, מלבד יום שני. כל קורא יכול לשאול עד חמישה ספרים. אם אינך יכול להחזיר את הספר בזמן, הודע לנו על כך."
	inArabic   = "المكتبة مفتوحة كل يوم من الساعة التاسعة ما عدا يوم الاثنين. يمكن للقارئ أن يستعير خمسة كتب في المرة الواحدة. إذا تأخرت في إعادة الكتاب فاتصل بنا."
	inThai     = "ห้องสมุดเปิดทุกวันตั้งแต่เก้าโมงเช้า ยกเว้นวันจันทร์ ผู้อ่านสามารถยืมหนังสือได้ครั้งละห้าเล่ม หากคืนช้ากรุณาแจ้งให้เราทราบ"
	inCzech    = "Knihovna je otevřena každý den od devíti hodin kromě pondělí. Čtenář si může půjčit nejvýše pět knih. Šťastné čtení přeje náš tým."
	inTurkish  = "Kütüphane pazartesi dışında her gün saat dokuzda açılır. Okuyucular en çok beş kitap ödünç alabilir. Geç kalırsanız lütfen bildiriniz."
	inFrench   = "La bibliothèque est ouverte tous les jours dès neuf heures, sauf le lundi. L’été, l’accès à la salle rénovée est réservé aux élèves – « café » compris."
	inFinnish  = "Kirjasto on avoinna joka päivä yhdeksästä alkaen, paitsi maanantaisin. Lukija voi lainata enintään viisi kirjaa. Myöhästymisestä täytyy ilmoittaa meille."
)

func TestUndeclaredEncodings(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text, lang, want string
		in               encoding.Encoding
	}{
		"Shift_JIS":               {inJapanese, "", "shift_jis", japanese.ShiftJIS},
		"EUC-JP":                  {inJapanese, "", "euc-jp", japanese.EUCJP},
		"GBK":                     {inChinese, "", "gb18030", simplifiedchinese.GBK},
		"Big5":                    {inTaiwan, "", "big5", traditionalchinese.Big5},
		"EUC-KR":                  {inKorean, "", "euc-kr", korean.EUCKR},
		"Russian":                 {inRussian, "", "windows-1251", charmap.Windows1251},
		"KOI8-R":                  {inRussian, "en", "koi8-r", charmap.KOI8R},
		"Ukrainian":               {inUkrain, "", "windows-1251", charmap.Windows1251},
		"Greek":                   {inGreek, "", "windows-1253", charmap.Windows1253},
		"Greek of ISO 8859":       {inGreek, "", "iso-8859-7", charmap.ISO8859_7},
		"Hebrew":                  {inHebrew, "", "windows-1255", charmap.Windows1255},
		"Arabic":                  {inArabic, "", "windows-1256", charmap.Windows1256},
		"Thai":                    {inThai, "", "windows-874", charmap.Windows874},
		"Czech":                   {inCzech, "cs-CZ", "windows-1250", charmap.Windows1250},
		"Czech of ISO 8859":       {inCzech, "CS", "iso-8859-2", charmap.ISO8859_2},
		"Turkish":                 {inTurkish, "tr", "windows-1254", charmap.Windows1254},
		"French":                  {inFrench, "fr", "windows-1252", charmap.Windows1252},
		"French without a tag":    {inFrench, "", "windows-1252", charmap.Windows1252},
		"Finnish":                 {inFinnish, "", "windows-1252", charmap.Windows1252},
		"capitals":                {"ÉTÉ, ÂGE, ŒUVRE, À DEMAIN, ÇA VA, NOËL, FORÊT, DÉJÀ VU, MAÎTRE, ÉCOLE, ÉLÈVES", "", "windows-1252", charmap.Windows1252},
		"signs":                   {strings.Repeat("« » • – © ", 20), "", "windows-1252", charmap.Windows1252},
		"English quotation marks": {strings.Repeat("“It’s the reader’s” – ", 20), "", "windows-1252", charmap.Windows1252},
		"little":                  {"Привет", "", "windows-1252", charmap.Windows1251},
	} {
		text := encoded(t, tc.in, tc.text)
		want, err := tc.in.NewDecoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		want = strings.TrimSpace(want)
		page := "<html lang=" + tc.lang + "><title>The library</title><script>" + strings.Repeat("var x = 1; ", 2000) + "</script><nav>Home</nav>"
		for media, body := range map[string]string{"text/html": page + "<p>" + text + "</p><p>Made with a program.</p>", "text/plain": text} {
			if media == "text/plain" && tc.lang != "" {
				continue
			}
			got := parseAs(t, []byte(body), media)
			if got.Charset != tc.want || tc.want != "windows-1252" && !strings.Contains(got.Text, want) {
				t.Errorf("%s in %s: read as %s: %q", name, media, got.Charset, got.Text)
			}
		}
		// What says something is not guessed.
		for media, head := range map[string]string{
			"text/html; charset=windows-1252": "", "text/html": "<meta charset=iso-8859-1>", "application/xhtml+xml": `<?xml version="1.0" encoding="windows-1252"?>`,
		} {
			if got := parseAs(t, []byte(head+page+"<p>"+text), media); got.Charset != "windows-1252" {
				t.Errorf("%s in %s after %q: read as %s", name, media, head, got.Charset)
			}
		}
	}
}

// A small edit, or a byte of another encoding, leaves a page in its encoding.
func TestGuessesStay(t *testing.T) {
	t.Parallel()
	for want, e := range map[string]encoding.Encoding{"windows-1251": charmap.Windows1251, "koi8-r": charmap.KOI8R} {
		words := strings.Fields(inRussian + " " + inRussian)
		for i := range words {
			text := strings.Join(words[:i], " ") + " new \xffword 12 " + strings.Join(words[i:], " ")
			text = encoded(t, e, strings.ReplaceAll(text, "\xff", ""))
			if got := parseAs(t, []byte("<p>"+text+"\xff"), "text/html"); got.Charset != want {
				t.Errorf("with a word at %d: %s, want %s", i, got.Charset, want)
			}
		}
	}
}

// However large a body is and whatever is in it, the guess takes little.
func TestHostileGuesses(t *testing.T) {
	t.Parallel()
	const limit = 2 * time.Minute // it takes a tenth of a second; what grows with the square would take hours
	for _, part := range []string{"\xff", "\xe0<", "<p>\xc1\xe1", "<html lang=\xe9", "<script>\xe0\xe1</script>", "\x81", "\x8f\xa1", "\x84\x31\x95", "<!--\xe9-->", "\xe4\xb8 ", "\xe9\xe9\n"} {
		begin := time.Now()
		body := strings.Repeat(part, 4<<20/len(part))
		for _, isHTML := range []bool{true, false} {
			if _, name := guess([]byte(body), isHTML); name == "" || time.Since(begin) > limit {
				t.Errorf("%q: %q after %v", part, name, time.Since(begin))
			}
		}
	}
}
