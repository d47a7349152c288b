package change

import (
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"

	"recrawl/internal/crawl"
)

// at is a Tuesday.
var at = time.Date(2026, time.March, 3, 14, 5, 33, 0, time.UTC)

// coreOf is a text without its noise, and the kinds of noise that it had.
func coreOf(r Rendering) (text, noise string) {
	c := newCore(r.Text)
	var words, had []string
	for word, ok := c.word(); ok; word, ok = c.word() {
		if said := new(scanner).readClock(word); strings.HasPrefix(word, clockMark) && sameClock(said, said, r.At, r.At) {
			c.note(clock, word)
			continue
		}
		words = append(words, strings.TrimSpace(strings.ReplaceAll(strings.TrimPrefix(word, thenMark), "\x00", " ")))
	}
	for k := age; k < kinds; k++ {
		for range c.seen[k].count {
			had = append(had, kindNames[k])
		}
	}
	return strings.Join(words, " "), strings.Join(had, " ")
}

// TestNumbersBesideTimes: a number before or after a machine's note of a time is no part of
// it, and the note alone is noise as before.
func TestNumbersBesideTimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		prev, next string
		noise      bool
	}{
		{"Release 3.2 (2011-09-30 14:20:57)", "Release 3.3 (2011-09-30 14:20:57)", false},
		{"Froboz 3.2 (2011-09-30 14:20:57 -0700)", "Froboz 4.2 (2011-09-30 14:20:57 -0700)", false},
		{"Kernel 6.1, 2026-01-04 10:20:33", "Kernel 6.2, 2026-01-04 10:20:33", false},
		{"12 2026-01-04 10:20:33", "13 2026-01-04 10:20:33", false},
		{"2026-01-04 10:20:33, 12.5", "2026-01-04 10:20:33, 13.5", false},
		{"2026-01-04 10:20:33 - 12.5 °C", "2026-01-04 10:20:33 - 13.5 °C", false},
		{"Last update: 2.4.1 (4 January 2026)", "Last update: 2.4.2 (11 January 2026)", false},
		{"Last updated 4 January 2026, 12.50 EUR", "Last updated 4 January 2026, 13.50 EUR", false},
		{"Stand: 04.01.2026, 12,50 EUR", "Stand: 04.01.2026, 13,50 EUR", false},
		{"更新日 2026年1月4日 12.5円", "更新日 2026年1月4日 13.5円", false},
		{"18,245.33 10:20:33", "18,345.33 11:20:33", false},
		{"1.0825 10:20:33", "1.0925 11:20:33", false},
		{"2026-01-04T10:20:33,123", "2026-01-05T11:20:34,456", true},
		{"Stand: 04.01.2026, 12.50 Uhr", "Stand: 05.01.2026, 13.50 Uhr", true},
		{"Päivitetty 4.1.2026 12.50", "Päivitetty 5.1.2026 13.50", true},
		{"Updated 10.20, 4 January 2026", "Updated 11.30, 5 January 2026", true},
		{"Last updated 4 January 2026 10:20 (04.01.2026)", "Last updated 5 January 2026 11:20 (05.01.2026)", true},
		{"Uppdaterad kl 14 den 4 januari 2026", "Uppdaterad kl 15 den 5 januari 2026", true},
		{"Updated at 2 PM on 4 January 2026", "Updated at 3 PM on 5 January 2026", true},
		{"Last updated 4 January 2026 (04.01.2026)", "Last updated 5 January 2026 (05.01.2026)", true},
		{"Release 3.2 (2026-01-04 10:20:33)", "Release 3.2 (2026-01-05 11:20:34)", true},
		{"Kernel 6.1, 2026-01-04 10:20:33", "Kernel 6.1, 2026-01-05 11:20:34", true},
		{"17 Sep 2010 18:43:16", "18 Sep 2010 18:43:17", true},
		{"10:20:33 04.01.2026", "11:20:34 05.01.2026", true},
		{"04 01 2026 10:20:33", "05 01 2026 10:20:34", true},
	} {
		prev, next := Rendering{Text: "Head\n" + c.prev, At: at}, Rendering{Text: "Head\n" + c.next, At: at.AddDate(0, 0, 1)}
		if noise, _ := CompareRenderings(prev, next); noise != c.noise {
			t.Errorf("%q and %q: noise is %v", c.prev, c.next, noise)
		}
	}
}

