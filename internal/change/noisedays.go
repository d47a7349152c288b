package change

import "strings"

// moreMonths are names of the months in other languages than those of months, in the forms
// used in dates, and their abbreviations.
var moreMonths = []string{
	`januari janúar tammikuu tammikuuta tammik ledna leden januára január jan ianuarie ian януари січня січень січ студзеня siječnja siječanj januara јануара јануар јануари jaanuar jaan
		janvāris janvārī janv sausio sausis ιανουαρίου ιανουάριος ιαν ocak oca yanvar janar gener xaneiro urtarrila urtarrilak januaro januarie ionawr eanáir enero ene enero
		januari يناير جانفي ژانویه ژانویهٔ جنوری ינואר בינואר जनवरी जानेवारी জানুয়ারী জানুয়ারি જાન્યુઆરી ਜਨਵਰੀ ஜனவரி జనవరి ಜನವರಿ ജനുവരി ජනවාරි იანვარი იან հունվարի հունվար ጃንዩወሪ មករា ມັງກອນ ဇန်နဝါရီ มกราคม มค қаңтар қаңтары yanvar enero`,
	`februari febrúar helmikuu helmikuuta helmik února únor úno februára február februarie febr февруари февр лютого лютий лют лютага veljače veljača velj februara фебруара фебруар veebruar veebr
		februāris februārī vasario vasaris φεβρουαρίου φεβρουάριος φεβ şubat şub fevral shkurt febrer febreiro otsailaren otsaila otsailak februaro februarie chwefror feabhra pebrero
		فبراير فيفري فوریه فوریهٔ فروری פברואר בפברואר फ़रवरी फरवरी फेब्रुवारी फेब्रुअरी ফেব্রুয়ারী ফেব্রুয়ারি ફેબ્રુઆરી ਫ਼ਰਵਰੀ ਫਰਵਰੀ பிப்ரவரி ఫిబ్రవరి ಫೆಬ್ರವರಿ ഫെബ്രുവരി පෙබරවාරි თებერვალი თებ փետրվարի փետրվար ፌብሩወሪ កុម្ភៈ ກຸມພາ ဖေဖော်ဝါရီ กุมภาพันธ์ กพ ақпан ақпаны`,
	`machi marts mars maaliskuu maaliskuuta maalisk března březen marca marec martie березня березень бер сакавіка ožujka ožujak ožu marta mart марта март märts martā kovo kovas μαρτίου μάρτιος μαρ
		mart mart mars març marzo martxoaren martxoa marto maart mawrth márta marso maret március márc
		مارس مارچ מרץ במרץ मार्च মার্চ માર્ચ ਮਾਰਚ மார்ச் మార్చి ಮಾರ್ಚ್ മാർച്ച് මාර්තු მარტი მარ մարտի մարտ ማርች មីនា ມີນາ မတ် มีนาคม มีค наурыз наурызы`,
	`aprili apríl huhtikuu huhtikuuta huhtik dubna duben apríla aprilie април квітня квітень квіт красавіка travnja travanj aprila априла aprill aprīlis aprīlī balandžio balandis απριλίου απρίλιος απρ nisan nis aprel prill
		abril apirilaren apirila aprilo ebrill aibreán abril április ápr
		أبريل ابريل إبريل آوریل اپریل אפריל באפריל अप्रैल एप्रिल अप्रिल এপ্রিল એપ્રિલ ਅਪ੍ਰੈਲ ஏப்ரல் ఏప్రిల్ ಏಪ್ರಿಲ್ ഏപ്രിൽ අප්^රේල් აპრილი აპრ ապրիլի ապրիլ ኤፕሪል មេសា ເມສາ ဧပြီ เมษายน เมย сәуір сәуірі`,
	`mei maí toukokuu toukokuuta toukok května květen kvě mája máj maj mai травня травень трав мая мая svibnja svibanj maja маја мај май mai maijs maijā gegužės gegužė μαΐου μάιος μαΐ mayıs may mayıs maj maig maio maiatzaren maiatza majo mai bealtaine mayo mei május máj
		مايو ماي مهٔ مئی מאי במאי मई मे মে મે ਮਈ மே మే ಮೇ മേയ് മെയ് මැයි მაისი մայիսի մայիս ሜይ ឧសភា ພຶດສະພາ မေ พฤษภาคม พค мамыр мамыры`,
	`juni júní kesäkuu kesäkuuta kesäk června červen čvn júna jún iunie iun юни червня червень черв чэрвеня lipnja lipanj juna јуна јун јуни juuni jūnijs jūnijā birželio birželis ιουνίου ιούνιος ιουν haziran iyun qershor juny xuño ekainaren ekaina junio juni mehefin meitheamh hunyo juni június jún
		يونيو يونيه جوان ژوئن جون יוני ביוני जून জুন જૂન ਜੂਨ ஜூன் జూన్ ಜೂನ್ ജൂൺ ජූනි ივნისი ივნ հունիսի հունիս ጁን មិថុនា ມິຖຸນາ ဇွန် มิถุนายน มิย маусым маусымы jun`,
	`julai júlí heinäkuu heinäkuuta heinäk července červenec čvc júla júl iulie iul юли липня липень лип ліпеня srpnja srpanj jula јула јул јули juuli jūlijs jūlijā liepos liepa ιουλίου ιούλιος ιουλ temmuz iyul korrik juliol xullo uztailaren uztaila julio juli gorffennaf iúil hulyo juli julai július júl
		يوليو يوليه جويلية ژوئیه ژوئیهٔ جولای جولائی יולי ביולי जुलाई जुलै জুলাই જુલાઈ ਜੁਲਾਈ ஜூலை జులై జూలై ಜುಲೈ ജൂലൈ ජූලි ივლისი ივლ հուլիսի հուլիս ጁላይ កក្កដា ກໍລະກົດ ဇူလိုင် กรกฎาคม กค шілде шілдесі jul`,
	`agosti ágúst elokuu elokuuta elok srpna srpen augusta august august серпня серпень серп жніўня kolovoza kolovoz avgusta avgust августа август августа авг avg august augusts augustā rugpjūčio rugpjūtis αυγούστου αύγουστος αυγ ağustos ağu avqust avgust gusht agost agosto abuztuaren abuztua aŭgusto awst lúnasa agosto agustus ogos augusztus aug
		أغسطس اغسطس أوت اوت اوتِ اگست אוגוסט באוגוסט अगस्त ऑगस्ट अगस्ट আগস্ট ઑગસ્ટ ਅਗਸਤ ஆகஸ்ட் ఆగస్టు ಆಗಸ್ಟ್ ഓഗസ്റ്റ് ഓഗസ്റ്റ് අගෝස්තු აგვისტო აგვ օգոստոսի օգոստոս ኦገስት សីហា ສິງຫາ ဩဂုတ် สิงหาคม สค тамыз тамызы`,
	`septemba september syyskuu syyskuuta syysk září zář septembra september septembrie септември септ вересня вересень вер верасня rujna rujan ruj septembra септембра септембар септембар septembar septembris septembrī rugsėjo rugsėjis σεπτεμβρίου σεπτέμβριος σεπ σεπτ eylül eyl sentyabr shtator setembre setembro irailaren iraila septembro setyembre september szeptember szept
		سبتمبر شتنبر سپتامبر ستمبر ספטמבר בספטמבר सितंबर सितम्बर सप्टेंबर सेप्टेम्बर সেপ্টেম্বর સપ્ટેમ્બર ਸਤੰਬਰ செப்டம்பர் సెప్టెంబర్ ಸೆಪ್ಟೆಂಬರ್ സെപ്റ്റംബർ සැප්තැම්බර් სექტემბერი სექ սեպտեմբերի սեպտեմբեր ሴፕቴምበር កញ្ញា ກັນຍາ စက်တင်ဘာ กันยายน กย қыркүйек қыркүйегі`,
	`oktoba október lokakuu lokakuuta lokak října říjen říj októbra október octombrie октомври окт жовтня жовтень жовт кастрычніка oktobra oktobar октобра октобар oktoober oktoobris oktobris oktobrī spalio spalis οκτωβρίου οκτώβριος οκτ ekim oktyabr tetor octubre outubro urriaren urria oktobro hydref oktubre oktober október okt
		أكتوبر اكتوبر اکتبر اکتوبر אוקטובר באוקטובר अक्तूबर अक्टूबर ऑक्टोबर अक्टोबर অক্টোবর ઑક્ટોબર ਅਕਤੂਬਰ அக்டோபர் అక్టోబర్ ಅಕ್ಟೋಬರ್ ഒക്~ടോബർ ഒക്ടോബർ ඔක්තෝබර් ოქტომბერი ოქტ հոկտեմբերի հոկտեմբեր ኦክቶበር តុលា ຕຸລາ အောက်တိုဘာ ตุลาคม ตค қазан қазаны`,
	`novemba nóvember marraskuu marraskuuta marrask listopadu listopad novembra november noiembrie ноември ноем лист листопада листопад лістапада studenoga studenog studeni novembra novembar новембра новембар november novembris novembrī lapkričio lapkritis νοεμβρίου νοέμβριος νοε νοεμ kasım noyabr nëntor novembre novembro azaroaren azaroa novembro tachwedd samhain nobyembre nopember november
		نوفمبر نونبر نوامبر نومبر נובמבר בנובמבר नवंबर नवम्बर नोव्हेंबर नोभेम्बर নভেম্বর નવેમ્બર ਨਵੰਬਰ நவம்பர் నవంబర్ ನವೆಂಬರ್ നവംബർ നവംബർ නොවැම්බර් ნოემბერი ნოე նոյեմբերի նոյեմբեր ኖቬምበር វិច្ឆិកា ພະຈິກ နိုဝင်ဘာ พฤศจิกายน พย қараша қарашасы`,
	`desemba desember joulukuu joulukuuta jouluk prosince prosinec decembra december decembrie декември дек грудня грудень груд снежня prosinca prosinac decembra decembar децембра децембар detsember dets decembris decembrī gruodžio gruodis δεκεμβρίου δεκέμβριος δεκ aralık dekabr dhjetor desembre decembro abenduaren abendua decembro rhagfyr nollaig disyembre desember disember december
		ديسمبر دجنبر دسامبر دسمبر דצמבר בדצמבר दिसंबर दिसम्बर डिसेंबर डिसेम्बर ডিসেম্বর ડિસેમ્બર ਦਸੰਬਰ டிசம்பர் డిసెంబర్ ಡಿಸೆಂಬರ್ ഡിസംബർ දෙසැම්බර් დეკემბერი დეკ դեկտեմբերի դեկտեմբեր ዲሴምበር ធ្នូ ທັນວາ ဒီဇင်ဘာ ธันวาคม ธค желтоқсан желтоқсаны`,
}

