package change

import (
	"strings"
	"sync"
)

// stampTimes are times without a number, in the notation of moreStampLabels. Each element has
// those of the languages of the same element there. Those of the scripts without spaces
// between words follow.
var stampTimes = []string{
	// English.
	`today, yesterday, this week|month|year|hour|morning|afternoon|evening, last week|month|year|night|hour, in|within|during the last|past hour|day|week|month|year, in|within|during the last few minutes|hours|days|weeks|months|years, a while ago`,
	// German.
	`heute, gestern, vorgestern, diese|letzte|vorige woche, diesen|dieses|letzten|letztes|vorigen|voriges monat|jahr, in|innerhalb der letzten stunde|woche, vor kurzem`,
	// French.
	`aujourd'hui, hier, avant-hier, cette semaine|année, ce mois _|-ci, la semaine dernière|passée, le mois dernier|passé, l'année dernière|passée, cette heure, dans|durant|au+cours+de la dernière heure, il y a plus d'une|d'un semaine|mois|an|heure, il y a une|un semaine|mois|an|heure, il y a quelques jours|semaines|mois|heures|minutes`,
	// Spanish, Catalan, Galician.
	`hoy, ayer, anteayer, esta semana, este mes|año, la semana pasada, el mes|año pasado, en|durante la última hora, hace más de una|un semana|mes|año|hora, avui, ahir, aquesta setmana, hoxe, onte`,
	// Italian, Portuguese, Romanian.
	`oggi, ieri, questa settimana, questo mese, la settimana scorsa, il mese scorso, nell'ultima ora, più di una|un settimana|mese|anno fa, hoje, ontem, esta|nesta semana, este|neste mês, a|na semana passada, o|no mês passado, na última hora, há mais de uma|um semana|mês|ano|hora, astăzi, azi, ieri, săptămâna aceasta|trecută, luna aceasta|trecută`,
	// Dutch, Afrikaans.
	`vandaag, gisteren, eergisteren, deze|vorige|afgelopen week|maand, dit|vorig jaar, in|binnen het afgelopen uur, meer dan een week|maand|jaar geleden, vandag, gister`,
	// Swedish, Danish, Norwegian, Icelandic.
	`idag, i dag, igår, i går, denna|den+här|förra vecka|veckan|månaden, senaste timmen, under|inom den senaste timmen, för mer än en vecka|månad sedan, i dag, denne|i+denne|sidste|siste uge|uke|måned, denne uken|måneden, for over|mere+end|mer+enn en uge|uke|måned siden, inden+for|innen+den den+seneste|siste time|timen, í dag, í gær`,
	// Finnish, Estonian, Hungarian.
	`tänään, eilen, tällä|viime viikolla, tässä|viime kuussa, viimeisen tunnin aikana, yli viikko|kuukausi sitten, täna, eile, sel nädalal, ma, tegnap, ezen|múlt a héten, múlt héten, az elmúlt órában, több mint egy hete|hónapja`,
	// Polish, Czech, Slovak, Slovene.
	`dzisiaj, dziś, wczoraj, w tym tygodniu|miesiącu, w zeszłym|ubiegłym tygodniu|miesiącu, w ciągu ostatniej godziny, ponad tydzień|miesiąc temu, dnes, včera, tento týden|týždeň|měsíc|mesiac, minulý týden|týždeň|měsíc|mesiac, před více než týdnem|měsícem, v posledni|poslední hodině, danes, včeraj, ta teden, prejšnji teden`,
	// Croatian, Bosnian, Serbian, Macedonian, Bulgarian.
	`danas, jučer, juče, ovaj|ovog|prošli|prošle tjedan|tjedna|tjedna|nedelje|sedmice, ове недеље, данас, јуче, днес, вчера, тази|миналата седмица, този|миналия месец, денес`,
	// Russian, Ukrainian, Belarusian, Kazakh, Mongolian.
	`сегодня, вчера, позавчера, на этой|прошлой неделе, в этом|прошлом месяце|году, в течение|за последний|последнего|последнюю часа|час|неделю, за последний час|месяц, более недели|месяца|года|часа назад, сьогодні, вчора, цього|минулого тижня|місяця, на цьому|минулому тижні, протягом останньої години, понад тиждень|місяць тому, сёння, учора, бүгін, кеше, өнөөдөр, өчигдөр`,
	// Lithuanian, Latvian, Albanian, Greek.
	`šiandien, vakar, šią|praėjusią savaitę, šodien, vakar, šonedēļ, sot, dje, σήμερα, χθες, χτες, αυτή|αυτήν την εβδομάδα, την προηγούμενη|περασμένη εβδομάδα, την τελευταία ώρα, πριν από περισσότερο|πάνω από μία|μια εβδομάδα`,
	// Turkish, Azerbaijani, Uzbek.
	`bugün, dün, bu|geçen hafta|ay|yıl, son bir saat|hafta içinde, bir haftadan fazla süre önce, bir haftadan uzun süre önce, dünən, bu həftə, bugun, kecha`,
	// Irish, Welsh, Basque, Esperanto, Maltese.
	`gaur, atzo, hodiaŭ, hieraŭ, heddiw, ddoe, inniu, inné, illum`,
	// Indonesian, Malay, Filipino, Swahili, Vietnamese.
	`hari ini, kemarin, semalam, minggu|bulan|tahun ini|lalu, dalam satu jam terakhir, lebih dari|daripada seminggu|sebulan yang+lalu|lalu, ngayong araw, kahapon, ngayong linggo, leo, jana, hôm nay, hôm qua, tuần|tháng|năm này|nay|trước|rồi, trong giờ qua, hơn một|1 tuần|tháng|năm trước`,
	// Arabic, Persian, Urdu, Pashto, Kurdish, Hebrew.
	`اليوم, أمس, البارحة, هذا الأسبوع|الشهر|العام, الأسبوع|الشهر الماضي, خلال الساعة الماضية|الأخيرة, في الساعة الأخيرة|الماضية, منذ أكثر من أسبوع|شهر|سنة, قبل أكثر من أسبوع|شهر|سنة, امروز, دیروز, این|همین هفته|ماه, هفته|ماه گذشته|پیش, بیش از یک هفته|ماه پیش|قبل, آج, کل, اس ہفتے, היום, אתמול, השבוע, החודש, בשבוע|בחודש שעבר, בשעה האחרונה, לפני יותר מ משבוע, לפני יותר משבוע|מחודש|משנה`,
	// Hindi, Marathi, Nepali, Bengali, Gujarati, Punjabi, Tamil, Telugu, Kannada, Malayalam.
	`आज, कल, इस हफ़्ते|हफ्ते|सप्ताह|महीने, पिछले हफ़्ते|हफ्ते|सप्ताह|महीने|घंटे, एक हफ़्ते|हफ्ते|सप्ताह|महीने से अधिक|ज़्यादा पहले, आजच, हिजो, আজ, গতকাল, এই সপ্তাহে, গত সপ্তাহে, இன்று, நேற்று, ఈరోజు, నిన్న, ಇಂದು, ನಿನ್ನೆ, ഇന്ന്, ഇന്നലെ, આજે, ગઈકાલે, ਅੱਜ`,
	// Georgian, Armenian, Amharic, Khmer, Lao, Burmese.
	`დღეს, გუშინ, այսօր, երեկ`,
	``,
	// Korean.
	`오늘, 어제, 그제, 이번 주|달, 지난 주|달, 지난주, 지난달, 지난 한 시간, 지난 1 시간 이내, 일주일|한+달 이상|넘게 전|전에, 방금`,
	// Chinese.
	`今天, 昨天, 前天, 本周, 本週, 这周, 這週, 这个星期, 這個星期, 上周, 上週, 本月, 上月, 上个月, 上個月, 今年, 去年, 一周前, 一週前, 一天前, 一个月前, 一個月前, 一年前, 一小时前, 一小時前, 几天前, 幾天前, 一个多月前, 一個多月前, 超过一个月前, 超過一個月前, 超过一年前, 一周多前, 一週多前, 超过一周前, 超過一週前, 一周以前, 刚刚, 剛剛, 最近一小时, 过去一小时, 最近一小時, 過去一小時, 过去一小时内, 過去一小時內`,
	// Japanese.
	`今日, 昨日, 本日, 一昨日, 今週, 先週, 今月, 先月, 過去一時間以内, 先ほど, 一週間以上前, 一か月以上前`,
	// Thai.
	`วันนี้, เมื่อวาน, เมื่อวานนี้, สัปดาห์นี้, ในสัปดาห์นี้, เดือนนี้, สัปดาห์ที่แล้ว, เดือนที่แล้ว, ในชั่วโมงที่ผ่านมา, กว่าหนึ่งสัปดาห์ที่แล้ว, มากกว่าหนึ่งสัปดาห์ที่แล้ว`,
}