func TestCore(t *testing.T) {
	t.Parallel()
	cases := []struct{ line, want, kinds string }{
		// Ages.
		{"3 minutes ago", "", "ages"},
		{"Ann Lee · 3 minutes ago", "Ann Lee", "ages"},
		{"posted by ann 2 hours, 5 minutes ago | 12 comments", "posted by ann", "ages counters"},
		{"about an hour ago", "", "ages"},
		{"a few seconds ago", "", "ages"},
		{"A moment ago", "", "ages"},
		{"less than a minute ago", "", "ages"},
		{"more than 2 years ago", "", "ages"},
		{"half a minute ago", "", "ages"},
		{"two hours ago", "", "ages"},
		{"1 day 3 hours ago", "", "ages"},
		{"2d 5h ago", "", "ages"},
		{"5 hr. ago", "", "ages"},
		{"Ann Lee · 2 mo. ago · Reply", "Ann Lee Reply", "ages"},
		{"Posted by Ann Lee vor 5 Std.", "Posted by Ann Lee", "ages"},
		{"vor ein paar Sekunden", "", "ages"},
		{"vor 3 Tagen 5 Stunden", "", "ages"},
		{"il y a quelques secondes", "", "ages"},
		{"hace unos segundos", "", "ages"},
		{"5 мин. назад", "", "ages"},
		{"3 godz. temu", "", "ages"},
		{"We met him two hours ago, in the harbour.", "We met him two hours ago, in the harbour.", ""},
		{"A few rules", "A few rules", ""},
		{"Two hours in the harbour", "Two hours in the harbour", ""},
		{"less than a minute", "less than a minute", ""},
		{"vor zwei Häusern", "vor zwei Häusern", ""},
		{"The walk to the pier takes 5 min.", "The walk to the pier takes 5 min.", ""},
		{"just now", "", "ages"},
		{"Yesterday, 14:05", "", "ages clocks"},
		{"Yesterday, 20:00 by Ann", "20:00 by Ann", "ages"},
		{"Réunion à 14h05", "Réunion à 14h05", ""},
		{"vor 3 Minuten", "", "ages"},
		{"il y a 12 heures", "", "ages"},
		{"hace 2 días", "", "ages"},
		{"2 giorni fa", "", "ages"},
		{"5 минут назад", "", "ages"},
		{"3分前", "", "ages"},
		{`git log --since="2 weeks ago" -- gitk`, `git log --since="2 weeks ago" -- gitk`, ""},
		{"HEAD@{5 minutes ago}", "HEAD@{5 minutes ago}", ""},
		{"“3 minutes ago” is an age", "“3 minutes ago” is an age", ""},
		{"Posted (3 minutes ago)", "Posted", "ages"},
		{"Posted by Ann Lee 3 minutes ago.", "Posted by Ann Lee", "ages"},
		{"Published 2 hours ago by Ann Lee.", "Published by Ann Lee.", "ages"},
		{"Published on 4 April 2026 by Ann Lee.", "Published on 4 April 2026 by Ann Lee.", ""},
		{"virtual Int64 read(void* data, Int64 size);", "virtual Int64 read(void* data, Int64 size);", ""},
		{"53 View();", "53 View();", ""},
		{"Python3 downloads", "Python3 downloads", ""},
		{"阅读5次", "", "counters"},
		{"The bank was founded 20 years ago.", "The bank was founded 20 years ago.", ""},
		{"Founded 20 years ago in Oslo", "Founded 20 years ago in Oslo", ""},
		{"posted 3 minutes ago by ann", "posted by ann", "ages"},
		{"Today 9:00-17:00", "Today 9:00-17:00", ""},
		{"Bake for 20 minutes", "Bake for 20 minutes", ""},
		{"just in case", "just in case", ""},
		// Ages in words that mean "before" too.
		{"山田 3日前", "山田", "ages"},
		{"1234回閲覧・3日前", "", "ages counters"},
		{"3天前 回复", "回复", "ages"},
		{"张三发布于3天前", "张三发布于", "ages"},
		{"홍길동 · 3일 전", "홍길동", "ages"},
		{"3일 전 작성", "작성", "ages"},
		{"פורסם לפני 3 שעות", "פורסם", "ages"},
		{"Δημοσιεύθηκε πριν από 3 ώρες", "Δημοσιεύθηκε", "ages"},
		{"Jan Novák před 3 hodinami", "Jan Novák", "ages"},
		{"۳ ساعت پیش", "", "ages"},
		{"前日 3日前：30%", "前日 3日前：30%", ""},
		{"3日前：30", "3日前：30", ""},
		{"3日前 30%", "3日前 30%", ""},
		{"出発日の3日前", "出発日の3日前", ""},
		{"受付は開演30分前", "受付は開演30分前", ""},
		{"行程开始3天前", "行程开始3天前", ""},
		{"10年前に設立", "10年前に設立", ""},
		{"출발 3일 전 취소: 30", "출발 3일 전 취소: 30", ""},
		{"체크인 24시간 전", "체크인 24시간 전", ""},
		{"3 ساعت پیش از پرواز", "3 ساعت پیش از پرواز", ""},
		{"ביטול לפני 24 שעות", "ביטול לפני 24 שעות", ""},
		{"Ακύρωση πριν από 24 ώρες", "Ακύρωση πριν από 24 ώρες", ""},
		{"Storno před 14 dny", "Storno před 14 dny", ""},
		// Offers.
		{"25,000 visits / month", "25,000 visits / month", ""},
		{"10 downloads per month", "10 downloads per month", ""},
		{"10次访问/月", "10次访问/月", ""},
		{"Up to 10,000 pageviews", "Up to 10,000 pageviews", ""},
		{"Bis zu 10.000 Besucher", "Bis zu 10.000 Besucher", ""},
		{"Jusqu'à 10 000 visites", "Jusqu'à 10 000 visites", ""},
		{"Max. 5 downloads", "Max. 5 downloads", ""},
		{"最大100コメント", "最大100コメント", ""},
		{"Includes: 5 users online", "Includes: 5 users online", ""},
		{"12 visits - 90 €", "12 visits - 90 €", ""},
		{"12 visits (€90)", "12 visits (€90)", ""},
		{"24 € · 1,234 views", "24 €", "counters"},
		{"1,234 views · 24 €", "24 €", "counters"},
		{"1,234 views / 12 comments", "", "counters counters"},
		{"1,234 downloads - 12 MB", "12 MB", "counters"},
		// Counters.
		{"1,234 views", "", "counters"},
		{"Views: 1,234", "", "counters"},
		{"1.2k views · 4 replies", "", "counters counters"},
		{"By Ann Lee Views: 1,234", "By Ann Lee", "counters"},
		{"viewed 1,234 times", "", "counters"},
		{"View count: 1,234", "", "counters"},
		{"View count: 1,234.", "", "counters"},
		{"1,234 people have viewed this page.", "", "counters"},
		{"This article has received 1,234 views.", "", "counters"},
		{"We have had 12345 visitors since January 2000.", "since January 2000.", "counters"},
		{"By Ann Lee | Visitor counter 1234", "By Ann Lee", "counters"},
		{"Viewed: 1,234 times", "", "counters"},
		{"Times read: 12", "", "counters"},
		{"Viewed by 1,234 people", "", "counters"},
		{"12 people have viewed this product today", "", "counters"},
		{"Besucherzähler: 12345", "", "counters"},
		{"Licznik odwiedzin: 12 345", "", "counters"},
		{"Visited: 12 islands", "Visited: 12 islands", ""},
		{"Viewed by 12 judges", "Viewed by 12 judges", ""},
		{"Read: 5 min", "Read: 5 min", ""},
		{"Download counter at 12 desks", "Download counter at 12 desks", ""},
		{"Viewed 12k times", "", "counters"},
		{"Room with 2 views", "Room with 2 views", ""},
		{"Zimmer mit 2 Ansichten", "Zimmer mit 2 Ansichten", ""},
		{"Physiotherapy: 12 visits", "Physiotherapy: 12 visits", ""},
		{"Total: 12 visits", "Total", "counters"},
		{"By Ann Lee 12 views", "By Ann Lee", "counters"},
		{"1.2k stars", "", "counters"},
		{"234,567 forks", "", "counters"},
		{"3 stars", "3 stars", ""},
		{"24 forks", "24 forks", ""},
		{"Visitors today: 123", "", "counters"},
		{"Besucher gesamt: 12.345", "", "counters"},
		{"Visitors today: 123 from Kiel", "Visitors today: 123 from Kiel", ""},
		{"There are currently 5 users online. 0 members and 5 guests", "", "counters"},
		{"12 users online", "", "counters"},
		{"1.234 Mal gelesen", "", "counters"},
		{"Aufrufe: 1.234", "", "counters"},
		{"Vues : 1 234", "", "counters"},
		{"12 345 678 vues", "", "counters"},
		{"閲覧数：1,234", "", "counters"},
		{"1234回閲覧", "", "counters"},
		{"コメント5件", "", "counters"},
		{"The town has 1,234 visitors in a usual year.", "The town has 1,234 visitors in a usual year.", ""},
		{"12 online courses", "12 online courses", ""},
		{"Visits: 12 rooms", "Visits: 12 rooms", ""},
		{"12 views By Ann", "By Ann", "counters"},
		{"$12 visitors", "$12 visitors", ""},
		{"₹ 12 visitors", "₹ 12 visitors", ""},
		{"Visit 12 rooms", "Visit 12 rooms", ""},
		{"12 rooms", "12 rooms", ""},
		{"Version 1.2.3", "Version 1.2.3", ""},
		{"1,234.50 €", "1,234.50 €", ""},
		{"Online: 24 €", "Online: 24 €", ""},
		{"Online: 24", "", "counters"},
		{"Tickets online: 24 Euro, Abendkasse 28 Euro", "Tickets online: 24 Euro, Abendkasse 28 Euro", ""},
		{"Online: 12 Plätze frei", "Online: 12 Plätze frei", ""},
		{"Besuche: 12 Euro", "Besuche: 12 Euro", ""},
		{"Online: 24 · Offline: 3", "Offline: 3", "counters"},
		{"Available online: 5", "Available online: 5", ""},
		{"In stock: 5 online", "In stock: 5 online", ""},
		{"Auf Lager: 5 online, 12 im Laden", "Auf Lager: 5 online, 12 im Laden", ""},
		{"Preis online: 24", "Preis online: 24", ""},
		{"Users online: 24", "", "counters"},
		{"Players online: 24", "Players", "counters"},
		{"Bitcoin price 34 comments", "Bitcoin price", "counters"},
		{"Visite : 12 €", "Visite : 12 €", ""},
		{"Visits: 24%", "Visits: 24%", ""},
		{"Download: 24 MB", "Download: 24 MB", ""},
		{"Downloads: 12 By Ann", "By Ann", "counters"},
		{"Downloads: 10 000+", "+", "counters"},
		{"Download 4.2.1", "Download 4.2.1", ""},
		{"Download: 4.2", "Download: 4.2", ""},
		{"Downloads: 4.2k", "", "counters"},
		{"Download: 3.2.1 (stable)", "Download: 3.2.1 (stable)", ""},
		{"Views: 12,34,567", "", "counters"},
		{"Besuche: 14:00-18:00 Uhr", "Besuche: 14:00-18:00 Uhr", ""},
		{"Visits: 14:00-16:00", "Visits: 14:00-16:00", ""},
		{"Workshop 14:00 online", "Workshop 14:00 online", ""},
		{"Conference, 14 May 2026, online", "Conference, 14 May 2026 , online", ""},
		{"Conference 14 May 2026 online", "Conference 14 May 2026 online", ""},
		{"Conference May 14, 2026 online", "Conference May 14, 2026 online", ""},
		{"24 lectures", "24 lectures", ""},
		{"1 234 lectures", "", "counters"},
		{"1.2k lectures", "", "counters"},
		{"Lectures : 12.345", "", "counters"},
		{"Lecture 5", "Lecture 5", ""},
		{"Visit 3", "Visit 3", ""},
		{"Comment 12 · Reply 3", "Comment 12 · Reply 3", ""},
		{"Comments 12 · Replies 3", "", "counters counters"},
		// Stamps.
		{"Last updated: 4 March 2026", "", "stamps"},
		{"Last updated: March 4, 2026 at 2:05 pm GMT", "", "stamps"},
		{"Ann Lee | Updated 3 minutes ago", "Ann Lee", "stamps"},
		{"Ann Lee Updated 2026-03-04T14:05", "Ann Lee", "stamps"},
		{"This page was last edited on 3 March 2026, at 14:05 (UTC).", "", "stamps"},
		{"Zuletzt aktualisiert am 4. März 2026 um 14:05 Uhr", "", "stamps"},
		{"Stand: 04.03.2026", "", "stamps"},
		{"Dernière mise à jour le 4 mars 2026 à 14h05", "", "stamps"},
		{"Última actualización: 4 de marzo de 2026", "", "stamps"},
		{"Обновлено: 4 марта 2026 г. 14:05", "", "stamps"},
		{"最終更新日: 2026年3月4日 14:05", "", "stamps"},
		{"本页面最后修改于2026年3月4日", "", "stamps"},
		{"上次更新：2016-11-07 上一頁 下一頁", "上一頁 下一頁", "stamps"},
		{"Last change on 2024-06-25 • Created on 2020-07-02 • ID: CL-7B205", "Created on 2020-07-02 • ID: CL-7B205", "stamps"},
		{"Updated", "Updated", ""},
		{"Updated 2026 edition", "Updated 2026 edition", ""},
		{"Last update 3.1.4", "Last update 3.1.4", ""},
		{"Stand: 04.03.26", "", "stamps"},
		{"Der Stand 4. März 2026: 3 zu 2", "Der Stand 4. März 2026: 3 zu 2", ""},
		{"Updated 4 March 2026: 3 new rules", "3 new rules", "stamps"},
		{"Updated 4 March 2026, 5 new rules", "5 new rules", "stamps"},
		{"Updated 2026-03-04 12 seats left", "12 seats left", "stamps"},
		{"Updated March 4, 2026 at 5 pm", "", "stamps"},
		{"更新日：2026年3月4日14時05分", "", "stamps"},
		{"Updated rules for 4 players", "Updated rules for 4 players", ""},
		{"the rules updated 4 March", "the rules updated 4 March", ""},
		{"The rules were last updated on 4 March 2026, in Oslo.", "The rules were last updated on 4 March 2026, in Oslo.", ""},
		{"Published 4 April 2026", "Published 4 April 2026", ""},
		{"The current time is 10:45.", "", "stamps"},
		{"It is now 10:45 PM in Oslo", "in Oslo", "stamps"},
		{"It’s now 10:45", "", "stamps"},
		{"It is now 10 degrees", "It is now 10 degrees", ""},
		{"Today's date: 4 March 2026", "", "stamps"},
		{"Page loaded at 10:45:33", "", "stamps"},
		{"Es ist jetzt 10:45 Uhr.", "", "stamps"},
		{"Il est actuellement 10h45", "", "stamps"},
		{"当前时间：2026-03-04 10:45", "", "stamps"},
		{"现在日期 12", "现在日期 12", ""},
		{"Date and time: 4 April 2026, 20:00", "Date and time: 4 April 2026 , 20:00", ""},
		// Clocks: at is the time of the fetch.
		{"Tuesday, March 3, 2026 2:01 PM", "", "clocks"},
		{"Example | Tuesday, March 3, 2026", "Example |", "clocks"},
		{"mardi 3 mars 2026", "", "clocks"},
		{"2026年3月4日 (水)", ")", "clocks"}, // already tomorrow there
		{"03.03.2026, 15:02 Uhr", "", "clocks"},
		{"2019-01-02 15:04:05", "", "clocks"},
		{"Auction ends 2019-01-02 20:00:00", "Auction ends 2019-01-02 20:00:00", ""},
		{"Auction ends 2029-01-02 20:00:13", "Auction ends 2029-01-02 20:00:13", ""},
		{"19:35:12", "", "clocks"}, // five and a half hours ahead
		{"Tuesday, March 10, 2026 7:30 PM", "Tuesday , March 10 , 2026 7:30 PM", ""},
		{"Concert on March 3, 2026", "Concert on March 3, 2026", ""},
		{"2:23:14", "2:23:14", ""},
		{"14:05", "14:05", ""},
		{"3 March", "", "clocks"},
		{"3/4", "3/4", ""},
		// Timings.
		{"Page generated in 0.123 seconds with 12 queries", "", "counters"},
		{"Generated in 0.2 s | Queries: 14", "Generated in", "timings timings"},
		{"24 queries answered", "24 queries answered", ""},
		{"Page generated in 0.123 seconds.", "", "counters"},
		{"This page was created in 0.045 seconds with 22 queries.", "", "counters"},
		{"Die Seite wurde in 0,123 Sekunden erstellt.", "", "counters"},
		{"Страница сгенерирована за 0,123 сек.", "", "counters"},
		{"The page was loaded in 12 seconds by Ann.", "The page was loaded in 12 seconds by Ann.", ""},
		// Ids of requests.
		{"Ray ID: 8c2f1a2b3c4d5e6f", "", "ids"},
		{"Request ID: 550e8400-e29b-41d4-a716-446655440000", "", "ids"},
		{"Error 502 Ray ID: 8c2f1a2b3c4d5e6f • 2026-03-04 10:05:11 UTC", "Error 502 Ray ID: 8c2f1a2b3c4d5e6f • 2026-03-04 10:05:11 UTC", ""},
		{"Request ID: 1234", "Request ID: 1234", ""},
		{"Session ID: Deadbeef", "Session ID: Deadbeef", ""},
		{"Order ID: 8c2f1a2b3c4d5e6f", "Order ID: 8c2f1a2b3c4d5e6f", ""},
		// Forums.
		{"There are currently 12 users browsing this thread. (0 members and 12 guests)", "", "counters"},
		{"Users browsing this forum: Google [Bot] and 3 guests", "", "counters"},
		{"In total there are 25 users online :: 3 registered, 0 hidden and 22 guests (based on users active over the past 5 minutes)", "", "counters"},
		{"0 Members and 2 Guests are viewing this topic.", "", "counters"},
		{"All times are GMT +1. The time now is 10:05.", "", "counters"},
		{"Alle Zeitangaben in WEZ +1. Es ist jetzt 10:05 Uhr.", "", "counters"},
		{"Mitglieder in diesem Forum: 0 Mitglieder und 4 Gäste", "", "counters"},
		{"Insgesamt sind 25 Besucher online: 3 registrierte, 0 unsichtbare und 22 Gäste", "", "counters"},
		{"12 people are viewing this right now", "", "counters"},
		{"Rooms for 3 guests, to be booked online", "Rooms for 3 guests, to be booked online", ""},
		{"Users browsing this map find 12 parks.", "Users browsing this map find 12 parks.", ""},
		// Counters in more languages.
		{"浏览次数：123", "", "counters"},
		{"阅读数 123", "", "counters"},
		{"作者：李明 | 点击数：1,234", "作者：李明", "counters"},
		{"Lượt xem: 123", "", "counters"},
		{"ผู้เข้าชม 123 คน", "", "counters"},
		{"عدد المشاهدات: ١٢٣", "", "counters"},
		{"بازدید: 123", "", "counters"},
		{"Görüntülenme: 123", "", "counters"},
		{"Megtekintések: 123", "", "counters"},
		{"Počet zobrazení: 1 234", "", "counters"},
		{"Προβολές: 123", "", "counters"},
		{"Переглядів: 123", "", "counters"},
		{"123 visninger", "", "counters"},
		{"123 katselukertaa", "", "counters"},
		{"Dilihat 123 kali", "", "counters"},
		{"צפיות: 123", "", "counters"},
		{"Anzahl der Aufrufe: 1.234", "", "counters"},
		{"بازدید: 12 €", "بازدید: 12 €", ""},
		{"123 visninger / måned", "123 visninger / måned", ""},
		{"Visninger på 12 steder", "Visninger på 12 steder", ""},
		{"It took 12 seconds", "It took 12 seconds", ""},
		{"12 queries in 1 seconds", "12 queries in", "timings"},
		{"Execution time: 0.05 s", "Execution time", "timings"},
		{"Query timeout: 30 seconds", "Query timeout: 30 seconds", ""},
		{"Query timeout: 500 ms", "Query timeout: 500 ms", ""},
		{"Max. query duration: 2.5 s", "Max. query duration: 2.5 s", ""},
		{"Execution time: 900 seconds", "Execution time: 900 seconds", ""},
		// Lines as such.
		{"", "", ""},
		{" · | ", "· |", ""},
		{"a  b", "a b", ""},
		{"a\n1 view\nb", "a b", "counters"},
		{"1 view " + strings.Repeat("word ", maxNoisyLine/5), strings.TrimSpace("1 view " + strings.Repeat("word ", maxNoisyLine/5)), ""},
	}
	for _, c := range cases {
		if got, kinds := coreOf(Rendering{c.line, at}); got != c.want || kinds != c.kinds {
			t.Errorf("%q: got %q with %q, want %q with %q", c.line, got, kinds, c.want, c.kinds)
		}
	}
}

