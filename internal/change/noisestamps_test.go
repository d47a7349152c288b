package change

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// stamped are lines by language: stamps whose time may differ, and beside each an edit that
// looks like it: a time that is not labelled as a stamp, or stands in a sentence. %s is a
// time.
var stamped = []struct {
	language       string
	stamps         []string
	times          [2]string // two that a stamp may have
	edits          []string
	relative, date string // another time of a stamp, "" if there is none; a date beside which others are edits
}{
	{
		"English",
		[]string{"Last updated: %s", "Last reviewed on %s", "Page last modified %s", "This article was last edited on %s", "Last change on %s"},
		[2]string{"4 March 2026", "2026-03-05"},
		[]string{"Published %s", "Opens on %s", "The rules were last updated on %s, in Oslo.", "The shop reopened on %s after it was last updated."},
		"this week", "4 March 2026",
	},
	{
		"German",
		[]string{"Zuletzt geändert am %s", "Letzte Überarbeitung: %s", "Aktualisiert: %s", "Diese Seite wurde zuletzt am %s"},
		[2]string{"4. März 2026", "05.03.2026"},
		[]string{"Veröffentlicht am %s", "Gültig ab %s", "Das Haus wurde am %s zuletzt umgebaut und ist seither geöffnet."},
		"gestern", "4. März 2026",
	},
	{
		"French",
		[]string{"Dernière mise à jour : %s", "Date de la dernière mise à jour : %s", "Modifié le %s", "Dernière révision le %s"},
		[2]string{"4 mars 2026", "05/03/2026"},
		[]string{"Publié le %s", "En vigueur le %s", "La maison a été modifiée le %s par deux sœurs."},
		"hier", "4 mars 2026",
	},
	{"Spanish", []string{"Última actualización: %s", "Fecha de última modificación: %s", "Actualizado el %s"}, [2]string{"4 de marzo de 2026", "05/03/2026"}, []string{"Publicado el %s", "La casa fue modificada el %s por dos hermanas."}, "ayer", "4 de marzo de 2026"},
	{"Catalan", []string{"Darrera actualització: %s", "Actualitzat: %s"}, [2]string{"4 de març de 2026", "05/03/2026"}, []string{"Publicat el %s"}, "ahir", "4 de març de 2026"},
	{"Italian", []string{"Ultimo aggiornamento: %s", "Ultima modifica il %s", "Data di ultima modifica: %s"}, [2]string{"4 marzo 2026", "05/03/2026"}, []string{"Pubblicato il %s", "La casa fu modificata il %s da due sorelle."}, "ieri", "4 marzo 2026"},
	{"Portuguese", []string{"Última atualização: %s", "Atualizado em %s", "Data da última modificação: %s"}, [2]string{"4 de março de 2026", "05/03/2026"}, []string{"Publicado em %s"}, "ontem", "4 de março de 2026"},
	{"Romanian", []string{"Ultima actualizare: %s", "Actualizat la %s"}, [2]string{"4 martie 2026", "05.03.2026"}, []string{"Publicat la %s"}, "ieri", "4 martie 2026"},
	{"Dutch", []string{"Laatst bijgewerkt: %s", "Laatst gewijzigd op %s", "Laatste update: %s"}, [2]string{"4 maart 2026", "05-03-2026"}, []string{"Gepubliceerd op %s"}, "gisteren", "4 maart 2026"},
	{"Swedish", []string{"Senast uppdaterad: %s", "Sidan uppdaterades %s", "Senast granskad %s"}, [2]string{"4 mars 2026", "2026-03-05"}, []string{"Publicerad %s"}, "igår", "4 mars 2026"},
	{"Danish", []string{"Sidst opdateret: %s", "Senest ændret den %s"}, [2]string{"4. marts 2026", "05.03.2026"}, []string{"Udgivet den %s"}, "i går", "4. marts 2026"},
	{"Norwegian", []string{"Sist oppdatert: %s", "Sist endret %s"}, [2]string{"4. mars 2026", "05.03.2026"}, []string{"Publisert %s"}, "i går", "4. mars 2026"},
	{"Icelandic", []string{"Síðast uppfært: %s"}, [2]string{"4. mars 2026", "5. apríl 2026"}, []string{"Birt %s"}, "í gær", "4. mars 2026"},
	{"Finnish", []string{"Päivitetty viimeksi %s", "Viimeksi muokattu: %s", "Viimeisin päivitys: %s"}, [2]string{"4. maaliskuuta 2026", "5.3.2026"}, []string{"Julkaistu %s"}, "eilen", "4. maaliskuuta 2026"},
	{"Estonian", []string{"Viimati uuendatud: %s", "Viimati muudetud %s"}, [2]string{"4. märts 2026", "05.03.2026"}, []string{"Avaldatud %s"}, "eile", "4. märts 2026"},
	{"Hungarian", []string{"Utolsó frissítés: %s", "Utoljára módosítva: %s"}, [2]string{"2026. március 4.", "2026. 03. 05."}, []string{"Megjelent: %s"}, "tegnap", "2026. március 4"},
	{"Polish", []string{"Ostatnia aktualizacja: %s", "Data ostatniej modyfikacji: %s", "Zaktualizowano %s"}, [2]string{"4 marca 2026", "05.03.2026"}, []string{"Opublikowano %s"}, "wczoraj", "4 marca 2026"},
	{"Czech", []string{"Naposledy aktualizováno: %s", "Poslední změna: %s", "Datum poslední aktualizace: %s"}, [2]string{"4. března 2026", "5. 3. 2026"}, []string{"Zveřejněno %s"}, "včera", "4. března 2026"},
	{"Slovak", []string{"Posledná aktualizácia: %s", "Naposledy upravené %s"}, [2]string{"4. marca 2026", "5. 3. 2026"}, []string{"Zverejnené %s"}, "včera", "4. marca 2026"},
	{"Slovene", []string{"Zadnja sprememba: %s", "Zadnjič posodobljeno: %s"}, [2]string{"4. marec 2026", "5. 3. 2026"}, []string{"Objavljeno %s"}, "včeraj", "4. marec 2026"},
	{"Croatian", []string{"Zadnje ažuriranje: %s", "Posljednja izmjena: %s"}, [2]string{"4. ožujka 2026", "05.03.2026."}, []string{"Objavljeno %s"}, "jučer", "4. ožujka 2026"},
	{"Serbian", []string{"Последње ажурирање: %s", "Poslednja izmena: %s"}, [2]string{"4. март 2026", "05.03.2026."}, []string{"Објављено %s"}, "јуче", "4. март 2026"},
	{"Macedonian", []string{"Последно ажурирање: %s"}, [2]string{"4 март 2026", "05.03.2026"}, []string{"Објавено %s"}, "вчера", "4 март 2026"},
	{"Bulgarian", []string{"Последна актуализация: %s", "Последно обновена на %s"}, [2]string{"4 март 2026 г.", "05.03.2026"}, []string{"Публикувано на %s"}, "вчера", "4 март 2026"},
	{"Russian", []string{"Последнее обновление: %s", "Дата последнего изменения: %s", "Обновлено %s"}, [2]string{"4 марта 2026 г.", "05.03.2026"}, []string{"Опубликовано %s", "Дом был обновлён %s двумя сёстрами."}, "вчера", "4 марта 2026"},
	{"Ukrainian", []string{"Останнє оновлення: %s", "Оновлено %s"}, [2]string{"4 березня 2026 р.", "05.03.2026"}, []string{"Опубліковано %s"}, "вчора", "4 березня 2026"},
	{"Belarusian", []string{"Апошняе абнаўленне: %s"}, [2]string{"4 сакавіка 2026 г.", "05.03.2026"}, []string{"Апублікавана %s"}, "учора", "4 сакавіка 2026"},
	{"Kazakh", []string{"Соңғы жаңарту: %s"}, [2]string{"2026 ж. 4 наурыз", "05.03.2026"}, []string{"Жарияланды: %s"}, "кеше", "4 наурыз 2026"},
	{"Lithuanian", []string{"Paskutinį kartą atnaujinta: %s", "Atnaujinta %s"}, [2]string{"2026 m. kovo 4 d.", "2026-03-05"}, []string{"Paskelbta %s"}, "vakar", "2026 kovo 4"},
	{"Latvian", []string{"Pēdējoreiz atjaunināts: %s", "Pēdējās izmaiņas: %s"}, [2]string{"2026. gada 4. marts", "05.03.2026"}, []string{"Publicēts %s"}, "vakar", "4. marts 2026"},
	{"Albanian", []string{"Përditësimi i fundit: %s"}, [2]string{"4 mars 2026", "05.03.2026"}, []string{"Botuar më %s"}, "dje", "4 mars 2026"},
	{"Greek", []string{"Τελευταία ενημέρωση: %s", "Ενημερώθηκε στις %s", "Ημερομηνία τελευταίας ενημέρωσης: %s"}, [2]string{"4 Μαρτίου 2026", "05/03/2026"}, []string{"Δημοσιεύθηκε στις %s"}, "χθες", "4 Μαρτίου 2026"},
	{"Turkish", []string{"Son güncelleme: %s", "Güncellenme Tarihi: %s", "Son güncellenme tarihi: %s"}, [2]string{"4 Mart 2026", "05.03.2026"}, []string{"Yayın tarihi: %s"}, "dün", "4 Mart 2026"},
	{"Azerbaijani", []string{"Son yenilənmə: %s"}, [2]string{"4 mart 2026", "05.03.2026"}, []string{"Dərc edilib: %s"}, "dünən", "4 mart 2026"},
	{"Uzbek", []string{"Oxirgi yangilanish: %s"}, [2]string{"4 mart 2026", "05.03.2026"}, []string{"Chop etilgan: %s"}, "kecha", "4 mart 2026"},
	{"Basque", []string{"Azken eguneraketa: %s"}, [2]string{"2026ko martxoaren 4", "2026/03/05"}, []string{"Argitaratua: %s"}, "", "martxoaren 4"},
	{"Esperanto", []string{"Lasta ĝisdatigo: %s"}, [2]string{"4 marto 2026", "2026-03-05"}, []string{"Publikigita %s"}, "", "4 marto 2026"},
	{"Indonesian", []string{"Terakhir diperbarui: %s", "Diperbarui pada %s", "Pembaruan terakhir: %s"}, [2]string{"4 Maret 2026", "05/03/2026"}, []string{"Diterbitkan pada %s"}, "kemarin", "4 Maret 2026"},
	{"Malay", []string{"Kemas kini terakhir: %s", "Tarikh kemas kini: %s"}, [2]string{"4 Julai 2026", "05/03/2026"}, []string{"Diterbitkan pada %s"}, "semalam", "4 Julai 2026"},
	{"Filipino", []string{"Huling na-update: %s"}, [2]string{"Marso 4, 2026", "05/03/2026"}, []string{"Nailathala noong %s"}, "kahapon", "Marso 4, 2026"},
	{"Swahili", []string{"Imesasishwa mwisho: %s"}, [2]string{"4 Machi 2026", "05/03/2026"}, []string{"Ilichapishwa %s"}, "jana", "4 Machi 2026"},
	{"Vietnamese", []string{"Cập nhật lần cuối: %s", "Cập nhật ngày %s", "Lần cập nhật cuối: %s", "Sửa đổi lần cuối %s"}, [2]string{"4 tháng 3, 2026", "05/03/2026"}, []string{"Đăng ngày %s"}, "hôm qua", "4 tháng 3, 2026"},
	{"Thai", []string{"อัปเดตล่าสุด: %s", "แก้ไขล่าสุดเมื่อ %s", "ปรับปรุงล่าสุดวันที่ %s"}, [2]string{"4 มีนาคม 2569", "๕/๓/๒๕๖๙"}, []string{"เผยแพร่เมื่อ %s"}, "เมื่อวาน", "4 มีนาคม 2569"},
	{"Lao", []string{"ອັບເດດຫຼ້າສຸດ: %s"}, [2]string{"4 ມີນາ 2026", "5/3/2026"}, []string{"ເຜີຍແຜ່ %s"}, "", "4 ມີນາ 2026"},
	{"Arabic", []string{"آخر تحديث: %s", "تم التحديث في %s", "تاريخ آخر تعديل: %s"}, [2]string{"٤ مارس ٢٠٢٦", "5 آذار 2026"}, []string{"نشر في %s"}, "أمس", "4 مارس 2026"},
	{"Persian", []string{"آخرین به\u200cروزرسانی: %s", "آخرین ویرایش: %s", "تاریخ به\u200cروزرسانی: %s"}, [2]string{"۱۳ اسفند ۱۴۰۴", "۱۴۰۴/۱۲/۱۴"}, []string{"منتشر شده در %s"}, "دیروز", "4 مارس 2026"},
	{"Urdu", []string{"آخری اپ ڈیٹ: %s"}, [2]string{"4 مارچ 2026", "۵ مارچ ۲۰۲۶"}, []string{"شائع %s"}, "", "4 مارچ 2026"},
	{"Hebrew", []string{"עודכן לאחרונה: %s", "עדכון אחרון: %s", "תאריך עדכון: %s"}, [2]string{"4 במרץ 2026", "05.03.2026"}, []string{"פורסם %s"}, "אתמול", "4 במרץ 2026"},
	{"Hindi", []string{"अंतिम अपडेट: %s", "अंतिम अद्यतन तिथि: %s", "आखिरी बार अपडेट किया गया: %s"}, [2]string{"4 मार्च 2026", "०५/०३/२०२६"}, []string{"प्रकाशित: %s"}, "कल", "4 मार्च 2026"},
	{"Marathi", []string{"शेवटचे अपडेट: %s"}, [2]string{"४ मार्च २०२६", "05/03/2026"}, []string{"प्रकाशित %s"}, "", "4 मार्च 2026"},
	{"Nepali", []string{"अन्तिम अपडेट: %s"}, [2]string{"४ अप्रिल २०२६", "5 अप्रिल 2026"}, []string{"प्रकाशित %s"}, "हिजो", "4 अप्रिल 2026"},
	{"Bengali", []string{"সর্বশেষ আপডেট: %s", "শেষ হালনাগাদ: %s"}, [2]string{"৪ মার্চ ২০২৬", "৫ মার্চ ২০২৬"}, []string{"প্রকাশিত %s"}, "গতকাল", "৪ মার্চ ২০২৬"},
	{"Tamil", []string{"கடைசியாக புதுப்பிக்கப்பட்டது: %s"}, [2]string{"4 மார்ச் 2026", "05/03/2026"}, []string{"வெளியீடு %s"}, "நேற்று", "4 மார்ச் 2026"},
	{"Telugu", []string{"చివరిగా నవీకరించబడింది: %s"}, [2]string{"4 మార్చి 2026", "05/03/2026"}, []string{"ప్రచురణ %s"}, "నిన్న", "4 మార్చి 2026"},
	{"Georgian", []string{"ბოლო განახლება: %s"}, [2]string{"4 მარტი, 2026", "05.03.2026"}, []string{"გამოქვეყნდა %s"}, "გუშინ", "4 მარტი, 2026"},
	{"Armenian", []string{"Վերջին թարմացումը՝ %s", "Թարմացված է %s"}, [2]string{"4 մարտի, 2026", "05.03.2026"}, []string{"Հրապարակվել է %s"}, "", "4 մարտի, 2026"},
	{"Amharic", []string{"መጨረሻ የተዘመነው %s"}, [2]string{"4 ማርች 2026", "5 ማርች 2026"}, []string{"የታተመ %s"}, "", "4 ማርች 2026"},
	{"Mongolian", []string{"Сүүлд шинэчилсэн: %s"}, [2]string{"2026 оны 3 сарын 4", "2026-03-05"}, []string{"Нийтэлсэн: %s"}, "өчигдөр", "2026 оны 3 сарын 4"},
	{
		"Chinese",
		[]string{"上次更新：%s", "最后更新于 %s", "最后更新时间：%s", "本页面最后修改于 %s", "更新日期：%s", "最近修订：%s", "最後更新日期：%s"},
		[2]string{"2026年3月4日", "2026-03-05"},
		[]string{"发布日期：%s", "生效日期：%s", "会议将于%s举行，欢迎更新报名信息。"},
		"昨天", "2026年3月4日",
	},
	{"Chinese of Taiwan", []string{"上次更新：%s", "更新日期：%s", "最近異動日期：%s"}, [2]string{"民國115年3月4日", "2026/03/05"}, []string{"發布日期：%s"}, "昨天", "2026年3月4日"},
	{"Japanese", []string{"最終更新日：%s", "最終更新：%s", "更新日時 %s", "最終改訂日：%s"}, [2]string{"令和8年3月4日", "2026年3月5日"}, []string{"公開日：%s", "会議は%sに開かれる。"}, "昨日", "2026年3月4日"},
	{"Korean", []string{"최종 수정일: %s", "마지막 업데이트: %s", "최종 업데이트 %s", "수정일: %s"}, [2]string{"2026년 3월 4일", "2026. 3. 5."}, []string{"게시일: %s"}, "어제", "2026년 3월 4일"},
}

