package change

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// moreStampLabels are labels of stamps by language, in a notation: a label is words with spaces
// between them, a word may have alternatives with | between them, _ is none, and + joins
// the words of one alternative. ± is the sign +. ~ and ^ are the invisible joiners U+200C and U+200D.
// Prepositions within dates need not be named. A time of publication is no stamp, nor is
// the day from which something applies: changing it says something.
var moreStampLabels = []string{
	// English.
	`_|page|content|article|document|site last|most+recently|recently updated|modified|edited|changed|revised|reviewed|refreshed|checked|verified|amended _|on|at|by,
		last|latest update|modification|edit|change|revision|review|refresh _|on|at|date, date of last update|modification|revision|change|review,
		date last updated|modified|revised|changed|reviewed, date updated|modified|revised|reviewed, revised|reviewed|refreshed|amended _|on|at, updated|modified|edited|reviewed|revised date, update date|time,
		_|this|the page|article|document|site|website|section|version|guide|entry|topic|file|policy was|is _|last|most+recently updated|modified|edited|changed|revised|reviewed|generated _|on|at,
		this|these|the|our policy|privacy+policy|cookie+policy|privacy+notice|privacy+statement|terms|terms+of+service|terms+of+use|agreement|notice|statement|guidelines is|are|was|were|has+been|have+been last updated|modified|revised|amended _|on,
		policy|privacy+policy|cookie+policy|privacy+notice|privacy+statement|terms|terms+of+service|terms+of+use|agreement|notice|statement|guidelines last updated|modified|revised|amended _|on`,
	// German.
	`_|seite|inhalt|artikel|dokument zuletzt|letztmals|letztmalig aktualisiert|geändert|bearbeitet|überarbeitet|geprüft|überprüft|modifiziert|verändert _|am|um,
		letzte|letztes|letzter|neueste aktualisierung|änderung|bearbeitung|überarbeitung|prüfung|überprüfung|modifikation|update|stand _|am|vom, aktualisierungsdatum, änderungsdatum, bearbeitungsstand, datum der letzten aktualisierung|änderung,
		diese|dieser|dieses seite|artikel|dokument|inhalt wurde zuletzt|letztmals _|am, überarbeitet|überprüft am, bearbeitet am,
		letzte aktualisierung|änderung|bearbeitung|überarbeitung|prüfung dieser|dieses|der|des seite|artikels|dokuments|inhalts|richtlinie|richtlinien|datenschutzerklärung|nutzungsbedingungen|bedingungen|agb _|am|vom,
		diese|dieser|unsere|die datenschutzerklärung|richtlinie|richtlinien|nutzungsbedingungen|bedingungen|agb|fassung wurde|wurden zuletzt|letztmals _|am`,
	// French.
	`_|page|article|document|contenu|site|fiche dernière mise|modification|actualisation|révision|vérification _|à+jour _|le|du|effectuée+le,
		date de _|la dernière mise|modification|actualisation|révision _|à+jour, date de mise à jour, dernièrement mis|mise|modifié|modifiée _|à+jour _|le,
		_|page|article|document mis|mise à jour _|le, dernière mise|modification|actualisation|révision _|à+jour de cette|la|ce|notre page|article|politique|document _|le,
		cette|la|notre|présente|la+présente politique _|de+confidentialité a été mise|modifiée _|à+jour _|pour+la+dernière+fois le, modifiée|actualisée|révisé|révisée|vérifié|vérifiée _|le, cette page a été mise à jour le, cette page a été modifiée _|pour+la+dernière+fois le`,
	// Spanish, Catalan, Galician.
	`_|página|artículo|contenido última|ultima|últimas actualización|actualizacion|modificación|modificacion|edición|revisión|revision _|el|del|realizada+el, última vez actualizado|modificado|editado _|el,
		fecha de _|la _|última actualización|modificación|revisión, última fecha de actualización|modificación, actualizada|modificada|editado|editada|revisado|revisada _|el,
		última actualización|modificación|revisión de esta|la página|política, esta política _|de+privacidad se|fue actualizó|modificó|actualizada|modificada por última vez el, esta página se actualizó por última vez el, esta página se editó por última vez el, esta página fue modificada por última vez el,
		darrera|última actualització|modificació|revisió _|el, actualitzat|modificat|revisat _|el, data d ' actualització, data de la darrera actualització|modificació,
		última actualización|modificación, actualizado o, modificado o`,
	// Italian, Portuguese, Romanian.
	`ultimo|ultima aggiornamento|modifica|revisione|variazione _|il|del|effettuato+il, _|pagina|articolo aggiornata|modificata|revisionata|rivista _|il|al, data di|dell'|ultimo|ultima _|ultimo|ultima aggiornamento|modifica|revisione,
		data aggiornamento, pagina aggiornata il, ultimo|ultima aggiornamento|modifica|revisione di|della _|questa pagina|informativa|politica _|sulla+privacy, questa|la|presente|la+presente informativa|politica _|sulla+privacy è stata aggiornata|modificata _|per+l+'+ultima+volta|l+'+ultima+volta il, questa pagina è stata modificata per l ' ultima volta il,
		última|ultima|últimas atualização|atualizações|actualização|modificação|alteração|revisão _|em|a, atualizada|modificada|alterado|alterada|editado|editada|revisado|revisada|actualizado|actualizada _|em|a,
		data de|da _|última atualização|actualização|modificação|alteração|revisão, última vez atualizado|modificado|editado em, última atualização|modificação|revisão desta|da página|política, esta política _|de+privacidade foi atualizada|modificada _|pela+última+vez em, página atualizada em, esta página foi editada pela última vez em,
		ultima|ultimele actualizare|modificare|revizuire|editare _|la, actualizat|actualizată|modificat|modificată|revizuit _|la|pe|în, data ultimei actualizări|modificări, data actualizării`,
	// Dutch, Afrikaans.
	`_|pagina|artikel laatst|laatste bijgewerkt|gewijzigd|bewerkt|aangepast|herzien|gecontroleerd|geactualiseerd|veranderd _|op, laatste update|wijziging|bewerking|aanpassing|herziening|controle|bijwerking _|op, bewerkt|aangepast|herzien|geactualiseerd op,
		datum laatste wijziging|update, datum van laatste wijziging, deze pagina is voor het laatst bewerkt|bijgewerkt|gewijzigd op, deze pagina is laatst bewerkt|bijgewerkt|gewijzigd op,
		laas|laaste opgedateer|gewysig|bygewerk|opdatering|wysiging _|op, bladsy laas opgedateer`,
	// Swedish, Danish, Norwegian, Icelandic.
	`_|sidan|innehållet senast|senaste uppdaterad|uppdaterat|ändrad|ändrat|redigerad|granskad|reviderad|uppdatering|ändring|uppdaterades|ändrades|modifierad|kontrollerad _|den, redigerad|granskad|ändrat _|den, uppdaterades _|den, sidan uppdaterades|ändrades|redigerades|granskades _|senast _|den,
		_|siden|side|artikel|artikkel|innhold sidst|senest|sist opdateret|ændret|redigeret|revideret|gennemgået|oppdatert|endret|redigert|revidert|kontrollert _|den, seneste|sidste|siste opdatering|ændring|redigering|revision|oppdatering|endring|revidering|gjennomgang _|den, opdateret|ændret|redigeret|oppdatert|endret|redigert|revidert _|den|for,
		denne side blev _|senest|sidst ændret|opdateret|redigeret den, denne siden ble _|sist redigert|oppdatert|endret, sidan er sist oppdatert, dato for seneste|siste opdatering|oppdatering,
		síðast|seinast uppfært|breytt|uppfærð, uppfært, síðasta breyting|uppfærsla, síðan var síðast uppfærð|breytt`,
	// Finnish, Estonian, Hungarian.
	`_|sivu viimeksi päivitetty|muokattu|muutettu|tarkistettu|päivitetyt, viimeisin|viimeinen päivitys|muutos|muokkaus|päivitetty, päivitetty|muokattu|päivitys, päivitetty viimeksi, sivua on viimeksi muutettu|päivitetty|muokattu, päivityspäivä,
		viimati|viimane uuendatud|muudetud|uuendus|muudatus|muutmine|uuendamine|toimetatud, uuendatud|muudetud,
		utolsó|utoljára|legutóbb|legutóbbi|legutolsó frissítés|módosítás|frissítve|módosítva|szerkesztve|szerkesztés|felülvizsgálat|frissítette|frissült _|dátuma|ideje, frissítve|módosítva|frissült|frissítés _|dátuma|ideje, a lap utolsó módosítása|frissítése`,
	// Polish, Czech, Slovak, Slovene.
	`ostatnia|ostatnie aktualizacja|zmiana|modyfikacja|edycja|zmiany|aktualizacje|modyfikacje|rewizja _|strony|dnia|z, ostatnio zaktualizowano|zmodyfikowano|edytowano|zmieniono|zaktualizowane|zaktualizowany|zaktualizowana|modyfikowane|aktualizowane _|dnia, data _|ostatniej aktualizacji|modyfikacji|zmiany|edycji _|strony,
		zaktualizowane|zaktualizowany|zaktualizowana|zmieniono|edytowano|aktualizowano|aktualizacja _|dnia|z, tę stronę ostatnio edytowano|zmodyfikowano, strona zaktualizowana,
		naposledy|poslední|poslednı aktualizováno|aktualizovány|aktualizována|aktualizován|upraveno|změněno|editováno|revidováno|aktualizace|změna|úprava|revize|modifikace _|stránky|dne, aktualizováno|aktualizace|upraveno|změněno _|dne, datum _|poslední aktualizace|změny|úpravy, stránka byla naposledy editována|aktualizována|upravena _|dne,
		naposledy|posledná|posledné aktualizované|aktualizovaná|aktualizovaný|upravené|zmenené|aktualizácia|zmena|úprava|revízia _|stránky|dňa, aktualizované|aktualizácia|upravené _|dňa, dátum _|poslednej aktualizácie|zmeny|úpravy,
		zadnjič|nazadnje posodobljeno|spremenjeno|urejeno|osveženo|posodobljena, zadnja|poslednja|zadnje posodobitev|sprememba|spremembe|osvežitev|dopolnitev, posodobljeno|spremenjeno|osveženo, datum zadnje spremembe|posodobitve`,
	// Croatian, Bosnian, Serbian, Macedonian, Bulgarian.
	`zadnje|posljednje|poslednje|zadnja|posljednja|poslednja|zadnji|posljednji|poslednji|zadnji+put|posljednji+put|poslednji+put ažuriranje|ažurirano|izmjena|izmena|promjena|promena|izmijenjeno|izmenjeno|uređeno|uređivano|osvježeno|ažurirana, ažurirano|ažurirana|izmijenjeno|izmenjeno|uređeno|osvježeno _|dana, datum _|zadnje|posljednje|poslednje izmjene|izmene|promjene|ažuriranja, nadnevak zadnje izmjene,
		последње|последња|последњи+пут|задња|задње ажурирање|ажурирано|измена|промена|измењено|ажурирана|уређено, ажурирано|измењено,
		последно|последна|последната|последни ажурирање|ажурирано|промена|измена|изменето|уредено|обновяване|обновена|обновено|актуализация|актуализирана|актуализирано|актуализиран|промяна|променена|променено|редактирано _|на|от, обновено|обновена|актуализирано|актуализирана|актуализиран|актуализация|променено|редактирано|изменето _|на|от, дата на последна|последно промяна|актуализация|обновяване, ажурирано|изменето _|на`,
	// Russian, Ukrainian, Belarusian, Kazakh, Mongolian.
	`_|страница|статья|документ|материал последний|последнее|последняя|последние|крайнее раз обновлено|обновлён|обновлена|обновлен|изменено|изменён|изменена|отредактировано|редактировалось|редактировано _|:,
		последний|последнее|последняя|последние|крайнее обновление|обновления|изменение|изменения|правка|редактирование|модификация|актуализация|проверка _|страницы|статьи|документа|данных|от,
		обновлён|обновлен|обновлена|обновлены|изменён|изменен|изменена|отредактировано|отредактирован|отредактирована|актуализировано|актуализирована|проверено|доработано _|от, дата _|последнего обновления|изменения|редактирования|актуализации _|страницы|статьи, дата последней правки|модификации, страница|статья|документ|информация|сайт обновлена|обновлён|обновлен|изменена|изменён, обновление от, эта страница в последний раз была отредактирована,
		останнє|остання|останні|востаннє оновлення|оновлено|зміна|зміни|редагування|змінено|відредаговано|редаговано|правка|оновлювалося _|сторінки, оновлено|оновлений|оновлена|змінено|відредаговано|актуалізовано, дата _|останнього|останньої оновлення|редагування|зміни, цю сторінку востаннє відредаговано|редагували, сторінку|статтю оновлено|змінено,
		апошняе|апошняя|апошні абнаўленне|змена|змяненне|рэдагаванне, абноўлена|зменена,
		соңғы|соңғы+рет жаңарту|жаңартылды|жаңартылған|өзгерту|өзгеріс|өзгертілген|өңдеу _|уақыты|күні, жаңартылды|жаңартылған|өзгертілді, жаңартылған күні|уақыты,
		сүүлд|сүүлийн шинэчилсэн|шинэчлэгдсэн|шинэчлэл|өөрчлөлт|засварласан|өөрчилсөн _|огноо, шинэчилсэн|шинэчлэгдсэн|өөрчилсөн _|огноо`,
	// Lithuanian, Latvian, Albanian, Greek.
	`paskutinį+kartą|paskutinis|paskutinė|paskutiniai|vėliausiai atnaujinta|atnaujintas|atnaujinimas|pakeitimas|pakeista|redaguota|keista|keitimas|redagavimas|atnaujinimo+data, atnaujinta|atnaujintas|pakeista|atnaujinimo+data|redaguota,
		pēdējoreiz|pēdējo+reizi|pēdējās|pēdējā|pēdējais atjaunināts|atjaunota|atjaunots|atjaunināta|mainīts|labots|rediģēts|izmaiņas|atjaunināšana|atjauninājums|labojums _|datums, atjaunināts|atjaunots|atjaunināta|atjaunota|labots,
		përditësuar|përditësimi|ndryshuar|modifikuar i|së|për fundit|fundmi|herë|herë+të+fundit, përditësimi|ndryshimi|modifikimi i fundit, përditësuar|ndryshuar _|më,
		τελευταία|τελευταια|πιο+πρόσφατη ενημέρωση|τροποποίηση|αλλαγή|επεξεργασία|αναθεώρηση|ανανέωση|ενημερώθηκε|τροποποιήθηκε _|στις, ενημερώθηκε|τροποποιήθηκε|ενημέρωση|ανανεώθηκε _|στις|την, ενημερώθηκε|τροποποιήθηκε τελευταία|για _|φορά|τελευταία+φορά _|στις, ημερομηνία _|τελευταίας ενημέρωσης|τροποποίησης|αναθεώρησης`,
	// Turkish, Azerbaijani, Uzbek.
	`son|en+son güncelleme|güncellenme|güncellendi|güncellenen|değişiklik|değiştirilme|düzenleme|düzenlenme|değiştirme|düzenlendi|değiştirildi|güncellendiği _|tarihi|zamanı|tarih, güncelleme|güncellenme|güncellendi|güncellendiği|düzenleme|düzenlenme|değiştirilme _|tarihi|zamanı|tarih, bu sayfa _|en+son güncellendi|düzenlendi,
		son yenilənmə|yeniləmə|dəyişiklik|redaktə _|tarixi, yenilənib|yeniləndi|yenilənmə _|tarixi, axırıncı yenilənmə,
		oxirgi|so'nggi|so‘nggi yangilanish|o'zgarish|yangilangan|tahrir|o‘zgarish _|sanasi|vaqti, yangilangan|yangilandi _|sana|sanasi`,
	// Irish, Welsh, Basque, Esperanto, Maltese.
	`nuashonraithe _|an _|uair dheireanach|dheireanaigh, nuashonrú deireanach|deiridh, diweddarwyd _|ddiwethaf, diweddariad diwethaf, wedi ' i ddiweddaru, azken|azkeneko eguneraketa|eguneratzea|aldaketa|berrikuspena _|data, eguneratua|eguneratuta|azkenekoz+eguneratua|aldatua, lasta|laste|lasta+ĝisdatigo ĝisdatigo|ĝisdatigita|redaktita|ŝanĝo|ŝanĝita, ĝisdatigita|redaktita, aġġornat l - aħħar, l - aħħar aġġornament`,
	// Indonesian, Malay, Filipino, Swahili, Vietnamese.
	`terakhir|terakhir+kali|kali+terakhir diperbarui|diperbaharui|diubah|diupdate|dikemas|dikemaskini|diedit|disunting|dimodifikasi|ditinjau|update|dimutakhirkan|direvisi|dikemas+kini _|pada, diperbarui|diperbaharui|diubah|diupdate|dikemaskini|diedit|disunting|dikemas+kini|dimutakhirkan|direvisi _|terakhir|pada, pembaruan|perubahan|pembaharuan|suntingan|kemaskini|kemas+kini|pindaan|pemutakhiran terakhir|terkini, tanggal|tarikh pembaruan|diperbarui|kemaskini|kemas+kini|perubahan _|terakhir, halaman ini terakhir diubah|diperbarui|disunting _|pada,
		huling|huli na na+in+update|binago|na+edit|pagbabago|update|in+update|nirebisa, huling in - update _|noong, na - update _|noong, huling na - update _|noong, binago noong,
		ilisasishwa|imesasishwa|ilibadilishwa|ilihaririwa mwisho|mara _|mwisho|ya+mwisho _|tarehe, imesasishwa|ilisasishwa|sasisho+la+mwisho _|tarehe,
		cập|sửa|chỉnh|thay|lần|ngày nhật|đổi|sửa|cập|chỉnh|cuối _|lần+cuối|gần+nhất|cuối+cùng|cuối|mới+nhất|nhật|sửa|nhật+lần+cuối|nhật+cuối+cùng|sửa+lần+cuối|nhật+gần+nhất|cập+nhật _|vào|ngày|lúc|vào+ngày|vào+lúc, được cập nhật _|lần+cuối _|vào|ngày, lần cập nhật|sửa|chỉnh+sửa|sửa+đổi|thay+đổi cuối|cuối+cùng|gần+nhất|gần+đây+nhất _|vào, trang này được sửa đổi lần cuối vào|lúc`,
	// Arabic, Persian, Urdu, Pashto, Kurdish, Hebrew.
	`آخر تحديث|تعديل|مراجعة|تغيير|تحرير|التحديث|تحديثات _|في|للصفحة|بتاريخ|بتاريخ+يوم|كان+في, تم تحديث|تعديل|تحديثه|تحديثها|التحديث|التعديل _|آخر+مرة|هذه+الصفحة|الصفحة|المقال _|آخر+مرة _|في|بتاريخ|يوم, تاريخ آخر تحديث|تعديل|مراجعة, تاريخ التحديث|التعديل|المراجعة, حدث|حُدث|حُدّث|عدل|عُدل|محدث|محدّث|عُدّل في|بتاريخ, محدث|محدّث, مُحدَّث, آخر تعديل لهذه الصفحة كان في,
		آخرین به|ویرایش|تغییر|تغییرات|بروزرسانی|بازبینی|اصلاح|به+روز|به~روزرسانی|به~روز _|روزرسانی|رسانی|شده _|در|در+تاریخ, به~روزرسانی|بروزرسانی|به~روز|بهروزرسانی _|شده|شد|رسانی _|در, به روز رسانی|شده|رسانی+شده _|در, ویرایش|اصلاح شده _|در, تاریخ به~روزرسانی|بروزرسانی|ویرایش|آخرین+به~روزرسانی|آخرین+ویرایش|آخرین+تغییر|آخرین+بروزرسانی,
		آخری|آخری+بار اپ+ڈیٹ|ترمیم|تجدید|تبدیلی|اپڈیٹ|تازہ+کاری _|شدہ|کی+گئی|ہوا, اپ ڈیٹ _|شدہ|کیا+گیا, وروستی|وروستۍ تازه|اوسمهال|بدلون, دوایین نوێکردنەوە|گۆڕانکاری, נוצר+ועודכן|עודכן|עודכנה|נערך|שונה לאחרונה _|ב|בתאריך|ביום, עודכן|עודכנה|נערך|נבדק _|ב|בתאריך|ביום, עדכון|שינוי|עריכה אחרון|אחרונה, תאריך עדכון|העדכון|שינוי _|אחרון|האחרון, הדף עודכן _|לאחרונה _|ב|בתאריך, דף זה נערך לאחרונה`,
	// Hindi, Marathi, Nepali, Bengali, Gujarati, Punjabi, Tamil, Telugu, Kannada, Malayalam,
	// Sinhala.
	`अंतिम|आखिरी|आख़िरी|पिछली|पिछला|अन्तिम|शेवटचे|शेवटचा|शेवटचं|शेवटची|पछिल्लो अपडेट|अद्यतन|संशोधन|अद्यतनीकरण|बार+अपडेट|बार+अद्यतन|बार+संपादित|बार+संशोधित|संपादन|परिवर्तन|अद्ययावत|अपडेटेड|संपादित|बदल|पटक+अद्यावधिक|अद्यावधिक|बदलाव|सुधारणा _|किया|की|केले|तिथि|गरिएको|तारीख|दिनांक _|गया|गई, अपडेट|अद्यतन|संपादित|संशोधित|अद्ययावत|अद्यावधिक|अद्यतनित _|किया|तिथि|केले|गरिएको|दिनांक _|गया, अद्यतन|अपडेट करने की तारीख|तिथि,
		সর্বশেষ|শেষ|শেষবার আপডেট|হালনাগাদ|সম্পাদনা|পরিবর্তন|সম্পাদিত|সংশোধন|হালনাগাদকৃত|আপডেটেড _|করা|হয়েছে|তারিখ _|হয়েছে, আপডেট|হালনাগাদ _|করা|হয়েছে|তারিখ|সময়, છેલ્લે|છેલ્લું|છેલ્લો અપડેટ|સુધારો|ફેરફાર|સુધારેલ|અપડેટ+કરેલ _|કર્યું|કરાયું|તારીખ, અપડેટ _|કર્યું, ਆਖਰੀ|ਆਖ਼ਰੀ ਅੱਪਡੇਟ|ਅਪਡੇਟ|ਸੋਧ|ਤਬਦੀਲੀ|ਵਾਰ+ਅੱਪਡੇਟ _|ਕੀਤਾ|ਕੀਤੀ, ਅੱਪਡੇਟ _|ਕੀਤਾ,
		கடைசியாக|இறுதியாக|கடைசி|இறுதி புதுப்பிக்கப்பட்டது|புதுப்பித்தது|மாற்றப்பட்டது|திருத்தப்பட்டது|புதுப்பிப்பு|திருத்தம்|மாற்றம், புதுப்பிக்கப்பட்டது, చివరిగా|చివరి|ఆఖరి నవీకరించబడింది|అప్~డేట్|మార్పు|సవరించబడింది|నవీకరణ|అప్డేట్|సవరణ _|చేయబడింది, నవీకరించబడింది, ಕೊನೆಯದಾಗಿ|ಕೊನೆಯ|ಇತ್ತೀಚಿನ ನವೀಕರಿಸಲಾಗಿದೆ|ನವೀಕರಣ|ಬದಲಾವಣೆ|ಮಾರ್ಪಡಿಸಲಾಗಿದೆ|ನವೀಕರಿಸಿದ್ದು|ಅಪ್~ಡೇಟ್, ನವೀಕರಿಸಲಾಗಿದೆ, അവസാനം|അവസാനമായി|ഒടുവിൽ പുതുക്കിയത്|അപ്ഡേറ്റ്|തിരുത്തിയത്|മാറ്റം|പരിഷ്കരിച്ചത്|അപ്~ഡേറ്റ് _|ചെയ്തത്, പുതുക്കിയത്|അപ്ഡേറ്റ്+ചെയ്തത്, අවසන්|අවසාන|අවසන්+වරට යාවත්කාලීන|වෙනස්|සංස්කරණය _|කළේ|කිරීම|කරන+ලදී`,
	// Georgian, Armenian, Amharic, Khmer, Lao, Burmese.
	`ბოლო|ბოლოს|უკანასკნელი განახლება|განახლდა|ცვლილება|რედაქტირება|შეიცვალა|განახლებული _|თარიღი, განახლდა|განახლებულია|განახლების+თარიღი, վերջին թարմացում|թարմացումը|փոփոխություն|փոփոխությունը|խմբագրում|անգամ+թարմացվել _|է, թարմացվել|թարմացված|թարմացվել+է|թարմացումը է, թարմացվել|թարմացված, መጨረሻ|ለመጨረሻ|የመጨረሻ የተዘመነው|ጊዜ+የተዘመነው|ዝማኔ|ማሻሻያ|ጊዜ+የዘመነው, የተዘመነው`,
	`បានធ្វើបច្ចុប្បន្នភាពចុងក្រោយ, ធ្វើបច្ចុប្បន្នភាពចុងក្រោយ, ធ្វើបច្ចុប្បន្នភាព, កែប្រែចុងក្រោយ, ອັບເດດຫຼ້າສຸດ, ອັບເດດລ່າສຸດ, ປັບປຸງຫຼ້າສຸດ, ແກ້ໄຂຫຼ້າສຸດ, နောက်ဆုံးပြင်ဆင်ချိန်, နောက်ဆုံးအပ်ဒိတ်, နောက်ဆုံးမွမ်းမံချိန်`,
	// Korean.
	`최종|마지막|마지막으로|최근|최신 업데이트|수정|갱신|변경|편집|업데이트됨|수정됨|업데이트한|수정한|업데이트된|수정된|검토 _|일|일자|일시|날짜|시간|시각, 업데이트|수정|갱신|변경|업데이트됨|수정됨|갱신됨|편집됨 _|일|일자|일시|날짜|시간|시각, 업데이트일|업데이트일시|수정일|수정일시|수정일자|갱신일|갱신일시|변경일|최종수정일|최종수정일시|최종수정|최종업데이트|최종갱신일|마지막업데이트|최종변경일, 최종|마지막|최근 업데이트일|수정일|갱신일|변경일|업데이트일시|수정일시|수정일자`,
}