// overTimes stand before the number of an age: "over 2 weeks ago", "il y a plus d'un mois".
// They count in stamps only.
var overTimes = sync.OnceValue(func() *phraseTree {
	return treeOf(expand(`over, more|less than, almost, nearly, über|gut|knapp|fast|rund|ungefähr, mehr|weniger als, plus|moins de, plus|moins d', presque, más|menos de, casi, més|menys de|d',
	più|meno di, quasi, mais|menos de, quase, meer|minder dan, ruim|bijna|ongeveer, mer|mindre än, över, nästan, mere|mindre end, næsten, mer|mindre enn, nesten, yli|noin, ponad|prawie, więcej niż, více|méně než, viac|menej ako|než, več kot, više|manje od, vyše,
	mai mult de, peste, több mint, более|больше|менее|около, более|больше чем, понад|більше, повече от, над, πάνω από, περισσότερο|περισσότερες|περισσότερους από, lebih dari|daripada, hơn, أكثر من, بیش از, יותר מ`))
})

// stampEnds end a stamp whose time comes first: "heute aktualisiert", "bugün güncellendi".
var stampEnds = sync.OnceValue(func() *phraseTree {
	return treeOf(expand(`updated|edited|modified, last updated, _|zuletzt aktualisiert|geändert|bearbeitet|überarbeitet, _|laatst bijgewerkt|gewijzigd|bewerkt|aangepast, _|senast uppdaterad|uppdaterat|ändrad, _|sidst|senest opdateret|ændret, _|sist oppdatert|endret,
	päivitetty|muokattu|muutettu, uuendatud|muudetud, frissítve|frissült|frissítették|módosítva, zaktualizowano|zaktualizowany|edytowano|zmieniono, aktualizováno|upraveno|změněno, aktualizované|upravené, posodobljeno|spremenjeno, ažurirano, обновлено|обновлена|обновлён|изменено|отредактировано, оновлено|змінено,
	güncellendi|güncellenmiştir|düzenlendi|değiştirildi, tarihinde güncellendi|güncellenmiştir|düzenlendi|değiştirildi, yeniləndi|yenilənib, yangilandi|yangilangan, жаңартылды|жаңартылған, шинэчилсэн|шинэчлэгдсэн|засварласан, atnaujinta|pakeista, atjaunināts|atjaunots, eguneratua|aldatua, ĝisdatigita,
	_|को अपडेट|अद्यतन|संपादित|संशोधित _|किया+गया|केले|गरिएको, _|रोजी अद्ययावत _|केले, আপডেট|হালনাগাদ _|করা+হয়েছে|করা+হয়েছে, புதுப்பிக்கப்பட்டது, నవీకరించబడింది, ನವೀಕರಿಸಲಾಗಿದೆ, പുതുക്കിയത്, განახლდა|განახლებულია|შეიცვალა, թարմացվել|խմբագրվել է, به~روزرسانی|بروزرسانی|ویرایش _|شده|شد,
	업데이트|업데이트됨|업데이트함|업데이트했음|수정|수정됨|수정함|편집됨|편집함|갱신|갱신됨|변경됨, 에 업데이트됨|수정됨, 更新, 已更新, 更新过, 有更新, 更新過, 编辑, 編輯, 修改, 修订, 修訂, に更新, 更新されました, に更新されました, に更新済み, 更新済み, に編集, 編集, に改訂, 改訂, に修正, 修正, に変更`))
})