func TestStampsByLanguage(t *testing.T) {
	t.Parallel()
	for _, c := range stamped {
		t.Run(c.language, func(t *testing.T) {
			t.Parallel()
			for _, form := range c.stamps {
				for _, said := range append(c.times[:], c.relative) {
					if said == "" {
						continue
					}
					line := fmt.Sprintf(form, said)
					if core, _ := coreOf(Rendering{Text: line}); core == line || !isNoise(fmt.Sprintf(form, c.date), line) {
						t.Errorf("%q: what is left is %q", line, core)
					}
				}
			}
			for _, form := range c.edits {
				for _, said := range c.times {
					if isNoise(fmt.Sprintf(form, c.date), fmt.Sprintf(form, "17.11.2031")) || isNoise(fmt.Sprintf(form, said), fmt.Sprintf(form, "17.11.2031")) {
						t.Errorf("%q: another date is noise", form)
					}
				}
			}
			if isNoise(c.date, "17.11.2031") || isNoise("A. "+c.times[0]+" b", "A. "+c.times[1]+" b") {
				t.Error("a date without a label is noise")
			}
		})
	}
}

// isNoise compares two lines, fetched at times that they do not say.
func isNoise(prev, next string) bool {
	noise, _ := CompareRenderings(Rendering{prev, at.AddDate(1, 2, 0)}, Rendering{next, at.AddDate(1, 3, 0)})
	return noise
}