// clockLabels name the time at which a page is made, in the notation of moreStampLabels. "Date and time" alone is none:
// events have it.
var clockLabels = []string{
	`the current|exact time|date|date+and+time is, current date|date+and+time|server+time _|is, current|local|server|system|site time is, today's date _|is, your local time _|is, it is|'s now, time right now _|is,
		_|this|the page|report|list was|is rendered|loaded|refreshed _|on|at, page rendered|loaded|refreshed _|on|at, loaded at`,
	`es ist jetzt|gerade|nun, die aktuelle uhrzeit|zeit ist|lautet, aktuelles|heutiges datum, das heutige datum ist|lautet, _|aktuelle serverzeit`,
	`il est actuellement|maintenant, _|l' heure actuelle _|est, heure du serveur, date du jour, date actuelle, date et heure actuelles`,
	`la hora actual es, hora del servidor, fecha actual, fecha y hora actual|actuales, _|l' ora attuale|corrente _|è, ora del server, data odierna|attuale|corrente, data e ora attuali|correnti,
		_|a hora atual|actual _|é, hora do servidor, data atual|de+hoje, data e hora atual|atuais`,
	`huidige tijd|datum|datum+en+tijd, het is nu, servertijd, aktuell tid, klockan är nu, nuværende|nåværende tid, kello on nyt`,
	`aktualny czas, aktualna godzina|data, czas serwera, aktuální čas|datum, právě je, čas serveru, aktuális|pontos idő|dátum, szerveridő, ora curentă|actuală, data curentă, τρέχουσα ώρα|ημερομηνία`,
	`текущая дата, текущие дата и время, время сервера|на+сервере, серверное время, поточний час, поточна дата, şu anki saat|zaman, sunucu saati`,
	`الوقت الحالي, التاريخ الحالي, זמן|שעה נוכחי|נוכחית, تاریخ امروز, वर्तमान समय, waktu saat+ini|sekarang|server, tanggal hari ini, thời gian|giờ hiện tại, bây giờ là, เวลาปัจจุบัน`,
	`현재 시간|시각|일시|날짜, 서버 시간|시각, 現在の時刻, 現在の時刻は, 現在日時, 現在の日時, サーバー時刻, 当前时间, 当前日期, 當前時間, 目前時間, 現在時間, 服务器时间, 伺服器時間`,
}

