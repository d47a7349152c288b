package extract

import (
	"strings"
	"sync"
	"unicode"
)

// label is the meaning of a short line of text for the block that it heads.
type label uint8

const (
	labelNone label = iota
	// labelAd: an advert follows. Codes of advertising demand such labels, so adverts in
	// text form have one.
	labelAd
	// labelRelated: links to further reading follow.
	labelRelated
	// labelLatest: links to the latest news follow: further reading, except on a page of links.
	labelLatest
)

// maxLabel bounds a label in bytes.
const maxLabel = 64

// labels are the wordings, in lower case.
var labels = sync.OnceValue(func() map[string]label {
	all := map[string]label{}
	for l, list := range map[label]string{
		labelAd: `ad, ads, advert, advertisement, advertisements, advertising, advertisement feature, paid content, paid post, promoted,
			promoted content, sponsor, sponsored, sponsored by, sponsored content, sponsored links, from our partners, partner content,
			anzeige, anzeigen, werbung, gesponsert, bezahlter inhalt, publicité, annonce, annonces, sponsorisé, contenu sponsorisé,
			publicidad, anuncio, anuncios, patrocinado, contenido patrocinado, pubblicità, annuncio, sponsorizzato, publicidade,
			anúncio, conteúdo patrocinado, advertentie, gesponsord, reklama, sponsorowane, reklam, annons, реклама, на правах рекламы,
			広告, pr, スポンサー, スポンサーリンク, 广告, 推广, 赞助`,
		labelRelated: `related, related articles, related content, related links, related posts, related stories, related topics,
			related products, related items, related news, more from this section, more like this, more on this topic,
			more on this story, more stories, more articles, you may also like, you might also like, you might like, recommended,
			recommended for you, recommended reading, read next, up next, read also, read more, most read, most popular,
			most viewed, popular, popular posts, popular articles, trending, trending now, recently viewed, customers also bought,
			customers also viewed, similar articles, similar items, similar products, what to read next, don't miss,
			editor's picks, in other news, also on this site, mehr zum thema, das könnte sie auch interessieren,
			das könnte dich auch interessieren, auch interessant, weitere artikel, weitere themen, meistgelesen,
			meistgelesene artikel, am meisten gelesen, beliebt, beliebte artikel, beliebte beiträge, lesen sie auch,
			lesen sie mehr zum thema, lesetipps, ähnliche artikel, ähnliche beiträge, ähnliche produkte, empfehlungen, empfohlen,
			à lire aussi, lire aussi, articles similaires, articles liés, sur le même sujet, sur le même thème, les plus lus,
			le plus lu, les articles les plus lus, vous aimerez aussi, vous pourriez aussi aimer, dans la même rubrique,
			produits similaires, recommandé pour vous, artículos relacionados, noticias relacionadas, contenido relacionado,
			relacionado, relacionados, también te puede interesar, te puede interesar, lo más leído, lo más visto, lo más popular,
			más leídas, más leídos, más vistos, productos relacionados, leggi anche, articoli correlati, potrebbe interessarti,
			potrebbe interessarti anche, i più letti, prodotti correlati, leia também, leia mais, veja também,
			artigos relacionados, notícias relacionadas, mais lidas, mais lidos, você também pode gostar, lees ook, gerelateerd,
			gerelateerde artikelen, meest gelezen, meer over dit onderwerp, czytaj także, czytaj też, przeczytaj także,
			podobne artykuły, najczęściej czytane, zobacz także, polecane, läs också, läs mer, relaterade artiklar, mest lästa,
			читайте также, похожие статьи, материалы по теме, по теме, популярное, самое читаемое, рекомендуем, 関連記事, 関連リンク,
			関連ニュース, おすすめ, おすすめ記事, 人気記事, 人気の記事, アクセスランキング, あわせて読みたい, この記事も読まれています, 相关文章, 相关阅读, 相关推荐, 相关新闻, 热门文章, 推荐阅读, 猜你喜欢,
			other products in the same category, we found other products you might like,
			customers who bought this item also bought, customers who viewed this item also viewed, people also viewed,
			people also bought, more from this seller, other products from this seller, similar jobs, other jobs you may like,
			jobs you may like, similar offers, sponsored products related to this item, kunden kauften auch,
			kunden haben auch gekauft, andere kunden kauften auch, wird oft zusammen angesehen, das könnte ihnen auch gefallen,
			das könnte ihnen gefallen, das könnte dir auch gefallen, das könnte dir gefallen, ähnliche stellenangebote,
			ähnliche jobs, les clients ont aussi acheté, les clients ont également acheté, offres similaires,
			los clientes también compraron, también te puede gustar, ofertas similares, ti potrebbe piacere anche,
			potrebbe piacerti anche, offerte simili, quem viu também comprou, vagas semelhantes, anderen kochten ook,
			anderen bekeken ook, klienci kupili również, podobne oferty, с этим товаром покупают, похожие товары,
			похожие вакансии, この商品を買った人はこんな商品も買っています, この商品に関連する商品, 看了又看, 买了又买`,
		labelLatest: `more news, top stories, latest news, latest posts, latest stories, recent posts, weitere nachrichten, weitere beiträge, neueste beiträge, articles récents,
			más noticias, entradas recientes, articoli recenti, 新着記事, 最新文章`,
	} {
		for wording := range strings.SplitSeq(list+","+moreLabels[l], ",") {
			all[bareLabel(collapse(wording))] = l
		}
	}
	delete(all, "")
	return all
})