// Help pages say how old they are in words.
func TestRelativeStamps(t *testing.T) {
	t.Parallel()
	for _, said := range []string{"today", "yesterday", "this week", "this month", "in the last hour", "within the last week", "over a week ago", "over 2 weeks ago", "a while ago", "just now", "an hour ago"} {
		if !isNoise("Written by Ann\nUpdated "+said, "Written by Ann\nUpdated over 3 weeks ago") {
			t.Errorf("updated %s is an edit", said)
		}
	}
	for _, line := range []string{"Updated this week in Oslo", "Updated last week, the rules ban dogs.", "Open this week", "Closed today", "Updated", "Updated rules today"} {
		if isNoise(line, "Updated over a week ago") { // beside a stamp it is an edit
			t.Errorf("%q is noise", line)
		}
	}
}

// Every relative time is a stamp after every label of its language, and of those beside it.
func TestRelativeStampsAfterEveryLabel(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("tens of thousands of lines")
	}
	long := os.Getenv("RECRAWL_LONG") != "" // then a million
	check := func(notation string, labels [][]string, gap string) {
		var c core
		for i, label := range labels {
			for j, said := range expand(notation) {
				if !long && i > 0 && j > 0 && (i+j)%37 > 0 {
					continue // each label is met, and each time
				}
				line := spoken(label) + gap + spoken(said)
				if !mayHaveNoise(line) {
					continue
				}
				if left := c.withoutNoise(line); left != "" {
					t.Errorf("%q: what is left is %q", line, left)
					return
				}
			}
		}
	}
	for i, notation := range moreStampLabels {
		check(stampTimes[i], expand(notation), " ")
	}
	for _, label := range []string{"更新于", "最后更新", "本页面最近更新时间", "更新日期"} {
		check(stampTimes[len(stampTimes)-3], [][]string{{label}}, "：")
	}
	for _, label := range []string{"更新于", "最后更新于", "编辑于"} {
		check(stampTimes[len(stampTimes)-3], [][]string{{label}}, "")
	}
	check(stampTimes[len(stampTimes)-2], [][]string{{"最終更新"}, {"更新日"}}, "：")
	check(stampTimes[len(stampTimes)-1], [][]string{{"อัปเดตล่าสุด"}, {"แก้ไขล่าสุดเมื่อ"}}, " ")
}