// denseLabels are those of the scripts without spaces between words, where a label is one
// word: a part of each list in turn. The last ones need no further part.
var denseLabels = [][]string{
	{ // Chinese, simplified and traditional.
		`_ 本页 本页面 此页 此页面 页面 本文 文章 文档 内容 该页面 该文档 资料 本网页 网页 网站 数据 信息 本頁 本頁面 此頁 此頁面 頁面 文件 文檔 內容 網頁 本網頁 網站 資料 本条目 条目`,
		`最后 最近 上次 最新 最近一次 最后一次 上一次 末次 最終 最後 最後一次`,
		`更新 修改 编辑 修订 改动 变更 校对 审核 审阅 检查 刷新 修正 編輯 修訂 變更 審核 檢查 更動 異動`,
		`_ 于 於 在 为 為 时间 日期 时间为 日期为 时间是 日 時間 日期為 時間為 是`,
	},
	{
		`_ 本页 本页面 此页面 页面 本文 文章 文档 本頁 本頁面 此頁面 頁面 文檔 網頁 网页 本网页 資料 内容 內容`,
		`更新 修改 编辑 修订 刷新 編輯 修訂 異動`,
		`于 於 时间 日期 时间为 日期为 時間 日期為`,
	},
	{`已更新 已编辑 已修改 已更新于 已更新於 已編輯 修订于 修訂於 编辑于 編輯於 刷新于 更新 更新在 最后更新 最新更新`},
	{ // Japanese.
		`_ 最終 最新 前回 ページ最終 記事 直近の 最後の`,
		`更新 改訂 変更 編集 修正 確認 アップデート`,
		`日 日時 日付 時刻 時間 年月日`,
	},
	{`最終更新 最終改訂 最終変更 最終編集 最終修正 最終確認 最新更新 最後の更新 最後に更新 ページ更新日 更新 更新済み 情報更新日 データ更新日 掲載内容更新日`},
	{ // Thai.
		`_ หน้านี้ หน้านี้ถูก บทความนี้ ข้อมูล วันที่ วัน`,
		`อัปเดต อัพเดท อัพเดต อัปเดท ปรับปรุง แก้ไข ปรับปรุงข้อมูล แก้ไขข้อมูล ทบทวน`,
		`ล่าสุด ครั้งล่าสุด ครั้งสุดท้าย สุดท้าย`,
		`_ เมื่อ เมื่อวันที่ วันที่ ณ ณวันที่ เมื่อเวลา`,
	},
	{`อัปเดตเมื่อ อัพเดทเมื่อ อัพเดตเมื่อ แก้ไขเมื่อ ปรับปรุงเมื่อ อัปเดตวันที่ แก้ไขวันที่ ปรับปรุงวันที่ อัปเดตเมื่อวันที่ วันที่อัปเดต วันที่แก้ไข วันที่ปรับปรุง`},
}

