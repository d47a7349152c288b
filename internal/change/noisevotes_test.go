package change

import "testing"

func TestVotesAreCounters(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]string{
		{"12 out of 15 found this helpful", "13 out of 16 found this helpful"},
		{"Was this article helpful? 12 out of 15 found this helpful", "Was this article helpful? 0 out of 1 found this helpful"},
		{"7 people found this helpful", "One person found this helpful"},
		{"12 von 15 fanden dies hilfreich", "13 von 16 fanden dies hilfreich"},
		{"Utilisateurs qui ont trouvé cela utile : 12 sur 15", "Utilisateurs qui ont trouvé cela utile : 13 sur 16"},
		{"Usuarios a los que les pareció útil: 12 de 15", "Usuarios a los que les pareció útil: 13 de 16"},
		{"Utenti che ritengono sia utile: 12 su 15", "Utenti che ritengono sia utile: 13 su 16"},
		{"Usuários que acharam isso útil: 12 de 15", "Usuários que acharam isso útil: 13 de 16"},
		{"Aantal gebruikers dat dit nuttig vond: 12 van 15", "Aantal gebruikers dat dit nuttig vond: 13 van 16"},
		{"Liczba użytkowników, którzy uważają ten artykuł za przydatny: 12 z 15", "Liczba użytkowników, którzy uważają ten artykuł za przydatny: 13 z 16"},
		{"12 av 15 tyckte detta var till hjälp", "13 av 16 tyckte detta var till hjälp"},
		{"12 ud af 15 fandt dette nyttigt", "13 ud af 16 fandt dette nyttigt"},
		{"Пользователи, считающие этот материал полезным: 12 из 15", "Пользователи, считающие этот материал полезным: 13 из 16"},
		{"15人中12人がこの記事が役に立ったと言っています", "16人中13人がこの記事が役に立ったと言っています"},
		{"15 人中有 12 人觉得有帮助", "16 人中有 13 人觉得有帮助"},
		{"15명 중 12명이 도움이 되었다고 했습니다", "16명 중 13명이 도움이 되었다고 했습니다"},
		{"Ann Lee 12 12 gold badges 104 104 silver badges", "Ann Lee 12 13 gold badges 104 105 silver badges"},
		{"Rating: 4.5 (120 votes)", "Rating: 4.6 (121 votes)"},
		{"Bewertung: 4,5 (120 Stimmen)", "Bewertung: 4,6 (121 Stimmen)"},
	} {
		if !isNoise(pair[0], pair[1]) {
			t.Errorf("%q to %q is an edit", pair[0], pair[1])
		}
	}
	for _, pair := range [][2]string{
		{"Social Democrats: 120 votes", "Social Democrats: 121 votes"},
		{"12 out of 15 members voted for it", "13 out of 15 members voted for it"},
		{"12 gold coins", "13 gold coins"},
		{"7 people found this cave", "8 people found this cave"},
		{"Rating: 12 years", "Rating: 16 years"},
		{"In the study 12 of 15 found this helpful.", "In the study 13 of 15 found this helpful."},
		{"12 von 15 fanden dies hilfreich, sagt die Studie des Amts", "13 von 15 fanden dies hilfreich, sagt die Studie des Amts"},
	} {
		if isNoise(pair[0], pair[1]) {
			t.Errorf("%q to %q is noise", pair[0], pair[1])
		}
	}
}
