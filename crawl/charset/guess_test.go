package charset

import (
	"fmt"
	"strings"
	"testing"
)

// TestGuess decodes titles and texts in undeclared encodings.
func TestGuess(t *testing.T) {
	const russian = "Новости города: погода, спорт, культура. Сегодня в парке открылась выставка старинных книг и карт. "
	const japanese = "今日は図書館で古い地図の展覧会が開かれました。ニュースと天気、スポーツの話題をお届けします。"
	for _, tt := range []struct{ label, text string }{
		{"windows-1251", russian}, {"koi8-r", russian}, {"shift_jis", japanese}, {"euc-jp", japanese},
		{"big5", "今天圖書館舉辦了古代地圖展覽，歡迎各位讀者前來參觀。新聞、天氣和體育消息。"},
		{"gbk", "今天图书馆举办了古代地图展览，欢迎各位读者前来参观。新闻、天气和体育消息。"},
		{"euc-kr", "오늘 도서관에서 오래된 지도 전시회가 열렸습니다. 뉴스와 날씨, 스포츠 소식을 전해 드립니다."},
		{"windows-1253", "Νέα της πόλης και της περιοχής: καιρός, αθλητισμός, πολιτισμός. "},
		{"windows-1254", "Şehir haberleri: hava durumu, spor, kültür. Bugün kütüphanede eski haritalar sergisi açıldı. "},
		{"windows-874", "วันนี้ห้องสมุดจัดนิทรรศการแผนที่เก่า ข่าว อากาศ กีฬา "},
		{"windows-1255", "חדשות העיר: מזג האוויר, ספורט ותרבות. היום נפתחה בספרייה תערוכה של מפות ישנות. "},
		{"windows-1256", "أخبار المدينة: الطقس والرياضة والثقافة. افتتح اليوم في المكتبة معرض للخرائط القديمة. "},
		{"iso-8859-2", "Zprávy z města: počasí, sport, kultura. Dnes byla v knihovně otevřena výstava starých map a knih. "},
		{"windows-1252", "Les nouvelles de la ville : météo, sport, culture. Aujourd'hui, une exposition à la bibliothèque. "},
		{"windows-1252", "The news of the town – weather, sport and culture. “Maps and books” is the name of the exhibition. "},
		{"koi8-u", "Новини міста: погода, спорт, культура. Сьогодні в парку відкрилася виставка старовинних книг і карт. "},
		{"ibm866", russian},
		{"iso-8859-6", "افتتح اليوم في المكتبة معرض للخرائط القديمة. أخبار وطقس ورياضة من المدينة. "},
		{"windows-1252", "Þjóðin og veðrið: íþróttir, menning. Í dag var opnuð sýning á gömlum kortum. "},
	} {
		e, _ := Lookup(tt.label)
		for _, n := range []int{0, 1, 12} {
			text := strings.Repeat(tt.text, n)
			if n == 0 {
				text = string([]rune(tt.text)[:24])
			}
			page := fmt.Sprintf("<html><head><title>%s</title></head><body><p>%s</p><a href='/x'>x</a></body></html>", text, text)
			body, err := e.text.NewEncoder().String(page)
			if err != nil {
				t.Fatal(tt.label, err)
			}
			got := OfHTML([]byte(body), "")
			if read := string(got.Decode([]byte(body))); read != page {
				t.Errorf("%s, %d times: read as %s: %.120s", tt.label, n, got.Name(), read)
			}
			for range 20 {
				if again := OfHTML([]byte(body), ""); again.Name() != got.Name() {
					t.Fatalf("%s: %s, then %s", tt.label, got.Name(), again.Name())
				}
			}
		}
	}
}

// TestGuessShort decodes mainly short texts, which the library mistakes for others.
func TestGuessShort(t *testing.T) {
	for _, tt := range []struct{ label, text string }{
		{"windows-1252", "Hyvää päivää, näkemiin"},
		{"windows-1252", "À propos de nous"},
		{"windows-1252", "¿Quiénes somos? Página de inicio"},
		{"windows-1252", "Blåbær og jordbær på hytta"},
		{"windows-1250", "Główna strona"},
		{"windows-1250", "Začetna stran: čas, šola, življenje"},
		{"iso-8859-2", "Książki i gazety: łódź, źródło"},
		{"windows-1257", "Lietuvių kalbos žodynas: ąčęėįšųūž"},
		{"windows-1257", "Latviešu valodas vārdnīca"},
		{"windows-1257", "Šiandien bibliotekoje atidaryta senų žemėlapių paroda: orai, sportas, kultūra. "},
		{"windows-1257", "Pilsētas ziņas: laiks, sports, kultūra. Šodien bibliotēkā atklāta veco karšu izstāde. "},
		{"windows-1250", "Početna stranica: večernje vijesti, šport, kuća i život. Danas je otvorena izložba starih knjiga. "},
		{"euc-kr", strings.Repeat("공지사항 ", 7)},
		{"windows-874", "ข่าววันนี้"},
	} {
		e, _ := Lookup(tt.label)
		page := "<title>" + tt.text + "</title><a href='/x'>" + tt.text + "</a>"
		body, err := e.text.NewEncoder().String(page)
		if err != nil {
			t.Fatal(tt.label, err)
		}
		got := OfHTML([]byte(body), "")
		if read := string(got.Decode([]byte(body))); read != page {
			t.Errorf("%s: read as %s: %s", tt.label, got.Name(), read)
		}
	}
	const cut = "<title>Новости города</title>\xd0<a href=x>x</a>"
	if got := OfHTML([]byte(cut), ""); got.Name() != utf8Name {
		t.Errorf("UTF-8 with a character cut: read as %s", got.Name())
	}
}