// spoken is a phrase as it is written, with a capital.
func spoken(words []string) string {
	line := strings.ReplaceAll(strings.Join(words, " "), " ' ", "'")
	return capital(line)
}

// stampPairs are stamps that differ, and are the same page.
var stampPairs = [][2]string{
	// Ages in words.
	{"Mis à jour il y a plus d'une semaine", "Mis à jour il y a plus d’un mois"},
	{"Mise à jour il y a plus de 2 semaines", "Mise à jour il y a plus de 3 semaines"},
	{"Actualisé il y a plus d'une semaine", "Actualisé aujourd’hui"},
	{"Aktualisiert vor mehr als 2 Wochen", "Aktualisiert vor über einem Monat"},
	{"Actualizado hace más de 2 semanas", "Actualizado hace casi 3 meses"},
	{"Aggiornato più di 2 settimane fa", "Aggiornato ieri"},
	{"Laatst bijgewerkt meer dan 3 weken geleden", "Laatst bijgewerkt gisteren"},
	{"Обновлено более 2 недель назад", "Обновлено сегодня"},
	// The time first.
	{"Heute aktualisiert", "Gestern aktualisiert"},
	{"Diese Woche aktualisiert", "Vor über einer Woche aktualisiert"},
	{"Vor 3 Tagen aktualisiert", "Vor mehr als 2 Wochen aktualisiert"},
	{"Am 4. März 2026 aktualisiert", "Am 5. März 2026 aktualisiert"},
	{"Vandaag bijgewerkt", "Meer dan een week geleden bijgewerkt"},
	{"Tänään päivitetty", "Eilen päivitetty"},
	{"Ma frissítve", "Tegnap frissítve"},
	{"Bugün güncellendi", "3 gün önce güncellendi"},
	{"4 Mart 2026 tarihinde güncellendi", "5 Mart 2026 tarihinde güncellendi"},
	{"आज अपडेट किया गया", "कल अपडेट किया गया"},
	{"1週間以上前に更新", "今日更新"},
	{"2026年3月4日に更新", "2026年3月5日に更新"},
	{"3日前に更新", "昨日更新"},
	{"일주일 이상 전에 업데이트함", "오늘 업데이트됨"},
	{"3일 전에 업데이트됨", "어제 업데이트됨"},
	{"2026년 3월 4일에 업데이트됨", "2026년 3월 5일에 업데이트됨"},
	{"一周前更新", "今天更新"},
	{"更新于一周前", "更新于3天前"},
	{"3天前更新", "昨天已更新"},
	{"2026年3月4日更新", "2026年3月5日更新"},
	{"作者：李明 · 今天更新", "作者：李明 · 一周前更新"},
	// What was updated.
	{"This Privacy Policy was last updated on March 4, 2026.", "This Privacy Policy was last updated on March 5, 2026."},
	{"These Terms were last updated on 4 March 2026", "These Terms were last updated on 5 March 2026"},
	{"Our Terms of Service were last revised March 4, 2026.", "Our Terms of Service were last revised March 5, 2026."},
	{"Letzte Aktualisierung dieser Seite: 4. März 2026", "Letzte Aktualisierung dieser Seite: 5. März 2026"},
	{"Diese Datenschutzerklärung wurde zuletzt am 4. März 2026 aktualisiert.", "Diese Datenschutzerklärung wurde zuletzt am 5. März 2026 aktualisiert."},
	{"Dernière mise à jour de cette page : 4 mars 2026", "Dernière mise à jour de cette page : 5 mars 2026"},
	{"Última actualización de esta página: 4 de marzo de 2026", "Última actualización de esta página: 5 de marzo de 2026"},
	{"Questa informativa è stata aggiornata l'ultima volta il 4 marzo 2026.", "Questa informativa è stata aggiornata l’ultima volta il 5 marzo 2026."},
	{"本隐私政策更新于2026年3月4日", "本隐私政策更新于2026年3月5日"},
	{"本隐私政策最近更新于2026年3月4日。", "本隐私政策最近更新于2026年3月5日。"},
	{"本政策最近更新日期：2026年3月4日", "本政策最近更新日期：2026年3月5日"},
	{"本协议更新时间：2026-03-04", "本协议更新时间：2026-03-05"},
	{"版本更新日期：2026年3月4日", "版本更新日期：2026年3月5日"},
	{"【更新日期】2026年3月4日", "【更新日期】2026年3月5日"},
	// Who updated it stays in the text.
	{"Last edited by Joe on 4 March 2026", "Last edited by Joe on 5 March 2026"},
	{"Last edited by Joe Q. Public on March 4, 2026, at 14:05.", "Last edited by Joe Q. Public on March 5, 2026, at 09:11."},
	{"Zuletzt aktualisiert von Joe am 4. März 2026", "Zuletzt aktualisiert von Joe am 5. März 2026"},
	// Months.
	{"Darrera actualització: 4 d'abril de 2026", "Darrera actualització: 5 d’abril de 2026"},
	{"Darrera actualització: 4 d'abril del 2026", "Darrera actualització: 5 de març del 2026"},
	{"Kemas kini terakhir: 4 Mac 2026", "Kemas kini terakhir: 5 Mac 2026"},
}

