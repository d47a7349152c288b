package change

// The words of errors, walls and logins, by language. suspectwords.go says where they count.

const errorPhraseLines = `
page not found
page cannot be found
page could not be found
page can't be found
page couldn't be found
page was not found
page isn't available
page is not available
page is no longer available
page no longer exists
page doesn't exist
page does not exist
page you are looking for
page you're looking for
page you were looking for
page you requested
couldn't find that page
couldn't find the page
could not find the page
couldn't find this page
can't find that page
can't find the page
can't seem to find the page
content not found
content is no longer available
content isn't available
content is not available
file not found
document not found
requested url was not found
resource could not be found
resource cannot be found
article not found
article is no longer available
404 not found
404 error
error 404
http 404
410 gone
nothing was found at this location
not found on this server
access denied
access to this page has been denied
access is denied
access forbidden
403 forbidden
error 403
permission denied
you don't have permission to access
you do not have permission to access
you have been blocked
you are unable to access
request blocked
request unsuccessful
request has been blocked
unusual traffic
suspicious activity
automated requests
are you a robot
are you a human
are you human
not a robot
i am human
verify you are human
verify that you are human
verifying you are human
confirm you are human
prove you are human
you are a human
you're a human
confirm you're human
not a bot
robot or human
pardon our interruption
security checkpoint
verifying your browser
verifying your connection
security of your connection
enter the characters you see
disable any ad blocker
checking your browser
checking if the site connection is secure
just a moment
one moment please
please wait while
please enable cookies
please enable javascript
please turn javascript on
enable javascript and cookies to continue
enable javascript to continue
you need to enable javascript
please enable js
javascript is disabled
javascript is required
properly without javascript
security check
attention required
captcha
ddos protection
too many requests
rate limit exceeded
rate limited
error 429
try again later
please try again
temporarily unavailable
temporarily down
temporarily offline
currently unavailable
currently offline
currently down
service unavailable
service is unavailable
site is unavailable
server is too busy
bad gateway
gateway timeout
gateway time out
internal server error
error 500
error 502
error 503
error 504
an error occurred
an error has occurred
unexpected error
something went wrong
something's gone wrong
something has gone wrong
technical difficulties
technical problems
application error
error establishing a database connection
critical error on this website
request could not be satisfied
bandwidth limit exceeded
resource limit is reached
web server is down
connection timed out
under maintenance
down for maintenance
undergoing maintenance
scheduled maintenance
maintenance mode
routine maintenance
briefly unavailable
be right back
be back soon
be back shortly
under construction
please log in
please login
please sign in
log in to continue
login to continue
sign in to continue
log in to your account
sign in to your account
you must be logged in
you must log in
you need to log in
you need to be logged in
login required
session has expired
session expired
subscribe to continue
subscribe to read
create an account to continue
register to continue
before you continue
we value your privacy
we use cookies
accept all cookies
allow all cookies
allow the use of cookies
cookie consent
essential cookies
necessary cookies
your privacy choices
confirm your age
verify your age
not available in your country
not available in your region
unavailable in your region
domain is for sale
domain may be for sale
domain is parked
buy this domain
domain has expired
account suspended
account has been suspended
website is no longer available
default web page
welcome to nginx
it works

seite nicht gefunden
seite wurde nicht gefunden
seite konnte nicht gefunden werden
seite existiert nicht
seite nicht verfügbar
seite ist nicht verfügbar
seite ist leider nicht
seite gibt es nicht
inhalt nicht verfügbar
inhalt nicht gefunden
nicht mehr verfügbar
fehler 404
fehler 403
fehler 500
fehler 503
zugriff verweigert
zugang verweigert
zugriff nicht gestattet
keine berechtigung
ein fehler ist aufgetreten
ist ein fehler aufgetreten
etwas ist schiefgelaufen
etwas ist schief gelaufen
vorübergehend nicht verfügbar
vorübergehend nicht erreichbar
zurzeit nicht verfügbar
zurzeit nicht erreichbar
derzeit nicht verfügbar
derzeit nicht erreichbar
momentan nicht verfügbar
momentan nicht erreichbar
wartungsarbeiten
wartungsmodus
wegen wartung
zu viele anfragen
später noch einmal
später erneut
bist du ein mensch
sind sie ein mensch
kein roboter
sicherheitsüberprüfung
einen moment bitte
bitte warten
bitte melden sie sich an
bitte anmelden
bitte loggen sie sich ein
melden sie sich an um
sitzung ist abgelaufen
bevor sie fortfahren
wir verwenden cookies
alle cookies akzeptieren
notwendige cookies
essenzielle cookies

page introuvable
page non trouvée
page n'existe pas
page n'existe plus
page n'a pas été trouvée
page demandée
page que vous cherchez
page que vous recherchez
page indisponible
contenu introuvable
contenu n'est pas disponible
n'est plus disponible
erreur 404
erreur 403
erreur 500
erreur 503
accès refusé
accès interdit
accès non autorisé
une erreur est survenue
une erreur s'est produite
un problème est survenu
quelque chose s'est mal passé
temporairement indisponible
momentanément indisponible
actuellement indisponible
en maintenance
en cours de maintenance
opération de maintenance
trop de requêtes
réessayer plus tard
réessayez plus tard
êtes vous un robot
êtes vous humain
pas un robot
vérifiez que vous êtes humain
vérification de sécurité
un instant
veuillez patienter
veuillez vous connecter
connectez vous pour
vous devez être connecté
session a expiré
session expirée
avant de continuer
nous utilisons des cookies
accepter tous les cookies
cookies nécessaires
cookies essentiels

página no encontrada
página no existe
página no está disponible
página no disponible
página que busca
página que buscas
página que está buscando
página solicitada
no se encontró la página
no se ha encontrado la página
no hemos encontrado la página
no encontramos la página
contenido no disponible
ya no está disponible
error 404
acceso denegado
acceso prohibido
se ha producido un error
se produjo un error
ha ocurrido un error
ocurrió un error
algo salió mal
algo ha salido mal
temporalmente no disponible
temporalmente fuera de servicio
no disponible temporalmente
no está disponible en este momento
en mantenimiento
tareas de mantenimiento
demasiadas solicitudes
demasiadas peticiones
inténtelo más tarde
inténtalo más tarde
inténtelo de nuevo
inténtalo de nuevo
no soy un robot
verifica que eres humano
comprobación de seguridad
un momento
espere por favor
inicia sesión para
inicie sesión para
debes iniciar sesión
debe iniciar sesión
sesión ha expirado
sesión ha caducado
antes de continuar
utilizamos cookies
aceptar todas las cookies
cookies necesarias
cookies esenciales

pagina non trovata
pagina non esiste
pagina non è disponibile
pagina non disponibile
pagina che stai cercando
pagina richiesta
contenuto non disponibile
non è più disponibile
errore 404
errore 403
errore 500
accesso negato
accesso vietato
si è verificato un errore
qualcosa è andato storto
temporaneamente non disponibile
momentaneamente non disponibile
in manutenzione
troppe richieste
riprova più tardi
riprovare più tardi
non sono un robot
verifica di essere umano
un momento
attendere prego
accedi per continuare
effettua l'accesso
sessione scaduta
prima di continuare
utilizziamo i cookie
accetta tutti i cookie
cookie necessari
cookie essenziali

página não encontrada
página não existe
página não está disponível
página não disponível
página que você procura
página que procura
página solicitada
não encontramos a página
conteúdo não disponível
conteúdo indisponível
não está mais disponível
já não está disponível
erro 404
erro 403
erro 500
acesso negado
acesso proibido
ocorreu um erro
algo deu errado
algo correu mal
temporariamente indisponível
momentaneamente indisponível
em manutenção
muitas solicitações
muitos pedidos
tente novamente
tente mais tarde
não sou um robô
verifique se você é humano
verificação de segurança
um momento
aguarde
faça login
inicie sessão
inicie a sessão
sessão expirou
sessão expirada
antes de continuar
usamos cookies
utilizamos cookies
aceitar todos os cookies
cookies necessários
cookies essenciais

pagina niet gevonden
pagina bestaat niet
pagina is niet gevonden
pagina kan niet worden gevonden
pagina kon niet worden gevonden
pagina niet beschikbaar
pagina die je zoekt
pagina die u zoekt
niet meer beschikbaar
fout 404
toegang geweigerd
toegang verboden
geen toegang
er is een fout opgetreden
er is iets misgegaan
er ging iets mis
er ging iets fout
tijdelijk niet beschikbaar
tijdelijk niet bereikbaar
momenteel niet beschikbaar
momenteel niet bereikbaar
onderhoudswerkzaamheden
in onderhoud
wegens onderhoud
te veel verzoeken
te veel aanvragen
probeer het later
ben je een mens
geen robot
even geduld
log in om
je moet ingelogd zijn
u moet ingelogd zijn
sessie is verlopen
voordat je verdergaat
wij gebruiken cookies
alle cookies accepteren
noodzakelijke cookies

nie znaleziono strony
strona nie została znaleziona
strona nie istnieje
strona niedostępna
strona jest niedostępna
nie możemy znaleźć strony
błąd 404
brak dostępu
dostęp zabroniony
odmowa dostępu
wystąpił błąd
coś poszło nie tak
tymczasowo niedostępna
tymczasowo niedostępny
chwilowo niedostępna
przerwa techniczna
prace konserwacyjne
trwają prace
zbyt wiele żądań
zbyt wiele zapytań
spróbuj ponownie
nie jestem robotem
proszę czekać
zaloguj się aby
musisz się zalogować
sesja wygasła
zanim przejdziesz
używamy plików cookie
niezbędne pliki cookie

stránka nenalezena
stránka nebyla nalezena
stránka neexistuje
stránku nelze najít
chyba 404
přístup odepřen
přístup zamítnut
došlo k chybě
něco se pokazilo
dočasně nedostupná
dočasně nedostupný
probíhá údržba
příliš mnoho požadavků
zkuste to znovu
zkuste to později
stránka sa nenašla
stránka nebola nájdená

sidan hittades inte
sidan kunde inte hittas
sidan finns inte
åtkomst nekad
ett fel inträffade
ett fel har inträffat
något gick fel
tillfälligt otillgänglig
underhållsarbete
för många förfrågningar
försök igen
siden blev ikke fundet
siden findes ikke
siden kunne ikke findes
siden ble ikke funnet
siden finnes ikke
fant ikke siden
adgang nægtet
ingen adgang
ingen tilgang
der opstod en fejl
der er opstået en fejl
noget gik galt
det oppstod en feil
det har oppstått en feil
noe gikk galt
midlertidigt utilgængelig
midlertidig utilgjengelig
prøv igen
prøv igjen
sivua ei löydy
sivua ei löytynyt
sivua ei ole olemassa
pääsy estetty
pääsy kielletty
tapahtui virhe
jokin meni vikaan
tilapäisesti poissa käytöstä
huoltokatko

страница не найдена
страница не существует
страница не доступна
страница недоступна
страница удалена
такой страницы нет
запрашиваемая страница
запрошенная страница
ошибка 404
ошибка 403
ошибка 500
ошибка 503
доступ запрещен
доступ запрещён
доступ ограничен
доступ закрыт
произошла ошибка
что то пошло не так
временно недоступен
временно недоступна
временно недоступно
технические работы
технических работ
слишком много запросов
попробуйте позже
попробуйте снова
попробуйте ещё раз
повторите попытку
вы не робот
я не робот
проверка безопасности
подождите
войдите чтобы
необходимо войти
необходимо авторизоваться
сессия истекла
сторінку не знайдено
сторінка не знайдена
помилка 404
доступ заборонено
сталася помилка
щось пішло не так
тимчасово недоступний
технічні роботи
спробуйте пізніше

sayfa bulunamadı
sayfa mevcut değil
aradığınız sayfa
erişim engellendi
erişim reddedildi
bir hata oluştu
bir şeyler ters gitti
geçici olarak kullanılamıyor
bakım çalışması
bakımdayız
çok fazla istek
tekrar deneyin
lütfen bekleyin
robot olmadığınızı
oturum süresi doldu

az oldal nem található
a keresett oldal
hozzáférés megtagadva
hiba történt
karbantartás alatt
pagina nu a fost găsită
pagina nu există
acces interzis
a apărut o eroare
în mentenanță
η σελίδα δεν βρέθηκε
η σελίδα δεν υπάρχει
δεν επιτρέπεται η πρόσβαση
παρουσιάστηκε σφάλμα
stranica nije pronađena
страница није пронађена
страницата не е намерена
halaman tidak ditemukan
akses ditolak
terjadi kesalahan
không tìm thấy trang
trang không tồn tại
đã xảy ra lỗi

ページが見つかりません
ページは見つかりません
ページが見つかりませんでした
ページは存在しません
ページが存在しません
お探しのページ
アクセスが拒否
アクセスできません
アクセスが集中
エラーが発生
メンテナンス中
メンテナンスのため
一時的に利用
しばらくお待ち
しばらくしてから
もう一度お試し
ロボットではありません
ログインしてください
ログインが必要
页面不存在
页面未找到
找不到页面
找不到网页
找不到该页面
无法找到该页
您访问的页面
您要访问的页面
页面已删除
内容不存在
访问被拒绝
拒绝访问
禁止访问
没有权限
出错了
发生错误
服务器错误
系统维护
网站维护
正在维护
暂时无法访问
服务不可用
请稍后再试
请求过于频繁
访问过于频繁
安全验证
人机验证
请输入验证码
请先登录
頁面不存在
找不到頁面
找不到網頁
找不到您要的
存取被拒
拒絕存取
發生錯誤
系統維護
網站維護
請稍後再試
安全驗證
請先登入
페이지를 찾을 수 없
존재하지 않는 페이지
페이지가 존재하지
요청하신 페이지
접근이 거부
접근 권한이 없
접근할 수 없
오류가 발생
서비스 점검
시스템 점검
일시적으로 사용할 수 없
잠시 후 다시
로봇이 아닙니다
로그인이 필요
로그인해 주세요
الصفحة غير موجودة
لم يتم العثور على الصفحة
تم رفض الوصول
حدث خطأ
تحت الصيانة
يرجى المحاولة
הדף לא נמצא
העמוד לא נמצא
הגישה נדחתה
אירעה שגיאה
صفحه یافت نشد
ไม่พบหน้า
เกิดข้อผิดพลาด
पृष्ठ नहीं मिला
`