// stampNouns stand before a label in the same run of Chinese characters: "本政策更新于".
var stampNouns = wordSet(`本政策 政策 本隐私政策 隐私政策 本协议 协议 本用户协议 用户协议 本服务协议 服务协议 本条款 条款 本服务条款 服务条款 使用条款 本声明 声明 隐私声明 版本 本版本 本规则 规则 本指南 指南 本公告
	本隱私政策 隱私政策 隱私權政策 本隱私權政策 本協議 協議 本條款 條款 本服務條款 服務條款 使用條款 本聲明 聲明 隱私聲明 本規則 規則`)

// denseDays end a day or an age in characters, before one of stampEnds: "3月4日更新", "3天前更新".
var denseDays = wordSet(`日 号 號 秒前 秒钟前 秒鐘前 分前 分钟前 分鐘前 時間前 小时前 小時前 个小时前 個小時前 日前 天前 週間前 周前 週前 个星期前 個星期前 星期前 か月前 ヶ月前 カ月前 个月前 個月前 年前
	時間以上前 日以上前 週間以上前 か月以上前 ヶ月以上前 カ月以上前 年以上前 天以前 周以前 週以前 天多前 周多前 週多前 个多月前 個多月前 年多前`)

// byWords stand between a label and who did it.
var byWords = wordSet(`by von par por da door przez av af`)

func wordSet(list string) map[string]bool {
	all := map[string]bool{}
	for word := range strings.FieldsSeq(list) {
		all[word] = true
	}
	return all
}

// densePart is the length of the first part of a run of characters without spaces, if it is
// made of a label and a time, in whichever order, or of a noun and a label.
func densePart(word string) int {
	const most = 60 // bytes
	if len(word) > most || !strings.ContainsAny(word, "更修编編改刷变變変审審") {
		return len(word)
	}
	for i := range word {
		head, tail := word[:i], word[i:]
		label := stampLabels().next[head]
		switch {
		case i == 0:
		case label != nil && label.ends && isDenseTime(tail),
			isDenseEnd(tail) && (isDenseTime(head) || denseDays[head]),
			stampNouns[head] && stampLabels().next[tail] != nil:
			return i
		}
	}
	return len(word)
}

func isDenseTime(word string) bool {
	time := stampRelative().next[word]
	return time != nil && time.ends
}

func isDenseEnd(word string) bool {
	end := stampEnds().next[word]
	return end != nil && end.ends
}