// Without the time of the fetch nothing is a clock.
func TestClockWithoutTime(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{"Tuesday, March 3, 2026": "Tuesday , March 3 , 2026", "2026-03-03 14:05:33": "2026-03-03 14:05:33", "14:05:33": "14:05:33"} {
		if got, _ := coreOf(Rendering{Text: line}); got != want {
			t.Errorf("%q: %q, want %q", line, got, want)
		}
	}
}

func TestCompareRenderings(t *testing.T) {
	t.Parallel()
	later := at.Add(26 * time.Hour)
	const text = "News\nTuesday, March 3, 2026\nRain today. It costs $12.50.\nUpdated 3 minutes ago · 1,234 views"
	cases := []struct {
		name, next string
		noise      bool
		num        map[string]float64
	}{
		{"nothing", text, true, map[string]float64{}},
		{"white space", strings.ReplaceAll(text, "\n", " \n\n"), true, map[string]float64{}},
		{"clock, stamp and counter", "News\nWednesday, March 4, 2026\nRain today. It costs $12.50.\nUpdated 5 hours ago · 1,301 views", true, map[string]float64{"clocks": 1, "stamps": 1, "counters": 1}},
		{"noise that is gone", "News\nWednesday, March 4, 2026\nRain today. It costs $12.50.", true, map[string]float64{"clocks": 1, "stamps": 1, "counters": 1}},
		{"more noise", text + "\n4 comments", true, map[string]float64{"counters": 2}},
		{"a day that is gone", strings.Replace(text, "Tuesday, March 3, 2026\n", "", 1), false, map[string]float64{"words": 6, "words_delta": -1, "same_words": 1}},
		{"another day than today", strings.Replace(text, "March 3", "March 13", 1), false, map[string]float64{"words": 7, "words_delta": 0, "same_words": 1}},
		{"a price", strings.Replace(text, "12.50", "12.90", 1), false, map[string]float64{"words": 7, "words_delta": 0, "same_words": 6}},
		{"a sentence", strings.Replace(text, "Rain", "Snow fell. Rain", 1), false, map[string]float64{"words": 9, "words_delta": 2, "same_words": 2}},
		{"the end", "News", false, map[string]float64{"words": 1, "words_delta": -6, "same_words": 1}},
		{"all of it", "", false, map[string]float64{"words": 0, "words_delta": -7, "same_words": 0}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			next := Rendering{c.next, later}
			if c.name == "nothing" || c.name == "white space" || !c.noise || c.name == "more noise" {
				next.At = at // the clock shows it
			}
			noise, reasons := CompareRenderings(Rendering{text, at}, next)
			if noise != c.noise || len(reasons) != 1 || !maps.Equal(reasons[0].Num, c.num) {
				t.Errorf("%v %+v, want %v %+v", noise, reasons, c.noise, c.num)
			}
			if _, ok := NoiseWord(reasons[0]); !ok {
				t.Error("no words for it")
			}
		})
	}
}