// expand yields the labels of a notation: see moreStampLabels.
func expand(notation string) [][]string {
	var all [][]string
	for label := range strings.SplitSeq(notation, ",") {
		forms := [][]string{nil}
		for part := range strings.FieldsSeq(label) {
			var longer [][]string
			for choice := range strings.SplitSeq(part, "|") {
				words := wordsOf(choice)
				for _, form := range forms {
					longer = append(longer, append(form[:len(form):len(form)], words...))
				}
			}
			forms = longer
		}
		for _, form := range forms {
			if len(form) > 0 {
				all = append(all, form)
			}
		}
	}
	return all
}

// joiners stands for invisible characters in lists of words.
var joiners = strings.NewReplacer("~", "\u200C", "^", "\u200D")

// wordsOf splits one alternative of a notation as lines are split.
func wordsOf(choice string) []string {
	switch choice {
	case "_":
		return nil
	case "±":
		return []string{"+"}
	}
	var words []string
	for part := range strings.SplitSeq(joiners.Replace(choice), "+") {
		for part != "" {
			r, size := utf8.DecodeRuneInString(part)
			switch {
			case unicode.IsDigit(r):
				size = numberLength(part)
			case unicode.IsLetter(r):
				size = wordLength(part)
			}
			words = append(words, part[:size])
			part = part[size:]
		}
	}
	return words
}