// otherMonths are months of other calendars, and names that stand for two of ours. They
// make the date of a stamp, but none that is compared with a day of ours.
const otherMonths = `كانون تشرين شباط آذار نيسان أيار حزيران تموز آب أيلول فروردین اردیبهشت خرداد تیر مرداد شهریور مهر آبان آذر دی بهمن اسفند محرم صفر ربيع جمادى رجب شعبان رمضان شوال
		תשרי חשוון כסלו טבת שבט אדר ניסן אייר סיוון תמוז אלול`

// otherMonth is the number given to them.
const otherMonth = 13

// malayMarch is a name that also means other things.
const malayMarch = "mac"

// moreDateWords are weekdays in other languages, and words in dates and times of day.
// They count after a label only: alone some of them are other words.
const moreDateWords = `г гг р d m ж gada оны сарын өдөр y mandag tirsdag onsdag torsdag fredag lørdag søndag mánudagur þriðjudagur miðvikudagur fimmtudagur föstudagur laugardagur sunnudagur
	maanantai maanantaina tiistai tiistaina keskiviikko keskiviikkona torstai torstaina perjantai perjantaina lauantai lauantaina sunnuntai sunnuntaina
	pondělí úterý středa čtvrtek pátek sobota neděle pondelok utorok streda štvrtok piatok nedeľa ponedeljek torek sreda četrtek petek nedelja
	ponedjeljak ponedeljak utorak srijeda četvrtak petak subota nedjelja понедељак уторак среда четвртак петак субота недеља понеделник вторник сряда четвъртък петък събота неделя среда четврток петок сабота
	понеділок вівторок середа четвер субота неділя панядзелак аўторак серада чацвер пятніца нядзеля
	luni marți miercuri joi vineri sâmbătă duminică hétfő kedd szerda csütörtök péntek szombat vasárnap esmaspäev teisipäev kolmapäev neljapäev reede laupäev pühapäev
	pirmadienis antradienis trečiadienis ketvirtadienis penktadienis šeštadienis sekmadienis pirmdiena otrdiena trešdiena ceturtdiena piektdiena sestdiena svētdiena
	δευτέρα τρίτη τετάρτη πέμπτη παρασκευή σάββατο κυριακή pazartesi salı çarşamba perşembe cuma cumartesi pazar
	dilluns dimarts dimecres dijous divendres dissabte diumenge luns mércores xoves venres astelehena asteartea asteazkena osteguna ostirala larunbata igandea
	senin selasa rabu kamis jumat sabtu minggu isnin khamis jumaat ahad lunes martes miyerkules huwebes biyernes sabado linggo jumatatu jumanne jumatano alhamisi ijumaa jumamosi jumapili
	الأحد الاثنين الإثنين الثلاثاء الأربعاء الخميس الجمعة السبت شنبه یکشنبه دوشنبه سهشنبه چهارشنبه پنجشنبه جمعه اتوار پیر منگل بدھ جمعرات جمعہ ہفتہ ראשון שני שלישי רביעי חמישי שישי שבת
	सोमवार मंगलवार बुधवार गुरुवार शुक्रवार शनिवार रविवार सोमवारी मंगळवार सोमबार मंगलबार बुधबार बिहिबार शुक्रबार शनिबार आइतबार সোমবার মঙ্গলবার বুধবার বৃহস্পতিবার শুক্রবার শনিবার রবিবার
	திங்கள் செவ்வாய் புதன் வியாழன் வெள்ளி சனி ஞாயிறு ორშაბათი სამშაბათი ოთხშაბათი ხუთშაბათი პარასკევი შაბათი კვირა երկուշաբթի երեքշաբթի չորեքշաբթի հինգշաբթի ուրբաթ շաբաթ կիրակի
	จันทร์ อังคาร พุธ พฤหัสบดี ศุกร์ เสาร์ อาทิตย์ วันจันทร์ วันอังคาร วันพุธ วันพฤหัสบดี วันศุกร์ วันเสาร์ วันอาทิตย์ พ ศ ค น เวลา วันที่
	дүйсенбі сейсенбі сәрсенбі бейсенбі жұма сенбі жексенбі даваа мягмар лхагва пүрэв баасан бямба ням
	년도 周日 周一 周二 周三 周四 周五 周六 週日 週一 週二 週三 週四 週五 週六 星期 礼拜天 下午 凌晨 晚上 早上 中午 點 分钟 平成 令和 民國 民国 昭和 頃 現在 日更新 일에 월요일 화요일 수요일 목요일 금요일 토요일 일요일 월 화 수 목 금 토
	wib wita wit msk eet eest wet west aest aedt acst awst nzst nzdt hkt sgt ict pht akst hst npt pkt мск uur klo kello óra kor ora saat hodin hod godz часов год рр м мин h`