// Clocks are noise if one time zone explains both of them.
func TestClocks(t *testing.T) {
	t.Parallel()
	const morning, noon, evening = "2026-03-04T08:00:00Z", "2026-03-04T12:00:00Z", "2026-03-04T15:10:00Z"
	for _, c := range []struct {
		prev, prevAt, next, nextAt string
		noise                      bool
	}{
		// What a page says of itself.
		{"Wednesday, 4 March 2026", noon, "Thursday, 5 March 2026", "2026-03-05T11:00:00Z", true},
		{"Wednesday, 4 March 2026", noon, "Thursday, 5 March 2026", evening, true}, // in Asia it is
		{"4 March 2026, 13:00", noon, "4 March 2026, 16:10", evening, true},
		{"4 March 2026, 1:00 pm", noon, "4 March 2026, 4:02 pm", evening, true}, // kept for 8 minutes
		{"2026年3月4日 午後9:00", noon, "2026年3月5日 午前0:10", evening, true},
		{"4 March 2026, 13:00", noon, "4 July 2026, 14:00", "2026-07-04T12:00:00Z", true}, // in summer
		{"2026-03-04 12:00:00", noon, "2026-03-04 15:10:00", evening, true},
		{"2026-02-01 10:11:12", noon, "2026-02-20 05:06:07", evening, true},

		{"13:00:07", noon, "16:10:02", evening, true},
		{"Today, 13:00", noon, "Today, 16:10", evening, true},
		{"Joe Today, 13:00", noon, "Joe Yesterday, 13:00", "2026-03-05T12:00:00Z", true},
		// What happens.
		{"Submission deadline: 2026-03-31 23:59:59", noon, "Submission deadline: 2026-04-30 23:59:59", evening, false},
		{"Auction ends 2026-03-31 20:00:00", noon, "Auction ends 2026-04-02 20:00:00", evening, false},
		{"Auction ended 2026-02-28 20:00:00", noon, "Auction ended 2026-03-01 20:00:00", evening, false},
		{"Auction ends 2026-03-31 20:01:13", noon, "Auction ends 2026-03-31 20:04:11", evening, false},
		{"Bewerbungsfrist: 31.03.2026, 23:59:59 Uhr", noon, "Bewerbungsfrist: 30.04.2026, 23:59:59 Uhr", evening, false},
		{"截止时间：2026-03-31 23:59:59", noon, "截止时间：2026-04-30 23:59:59", evening, false},
		{"Срок подачи: 31.03.2026 23:59:59", noon, "Срок подачи: 30.04.2026 23:59:59", evening, false},
		{"Sale ends 03/31/2026 11:59:59 PM", noon, "Sale ends 04/30/2026 11:59:59 PM", evening, false},
		{"Valid until 2026-03-31T20:00:07Z", noon, "Valid until 2026-04-30T20:00:07Z", evening, false},
		{"Bid closing\n2026-03-31 17:00:00", noon, "Bid closing\n2026-04-14 17:00:00", evening, false},
		{"Concert: 4 March 2026, 20:00", noon, "Concert: 4 March 2026, 21:30", evening, false},
		{"4 Mar 2026 14:05", morning, "4 Mar 2026 17:35", "2026-03-04T11:10:00Z", false},
		{"Next meeting: 4 March", "2026-03-03T10:00:00Z", "Next meeting: 6 March", "2026-03-05T15:10:00Z", false},
		{"Effective: 2026-03-04", morning, "Effective: 2026-03-03", "2026-03-04T11:10:00Z", false},
		{"Deadline: 04.03.2026", morning, "Deadline: 05.03.2026", "2026-03-04T09:10:00Z", false},
		{"Today, 20:00", noon, "Today, 21:30", evening, false},
		{"Heute 20:00 Uhr", noon, "Heute 21:00 Uhr", evening, false},
		{"Réunion à 14h05", noon, "Réunion à 16h05", evening, false},
	} {
		prevAt, _ := time.Parse(time.RFC3339, c.prevAt)
		nextAt, _ := time.Parse(time.RFC3339, c.nextAt)
		prev, next := Rendering{c.prev, prevAt}, Rendering{c.next, nextAt}
		for _, pair := range [][2]Rendering{{prev, next}, {next, prev}} {
			if noise, _ := CompareRenderings(pair[0], pair[1]); noise != c.noise {
				t.Errorf("%q to %q: noise is %v", pair[0].Text, pair[1].Text, noise)
			}
		}
		if !c.noise && CoreDigest(c.prev) == CoreDigest(c.next) {
			t.Errorf("%q and %q are the same page", c.prev, c.next)
		}
	}
}