// stampRelative are stampTimes.
var stampRelative = sync.OnceValue(func() *phraseTree { return treeOf(expandAll(stampTimes)) })

func expandAll(notations []string) [][]string {
	var all [][]string
	for _, notation := range notations {
		all = append(all, expand(notation)...)
	}
	return all
}

// phraseTree holds phrases by their words, so that a line is compared with hundreds of
// them at once.
type phraseTree struct {
	next map[string]*phraseTree // nil if no phrase goes on
	ends bool                   // a phrase ends here
}

// anyNumber stands for a number in phrases.
const anyNumber = "#"

// below is the tree after a token, nil if none of the phrases goes on with it.
func (t *phraseTree) below(next token) *phraseTree {
	switch {
	case next.number && t.next[next.lower] == nil:
		return t.next[anyNumber]
	case next.lower != "":
		return t.next[next.lower]
	case next.text == "’": // phrases have it straight
		return t.next["'"]
	}
	return t.next[next.text]
}

func treeOf(phrases [][]string) *phraseTree {
	root := &phraseTree{}
	for _, phrase := range phrases {
		at := root
		for _, word := range phrase {
			below := at.next[word]
			if below == nil {
				below = &phraseTree{}
				if at.next == nil {
					at.next = map[string]*phraseTree{}
				}
				at.next[word] = below
			}
			at = below
		}
		at.ends = true
	}
	return root
}

// longestAt is the length of the longest phrase of a tree that stands at i, 0 if there is
// none.
func (s *scanner) longestAt(i int, tree *phraseTree) int {
	return s.longestWithin(i, len(s.tokens), tree)
}

// longestWithin is longestAt for phrases that end before a token.
func (s *scanner) longestWithin(i, end int, tree *phraseTree) int {
	longest := 0
	for j := i; j < end && len(tree.next) > 0; j++ {
		if tree = tree.below(s.tokens[j]); tree == nil {
			break
		}
		if tree.ends {
			longest = j + 1 - i
		}
	}
	return longest
}

// moreLabels are the labels of moreStampLabels and denseLabels.
func moreLabels() [][]string {
	all := append(expandAll(moreStampLabels), expandAll(clockLabels)...)
	for _, parts := range denseLabels {
		forms := []string{""}
		for _, list := range parts {
			var longer []string
			for choice := range strings.FieldsSeq(list) {
				for _, form := range forms {
					longer = append(longer, form+strings.TrimPrefix(choice, "_"))
				}
			}
			forms = longer
		}
		for _, form := range forms {
			all = append(all, wordsOf(form))
		}
	}
	return all
}