// labelOf reads a short line as a label, without the marks around it.
func labelOf(text []byte) label {
	if len(text) == 0 || len(text) > maxLabel {
		return labelNone
	}
	bare := strings.ReplaceAll(strings.ToLower(bareLabel(string(text))), "’", "'")
	if l := labels()[bare]; l != labelNone {
		return l
	}
	for _, begin := range labelBegins {
		if strings.HasPrefix(bare, begin) {
			return labelRelated
		}
	}
	return labelNone
}

// labelBegins begin labels that go on with the name of a section, an author or the site.
var labelBegins = []string{"more from ", "more by ", "recommended from ", "recommended by ", "mehr von ", "mehr aus "}

// bareLabel is a label without the marks around it, and, in the scripts of India, those on its last letter.
func bareLabel(text string) string {
	return strings.TrimFunc(text, func(r rune) bool { return !unicode.IsLetter(r) })
}

// isRelated reports whether a label heads further reading. The latest news are what readers of a
// page of links come for.
func (c *composer) isRelated(l label) bool {
	return l == labelRelated || l == labelLatest && !c.hub
}

// moreLabels are wordings of labels in further languages, in lower case. The list omits words that can also mean a
// public notice, and those with which encyclopedias head "See also".
var moreLabels = map[label]string{
	labelAd: `광고, 스폰서, 협찬, إعلان ممول, محتوى ممول, تبلیغات, פרסומת, תוכן ממומן, iklan, quảng cáo, โฆษณา,
		sponsorlu, sponsorlu içerik, inzerce, placený obsah, sponzorováno, hirdetés, szponzorált tartalom, publicitate, reclamă, διαφήμιση, χορηγούμενο,
		annoncer, annonse, annonsørinnhold, sponsoreret, sponset, mainos, mainokset, kaupallinen yhteistyö, на правах реклами, sponzorirano, 廣告, 贊助, 推廣`,
	labelRelated: `suggested articles, suggested posts, suggested for you, you may also be interested in, you might also be interested in,
		you may be interested in, people also read, others also read, readers also read, keep reading, more to explore, more for you, from around the web,
		recommended articles, recommended posts, recommended stories, recommended content, recommended videos, popular now, popular stories, popular news,
		trending articles, trending stories, trending news, trending posts, most read articles, most read stories, most popular articles,
		most popular stories, most popular posts, most commented, most shared, similar posts, similar stories, similar questions, similar topics, similar pages,
		related guides, related recipes, related jobs, related blogs, more like these,
		frequently bought together, customers also liked, others also viewed, other customers also bought, recently viewed items, recently viewed products,
		based on your browsing history, you'll also like, you may like, you'll love these, we also recommend, what others are reading, readers also liked,
		next up, in case you missed it, hot network questions,
		related reading, related coverage, related videos, related pages, related questions, related searches, related blog posts,
		empfohlene artikel, empfohlene beiträge, zuletzt angesehen, zuletzt angesehene artikel,
		zuletzt angesehene produkte, kunden interessierten sich auch für, passende produkte, wird oft zusammen gekauft,
		das könnte sie interessieren, das könnte dich interessieren, passend dazu, verwandte artikel, verwandte beiträge, verwandte themen, ähnliche themen,
		à découvrir aussi, lire également, à lire également, recommandés pour vous, vous avez récemment consulté,
		les clients ont également consulté, souvent achetés ensemble, à voir aussi, articles recommandés, articles populaires, les plus consultés, cela pourrait vous intéresser,
		artículos populares, artículos más leídos, artículos similares, productos similares, entradas relacionadas, también te gustará,
		te puede gustar, vistos recientemente, artículos recomendados, noticias recomendadas, recomendados, te recomendamos, podría interesarte, quizás te interese, le puede interesar,
		articoli più letti, articoli simili, visti di recente, potrebbe piacerti, articoli consigliati, consigliati, ti potrebbe interessare, le più lette, articoli popolari,
		produtos relacionados, produtos similares, posts relacionados, artigos similares, vistos recentemente, artigos recomendados, recomendado para você, você pode gostar, talvez você goste, os mais lidos, as mais lidas,
		aanbevolen, aanbevolen artikelen, gerelateerde berichten, gerelateerde producten, anderen lazen ook, vergelijkbare producten,
		polecamy, polecane artykuły, powiązane artykuły, może cię zainteresować, najpopularniejsze,
		läs även, relaterat, andra läste också, liknande produkter, læs også, relaterede artikler, mest læste, andre læste også,
		les også, relaterte artikler, relaterte saker, mest lest, lue myös, aiheeseen liittyvää, luetuimmat, suosituimmat,
		ilgili haberler, ilgili yazılar, ilgili içerikler, benzer haberler, benzer yazılar, benzer ürünler, çok okunanlar, en çok okunanlar, ilginizi çekebilir,
		čtěte také, mohlo by vás zajímat, mohlo by vás také zajímat, nejčtenější, podobné články, podobné produkty,
		súvisiace články, mohlo by vás zaujímať, najčítanejšie, čítajte tiež, kapcsolódó cikkek, ajánlott cikkek, legolvasottabb, hasonló termékek,
		articole similare, citește și, citiți și, cele mai citite, produse similare, pročitajte još, pročitajte i, najčitanije, slični proizvodi,
		preberite tudi, sorodni članki, najbolj brano, σχετικά άρθρα, διαβάστε επίσης, δημοφιλή άρθρα, τα πιο δημοφιλή, παρόμοια προϊόντα,
		похожие материалы, похожие новости, вам может быть интересно, рекомендуемые статьи, ещё по теме, еще по теме, самое популярное, популярные статьи,
		читайте також, схожі статті, матеріали за темою, найпопулярніше, схожі товари, прочетете още, още по темата, най-четени, подобни статии,
		관련 기사, 관련기사, 관련 뉴스, 관련뉴스, 관련 글, 관련글, 관련 게시물, 추천 기사, 추천기사, 추천 뉴스, 추천 콘텐츠, 인기 기사, 인기기사, 인기 뉴스, 인기 글,
		많이 본 기사, 많이 본 뉴스, 함께 보면 좋은 기사, 관련 상품, 추천 상품, 비슷한 상품,
		関連コンテンツ, 関連商品, 関連トピック, よく読まれている記事, こちらもおすすめ, 合わせて読みたい, 人気ランキング, おすすめ商品,
		相关内容, 相关帖子, 相关产品, 相关商品, 热门推荐, 为你推荐, 为您推荐, 热门新闻, 热门阅读, 大家都在看,
		相關文章, 相關新聞, 相關閱讀, 相關推薦, 相關商品, 推薦閱讀, 推薦文章, 熱門文章, 熱門新聞, 猜你喜歡, 為你推薦, 為您推薦,
		مقالات ذات صلة, مواضيع ذات صلة, أخبار ذات صلة, منتجات ذات صلة, منتجات مشابهة, اقرأ أيضا, اقرأ أيضًا, الأكثر قراءة, قد يعجبك أيضا, قد يعجبك أيضًا, قد يهمك أيضا,
		مطالب مرتبط, اخبار مرتبط, بیشتر بخوانید, پربازدیدترین, محصولات مرتبط, محصولات مشابه,
		כתבות נוספות, כתבות קשורות, עוד בנושא, אולי יעניין אותך, הנקראות ביותר, מוצרים דומים,
		संबंधित खबरें, संबंधित ख़बरें, संबंधित लेख, ये भी पढ़ें, यह भी पढ़ें, আরও পড়ুন, সম্পর্কিত খবর,
		baca juga, artikel terkait, berita terkait, berita terpopuler, terpopuler, produk terkait, produk serupa,
		bài viết liên quan, bài liên quan, tin liên quan, tin tức liên quan, có thể bạn quan tâm, đọc nhiều nhất, sản phẩm liên quan, sản phẩm tương tự,
		ข่าวที่เกี่ยวข้อง, บทความที่เกี่ยวข้อง, เนื้อหาที่เกี่ยวข้อง, ข่าวยอดนิยม, บทความแนะนำ, สินค้าที่เกี่ยวข้อง, สินค้าแนะนำ`,
	labelLatest: `latest articles, recent articles, recent stories, recent news, featured articles, featured stories, featured posts, recommended products, recommended items,
		recommended topics, recommended links, popular products, popular topics, popular pages, trending topics, trending today, related resources,
		neueste artikel, aktuelle artikel, aktuelle beiträge, neueste nachrichten, empfohlene produkte, beliebte produkte, beliebte themen,
		derniers articles, les derniers articles, nos recommandations, produits recommandés, últimas noticias, últimos artículos, productos recomendados,
		ultime notizie, ultimi articoli, prodotti consigliati, últimas notícias, últimos artigos, posts recentes, produtos recomendados`,
}