func TestNoiseWord(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]crawl.Reason{
		"the same text but for 2 ages, 1 counters": {Code: CodeOnlyNoise, Num: map[string]float64{"counters": 1, "ages": 2}},
		"the same text but for white space":        {Code: CodeOnlyNoise},
		"edited (-3 words)":                        {Code: CodeBeyondNoise, Num: map[string]float64{"words_delta": -3}},
		"edited":                                   {Code: CodeBeyondNoise},
	} {
		if got, ok := NoiseWord(r); !ok || got != want {
			t.Errorf("%+v is %q, want %q", r, got, want)
		}
	}
	if got, ok := NoiseWord(crawl.Reason{Code: CodeText}); ok {
		t.Errorf("another reason is %q", got)
	}
}

// lines are texts that are much alike, with and without noise.
var lines = rapid.SliceOfN(rapid.SampledFrom([]string{
	"News", "Rain today.", "3 March 2026", "Concert: 3 March 2026, 19:30", "1 view", "1 view · 3 minutes ago", "Updated 3 March", "Updated", "3", "March", "2026", "2 views", "ago", "·", "", "views 3",
	"25 nov. 2021", "24 nov. 2021", "2021-03-04", "2021-03-05 10:00", "Updated this week", "更新日：3月4日", "آخر تحديث: ٤ مارس ٢٠٢٦",
}), 0, 6)