const errorHeadingLines = `
404
403
410
429
500
502
503
504
error
errors
not found
gone
forbidden
denied
unauthorized
blocked
unavailable
maintenance
offline
oops
whoops
sorry
loading
please wait
redirecting
log in
login
sign in
signin
sign up
cookies
cookie settings
privacy settings
consent
coming soon
server error
robot check
human verification
bot verification
client challenge
oh noes
nicht gefunden
fehler
wartung
anmelden
anmeldung
einloggen
introuvable
erreur
connexion
se connecter
identification
no encontrado
no encontrada
mantenimiento
iniciar sesión
acceso
non trovato
non trovata
errore
manutenzione
accedi
não encontrado
não encontrada
erro
manutenção
entrar
iniciar sessão
niet gevonden
fout
onderhoud
inloggen
aanmelden
błąd
nie znaleziono
zaloguj się
logowanie
chyba
nenalezeno
přihlášení
fel
fejl
feil
hittades inte
ikke fundet
ikke funnet
logga in
log ind
logg inn
virhe
ei löydy
ошибка
не найдено
вход
авторизация
технические работы
помилка
hata
bulunamadı
giriş yap
hiba
bejelentkezés
eroare
σφάλμα
エラー
メンテナンス
ログイン
错误
出错
登录
維護
维护
錯誤
登入
오류
점검
로그인
خطأ
שגיאה
`