// moreDateJoins stand within dates in other languages, after a label.
const moreDateJoins = `de de l d den dne dňa dana dňa na no o ob ở ngày tháng năm thg lúc vào hồi pada tanggal tarikh pukul jam la ora в во у от об ў од p року року роки р г гг гада года года године година годы год оны оны сарын өдөр ny m kl klo kello г м
	στις την στο τις της του και π μ ab gada gads ak y yil yili йил жыл жылғы ж noong ng nang tarehe saa في يوم الساعة الموافق م هـ ه ص بتاريخ در ساعت تاریخ روز ق ظ ב בשעה ה לשעה को बजे पर रोजी वाजता ko ren an ro i yr der dem um às de a las dal dei i n an`

// moreUnits are units of time in other languages, moreLongUnits those of them that are months
// and years, moreAgos the words after the age, and moreAgoBefore the words before it.
const (
	moreUnits = `sekunder sekund minutter minut timer time dage døgn uger uge måneder måned år sekúndum mínútum klukkustundum dögum vikum mánuðum árum
		sekuntia minuuttia minuutti tuntia tunti päivää päivä viikkoa viikko kuukautta kuukausi vuotta vuosi sekundit minutit tundi päeva nädalat kuud aastat
		sekundami sekund minutami minutou hodinami hodinou dny dnem dnů týdny týdnem měsíci měsícem lety rokem hodín dňami dňom týždňami týždňom mesiacmi mesiacom rokmi rokom
		másodperce perce perccel órája órával napja nappal hete héttel hónapja hónappal éve évvel
		secunde minute ore oră zile zi săptămâni săptămână luni lună ani секунди минути часа дни ден седмици седмица месеца месец години година
		δευτερόλεπτα λεπτά λεπτό ώρες ώρα ημέρες ημέρα μέρες μέρα εβδομάδες εβδομάδα μήνες μήνα χρόνια έτη saniye dakika saat gün hafta ay yıl
		хвилин хвилини хвилину годин години годину днів дні тижнів тижні тиждень місяців місяці місяць років роки рік minuta sati sata dana tjedana tjedna mjeseci mjeseca godina godine
		сата сати недеља недеље месеци година године detik menit jam hari minggu bulan tahun saat minit giây phút giờ ngày tuần tháng năm
		ثانية ثوان دقيقة دقائق ساعة ساعات يوم أيام يوما أسبوع أسابيع شهر أشهر شهور سنة سنوات ثانیه دقیقه ساعت روز هفته ماه سال שניות דקות דקה שעות שעה ימים יום שבועות שבוע חודשים חודש שנים שנה
		सेकंड मिनट घंटे घंटा दिन हफ़्ते हफ्ते सप्ताह महीने साल মিনিট ঘন্টা ঘণ্টা দিন সপ্তাহ মাস বছর dies hores hora minuts setmanes mesos anys`
	moreLongUnits = `måneder måned mánuðum árum kuukautta kuukausi vuotta vuosi kuud aastat měsíci měsícem lety rokem mesiacmi mesiacom rokmi rokom hónapja hónappal éve évvel
		luni lună ani месеца месец години година μήνες μήνα χρόνια έτη ay yıl місяців місяці місяць років роки рік mjeseci mjeseca godina godine месеци године bulan tahun tháng năm
		شهر أشهر شهور سنة سنوات ماه سال חודשים חודש שנים שנה महीने साल মাস বছর mesos anys`
	// moreDenseAgos also are Hungarian units, which mean "for" and "ago" with a number alone.
	moreDenseAgos = `วินาทีที่แล้ว นาทีที่แล้ว ชั่วโมงที่แล้ว วันที่แล้ว สัปดาห์ที่แล้ว เดือนที่แล้ว ปีที่แล้ว
		วินาทีที่ผ่านมา นาทีที่ผ่านมา ชั่วโมงที่ผ่านมา วันที่ผ่านมา สัปดาห์ที่ผ่านมา เดือนที่ผ่านมา ปีที่ผ่านมา
		másodperce perce órája napja hete hónapja éve`
	moreAgos      = `sitten tagasi ezelőtt тому lalu پیش`
	moreAgoBefore = `fyrir, před, pred, acum, преди, πριν από, πριν, prije, пре, منذ, قبل, לפני`
	// moreStampAgos mean "before" as well as "ago", or "for". Those that are no beforeWords
	// count after a label only.
	moreStampAgos = `전에 önce əvvəl पहले পূর্বে আগে قبل trước бұрын för pre пред fa para yang`
)

// addWords gives each word of a list a role.
func addWords(all map[string]role, list string, r role) {
	for word := range strings.FieldsSeq(joiners.Replace(list)) {
		all[word] |= r
	}
}

// addMonths adds the months of other languages.
func addMonths(all map[string]int) {
	add := func(list string, number int) {
		for name := range strings.FieldsSeq(joiners.Replace(list)) {
			if all[name] == 0 {
				all[name] = number
			}
		}
	}
	for i, list := range moreMonths {
		add(list, i+1)
	}
	add(otherMonths, otherMonth)
	all[malayMarch] = 3
}