// TestCompareProperties: the comparison is reflexive and symmetric, agrees with
// the digest, and a text that is nowhere noise is an edit.
func TestCompareProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := Rendering{strings.Join(lines.Draw(t, "a"), "\n"), at}
		b := Rendering{strings.Join(lines.Draw(t, "b"), "\n"), at}
		noise, reasons := CompareRenderings(a, b)
		if back, _ := CompareRenderings(b, a); back != noise {
			t.Errorf("%v one way, %v the other", noise, back)
		}
		if same, reasons := CompareRenderings(a, Rendering{a.Text, at.AddDate(0, 0, 5)}); !same || len(reasons[0].Num) > 0 {
			t.Error("days later a text differs from itself")
		}
		if CoreDigest(a.Text) == CoreDigest(b.Text) && !noise {
			t.Error("the digest says noise")
		}
		if again, reasonsToo := CompareRenderings(a, b); again != noise || !reflect.DeepEqual(reasons, reasonsToo) {
			t.Error("not deterministic")
		}
		edited := Rendering{a.Text + "\nSnow", at}
		if noise, _ := CompareRenderings(a, edited); noise {
			t.Error("a word more is noise")
		}
	})
}

// FuzzCore: the rest are words of the text in their order, and without a digit it
// is all of them, except for the few words for times without one.
func FuzzCore(f *testing.F) {
	f.Add("Ann · Updated 3 minutes ago | 1,234 views\n3分前")
	f.Add("2026-03-04T14:05:33 (UTC): viewed 1.2k times, 0.1 s")
	f.Add("上次更新：2026年3月4日 上一頁\nอัปเดตล่าสุด: ๔ มีนาคม ๒๕๖๙\nUpdated this week\n٤٫٥")
	f.Add("il y a 3 j, à l'instant\u00a0\u2028x \xff")
	f.Fuzz(func(t *testing.T, text string) {
		core, kinds := coreOf(Rendering{Text: text})
		if strings.ContainsRune(text, 0) {
			return // clocks are marked with it
		}
		left := strings.Join(strings.Fields(core), "")
		rest := left
		for _, r := range text {
			if first, size := utf8.DecodeRuneInString(rest); size > 0 && first == r {
				rest = rest[size:]
			}
		}
		if utf8.ValidString(text) && rest != "" {
			t.Errorf("%q is no part of %q", left, text)
		}
		if kinds == "" && utf8.ValidString(text) && left != strings.Join(strings.Fields(text), "") {
			t.Errorf("without noise %q became %q", text, core)
		}
		if again, _ := coreOf(Rendering{Text: text}); again != core {
			t.Errorf("%q, then %q", core, again)
		}
	})
}