func TestStampPairs(t *testing.T) {
	t.Parallel()
	for _, pair := range stampPairs {
		if !isNoise(pair[0], pair[1]) {
			left, _ := coreOf(Rendering{Text: pair[0]})
			other, _ := coreOf(Rendering{Text: pair[1]})
			t.Errorf("%q to %q is an edit: what is left is %q and %q", pair[0], pair[1], left, other)
		}
	}
	for _, pair := range [][2]string{
		{"Last edited by Joe on 4 March 2026", "Last edited by Ann on 4 March 2026"},
		{"Written by Joe on 4 March 2026", "Written by Joe on 5 March 2026"},
		{"A house built by Joe on 4 March 2026", "A house built by Joe on 5 March 2026"},
		{"Updated: Mac 10.15", "Updated: Mac 10.16"},
		{"Updated Mac 4", "Updated Mac 5"},
		{"Diese Woche geöffnet", "Nächste Woche geöffnet"},
		{"Heute aktualisiert das Amt die Liste", "Gestern aktualisiert das Amt die Liste"},
		{"This Privacy Policy is effective on March 4, 2026.", "This Privacy Policy is effective on March 5, 2026."},
		{"These Terms apply from 4 March 2026", "These Terms apply from 5 March 2026"},
		{"本隐私政策生效日期：2026年3月4日", "本隐私政策生效日期：2026年3月5日"},
		{"今天更新了三篇文章", "昨天更新了三篇文章"},
		{"更新于北京", "更新于上海"},
		{"Il y a plus d'une semaine", "Il y a plus d'un mois"},
	} {
		if isNoise(pair[0], pair[1]) {
			t.Errorf("%q to %q is noise", pair[0], pair[1])
		}
	}
}