// BenchmarkCompareRenderings shows that time is linear in the length.
func BenchmarkCompareRenderings(b *testing.B) {
	page := strings.Repeat("Some words of a paragraph that is as long as they are, more or less, with 12 numbers.\nAnn Lee · 3 minutes ago · 1,234 views\n", 80)
	for name, text := range map[string]string{
		"10 KB": page, "10 MB": strings.Repeat(page, 1000), "10 MB in a line": strings.ReplaceAll(strings.Repeat(page, 1000), "\n", " "),
		"10 MB of digits": strings.Repeat("1 ", 5<<20),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(2 * len(text)))
			b.ReportAllocs()
			for b.Loop() {
				CompareRenderings(Rendering{text, at}, Rendering{text, at})
			}
		})
	}
}

// White space beside a mark comes and goes with the tool that writes the markup, and says nothing.
func TestSpaceBesideMarks(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, after string
		noise         bool
	}{
		{"Select Reports → Transaction Report.", "Select Reports → Transaction Report .", true},
		{"See READ , WRITE and ( on macOS ) more .", "See READ, WRITE and (on macOS) more.", true},
		{"He said « yes » !", "He said «yes»!", true},
		{"A line .\nB", "A line.\nB", true},
		{"It costs 1 .5 €", "It costs 15 €", false},
		{"Not valid .", "Valid.", false},
		{"x ! y", "x !y", false}, // a sign before its word
		{"a b.", "a b", false},
		{"a b,", "a b .", false},
		{"A\n. B", "A.\nB", false}, // another line
	} {
		for _, pair := range [][2]string{{c.before, c.after}, {c.after, c.before}} {
			if noise, reasons := CompareRenderings(Rendering{Text: pair[0]}, Rendering{Text: pair[1]}); noise != c.noise {
				t.Errorf("%q and %q: %v because of %v", pair[0], pair[1], noise, reasons)
			}
		}
	}
	marks := strings.Repeat(". ", 100_000)
	if noise, _ := CompareRenderings(Rendering{Text: "a " + marks}, Rendering{Text: "a" + marks}); !noise {
		t.Error("many marks are an edit")
	}
}