// Words that mean "before" or "for" as well as "ago" mark an age after a label only.
func TestAgesThatMeanOtherThings(t *testing.T) {
	t.Parallel()
	for label, age := range map[string]string{
		"Son güncelleme: ": "%d gün önce", "अंतिम अपडेट: ": "%d दिन पहले", "آخر تحديث: ": "قبل %d أيام", "Cập nhật: ": "%d ngày trước", "Cập nhật lần cuối: ": "%d ngày trước", "Senast uppdaterad ": "för %d dagar sedan",
	} {
		if !isNoise(label+fmt.Sprintf(age, 3), label+fmt.Sprintf(age, 5)) {
			t.Errorf("%s%s is an edit", label, age)
		}
	}
	for _, line := range []string{"Pase para %d días", "Biljett för %d dagar", "Lístok pre %d dni", "Etkinlikten %d gün önce", "قبل %d أيام من السفر", "वह %d दिन पहले दिल्ली आया था।"} {
		if isNoise(fmt.Sprintf(line, 3), fmt.Sprintf(line, 5)) {
			t.Errorf("%q is noise", line)
		}
	}
}

// Alone in their part of a line, or beside a name, they say how old something is. In a phrase, and
// beside a share or a price, they are a term.
func TestAgesBesideNames(t *testing.T) {
	t.Parallel()
	for _, age := range []string{
		"%d saat önce", "%d घंटे पहले", "%d giờ trước", "%d ชั่วโมงที่แล้ว", "%d วันที่ผ่านมา", "%d jam yang lalu", "%d órája", "%d napja", "قبل %d ساعات", "%d روز قبل", "%d ঘন্টা আগে",
	} {
		for _, line := range []string{age, "Ann · " + age, age + " | Ann"} {
			if !isNoise(fmt.Sprintf(line, 3), fmt.Sprintf(line, 5)) {
				t.Errorf("%q is an edit", line)
			}
		}
	}
	for _, line := range []string{
		"Etkinlikten %d saat önce", "İptal: %d gün önce %%50", "यात्रा से %d दिन पहले", "Hủy %d ngày trước chuyến đi", "Huỷ trước %d ngày", "قبل %d أيام من السفر", "%d órája tart", "Batalkan %d jam sebelum", "Kalkıştan %d saat önce 20 €",
	} {
		if isNoise(fmt.Sprintf(line, 3), fmt.Sprintf(line, 5)) {
			t.Errorf("%q is noise", line)
		}
	}
}

// A number with a bound counts no readers, whatever its label.
func TestBoundsBeforeLabels(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"Minimum installs: %d", "Max downloads: %d", "Up to visits: %d"} {
		if isNoise(fmt.Sprintf(line, 50), fmt.Sprintf(line, 60)) {
			t.Errorf("%q is noise", line)
		}
	}
	if !isNoise("Installs: 50", "Installs: 60") {
		t.Error("a counter is an edit")
	}
}

// Digits of other scripts make the same numbers.
func TestLatinDigits(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"٢٠٢٦": "2026", "۱۴۰۴/۱۲/۱۴": "1404/12/14", "०५": "05", "๒๕๖๙": "2569", "２０２６": "2026", "12": "12"} {
		if got := latinDigits(text); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
