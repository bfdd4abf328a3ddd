import { inside, words } from './matching-text.ts';

/**
 * How one kind of secret is named in English, or any kind in another language: stems with the endings that they take.
 * Patterns match `matchingText`: lower case, no accents, no hyphens.
 */
export interface SecretRule {
	readonly name: string;
	readonly pattern: RegExp;
	/** Titles that ask for this secret. */
	readonly yes: readonly string[];
	/** Similar titles that are not secret by any rule. */
	readonly no: readonly string[];
}

/** Titles between bars and line ends. */
export const list = (titles: string): string[] => titles.trim().split(/\s*[|\n]\s*/);

/** By language: stems as whole words with their endings, titles that ask for such a secret, and similar titles that do not. */
const STEMS: Readonly<Record<string, readonly [string, string, string]>> = {
	'many languages': [
		'(?:codes?|kode?n?|kod\\p{L}{1,4}|codigos?|codic[ei]|codul|codi|koodi|код\\p{L}{0,3}|κωδικ(?:ος|ο)|zahl(?:en)?|ziffern|chiffres|cifre)(?:,? \\p{L}+){0,4} (?:sms\\p{L}*|смс\\p{L}*|textnachricht|tekstiviesti\\p{L}*)|sms\\p{L}*(?: \\p{L}+){0,2} (?:kod|kode|koodi|code)\\p{L}{0,6}',
		'Zahl aus der SMS | Code, den du per SMS bekommen hast | Código que llegó por SMS | SMS ile gelen kod | Код из СМС',
		'Text der SMS | Wann soll die SMS kommen? | Kod pocztowy',
	],
	German: [
		'\\p{L}{0,20}(?:passwor|kennwor|losungswor)[td]\\p{L}{0,3}|geheim(?:zahl|nummer|wort)|zugangsdaten|(?:bestatigungs|sicherheits|einmal|verifizierungs|zugangs|anmelde|freischalt|aktivierungs|pruf|tan|pin) ?(?:code|kode|passwort|ziffer|nummer)|(?:m ?|push ?)tan|(?:eine?|die|der|deine|ihre|neue) tan|(?:zahl|zahlen|ziffern|nummer|code) (?:aus|in|von|auf)(?: \\p{L}+)? (?:app|handy|telefon|bank)|code aus(?: \\p{L}+)? (?:e ?mail|nachricht|brief)|(?:api|wlan|wi ?fi|privater?) schlussel|(?:konto|karten|kreditkarten|sozialversicherungs|reisepass|ausweis)nummer|kreditkarten?daten|steuer ?id|geburts(?:datum|tag und ort)|zweite[rn]? faktor',
		'Passwort | Bitte Kennwort eingeben | Bestätigungscode | mTAN | API-Schlüssel | Kreditkartennummer | Geburtsdatum',
		'Schlüsselwort | Kartendesign | Anzahl der Karten | Geburtstag von Anna',
	],
	French: [
		"mots? de passe|identifiants|code (?:secret|confidentiel|pin|d'acces|recu|envoye|par sms|de (?:verification|securite|confirmation|validation|connexion|la carte)|a usage unique|a (?:quatre|six|\\d) chiffres|que (?:vous|tu))|cle (?:api|secrete|privee|d'acces|wi ?fi)|phrase (?:secrete|de recuperation)|numero de (?:compte|(?:la )?carte)|cryptogramme|(?:trois|quatre|six|\\d) chiffres|date de naissance|second facteur",
		'Mot de passe | Code de vérification | Quel est le code reçu ? | Clé API | Numéro de carte | Date de naissance',
		'Code postal | Mot clé | Numéro de la chambre',
	],
	Spanish: [
		'contrasenas?|credenciales|clave (?:de acceso|secreta|privada|api|del wi ?fi)|(?:palabra|frase) (?:secreta|de recuperacion|semilla)|codigo (?:secreto|pin|recibido|enviado|por|que|de (?:verificacion|seguridad|confirmacion|acceso|un solo uso))|(?:cuatro|seis|\\d) (?:cifras|digitos)|numero de (?:cuenta|(?:la |su |tu )?tarjeta)|fecha de nacimiento|segundo factor',
		'Contraseña | CONTRASEN\u0303A | Código de verificación | El código que recibiste | Clave de acceso | Número de tarjeta',
		'Código postal | Palabra clave | El tema clave',
	],
	Italian: [
		"credenziali|codic[ei] (?:segreto|pin|ricevut[oi]|inviat[oi]|che|di (?:verifica|sicurezza|accesso|conferma|autenticazione)|d'accesso|monouso)|parola (?:segreta|d'ordine)|chiave (?:api|segreta|privata|di accesso)|frase segreta|numero (?:del conto|di conto|(?:della|di) carta)|data di nascita",
		'Codice di verifica | Codice ricevuto | Parola d’ordine | Numero della carta',
		'Codice postale | Parola chiave | Codice sconto',
	],
	Portuguese: [
		'senhas?|palavras? passe|codigo (?:secreto|pin|recebido|enviado|de (?:verificacao|seguranca|confirmacao|acesso))|chave (?:de acesso|privada|secreta|api)|numero do cartao|data de nascimento',
		'Senha | Palavra-passe | Código de verificação',
		'Palavra-chave | Código postal | Resenha',
	],
	Dutch: [
		'wachtwoord\\p{L}{0,2}|(?:inlog|verificatie|bevestigings|beveiligings|toegangs|pin) ?codes?|(?:kaart|creditcard|rekening|burgerservice)nummer|geboortedatum',
		'Wachtwoord | Verificatiecode | Pincode',
		'Postcode | Kortingscode',
	],
	'Swedish, Danish and Norwegian': [
		'losenord\\p{L}{0,3}|passord\\p{L}{0,3}|adgangskode\\p{L}{0,2}|kodeord\\p{L}{0,2}|(?:engangs|verifierings|verifikations|sakerhets|sikkerheds|sikkerhets|bekraftelse|bekr(?:ae|æ)ftelses|bekreftelses|inloggnings|pin) ?kode?\\p{L}{0,2}|kort(?:nummer|numret)|personnummer|fodelsedatum|f[oø]dselsdato',
		'Lösenord | Adgangskode | Passord | Engångskod | Engangskode',
		'Postnummer | Rabattkod',
	],
	Finnish: [
		'salasana\\p{L}{0,5}|(?:vahvistus|turva|kerta|kirjautumis|tunnistautumis|pin) ?koodi\\p{L}{0,3}|tunnuslu(?:ku|vu)\\p{L}{0,3}|henkilotunnus|syntymaaika',
		'Salasana | Vahvistuskoodi',
		'Postinumero | Alennuskoodi',
	],
	Polish: [
		'has[lł](?:o|a|em|u)|kod(?:u|em)? (?:z sms|weryfikac?[yj]\\p{L}{1,5}|jednorazow\\p{L}{1,3}|dostepu|potwierdz\\p{L}{1,8}|pin|autoryz\\p{L}{1,8})|jednorazow\\p{L}{1,3} kod\\p{L}{0,3}|numer\\p{L}{0,2} (?:karty|konta)|pesel|data urodzenia|klucz (?:api|prywatny)',
		'Hasło | Podaj hasło do konta | Kod weryfikacyjny',
		'Kod pocztowy | Numer pokoju',
	],
	'Czech and Slovak': [
		'hesl(?:o|a|em|u)|(?:overovaci|overovac|jednorazov|bezpecnostni|potvrzovaci|prihlasovaci)\\p{L}{0,3} kod\\p{L}{0,2}|pin kod|cislo (?:karty|uctu)|rodne cislo|datum narozeni',
		'Heslo | Jaké je heslo? | Ověřovací kód',
		'Směrovací číslo | Slevový kód',
	],
	Hungarian: [
		'jelsz(?:o|av)\\p{L}{0,8}|(?:megerosito|ellenorzo|egyszeri|biztonsagi|belepesi|pin) kod\\p{L}{0,4}|kartyaszam\\p{L}{0,3}|szuletesi datum',
		'Jelszó | Add meg a jelszavad | Ellenőrző kód',
		'Irányítószám',
	],
	Romanian: [
		'parola|parolei|cod(?:ul)? (?:de (?:verificare|securitate|confirmare|acces)|pin|primit|trimis|secret)|numarul cardului|data nasterii',
		'Parola contului | Codul de verificare',
		'Cod poștal | Cuvânt cheie',
	],
	Turkish: [
		'[sş]ifre\\p{L}{0,8}|parola(?:n[iı]z|m[iı]z|y[iı]|n[iı])|(?:do[gğ]rulama|onay|g[uü]venlik|giri[sş]|tek kullan[iı]ml[iı]k) kod\\p{L}{0,6}|kart numara\\p{L}{0,5}|do[gğ]um tarihi\\p{L}{0,3}',
		'Şifre | Şifreniz nedir? | Parolanız | Doğrulama kodu',
		'Posta kodu | Oda numarası',
	],
	'Russian and Ukrainian': [
		'парол\\p{L}{1,3}|(?:кодов|секретн|контрольн)\\p{L}{1,3} (?:слов|код|фраз|вопрос|ключ)\\p{L}{0,3}|код\\p{L}{0,3}(?: (?:из|от|для|з|із|від))? (?:подтвержд|доступ|безопасн|авториз|проверк|підтвердж|безпек|банк)\\p{L}{0,8}|одноразов\\p{L}{2,3} код\\p{L}{0,3}|п[иі]н ?код\\p{L}{0,3}|номер\\p{L}{0,2} карт\\p{L}{1,3}|дат\\p{L} (?:рождения|народження)|номер\\p{L}{0,2} паспорт\\p{L}{1,3}|ключ\\p{L}{0,2} (?:api|доступ\\p{L})',
		'Пароль | Кодовое слово | Код подтверждения | Код підтвердження',
		'Почтовый индекс | Ключевое слово | Код товара',
	],
	Greek: [
		'(?<!ταχυδρομικ\\p{L}{1,2} )κωδικ(?:ος|ο|ου|οι|ους|ων)|συνθηματικ\\p{L}{1,2}|αριθμ\\p{L}{1,2} (?:της )?καρτας|ημερομηνια γεννησης',
		'Κωδικός | Ποιος είναι ο κωδικός πρόσβασης;',
		'Ταχυδρομικός κώδικας | Ταχυδρομικός κωδικός | Πηγαίος κώδικας',
	],
	'Vietnamese and Indonesian': [
		'mat khau|ma (?:xac (?:minh|nhan|thuc)|otp|pin|bao mat|kich hoat)|so the (?:tin dung|ngan hang)|ngay sinh|kata (?:sandi|laluan|rahasia)|kode (?:verifikasi|otp|konfirmasi|keamanan|akses|rahasia)|nomor kartu|tanggal lahir',
		'Mật khẩu | Mã xác minh | Kata sandi | Kode verifikasi',
		'Mã bưu chính | Kata kunci | Kode pos',
	],
	Catalan: [
		"contrasenyes?|contrasenya|codi (?:de )?(?:verificacio|seguretat|confirmacio|d'acces)|data de naixement",
		'Contrasenya | Codi de verificació',
		'Codi postal',
	],
};

/** Scripts without spaces between words, or with particles joined to them. */
const STEMS_INSIDE: typeof STEMS = {
	'Arabic and Hebrew': [
		'كلمة (?:ال)?(?:مرور|سر)|الرقم السري|رمز (?:التحقق|التأكيد|الدخول|الأمان|المرور)|رقم (?:ال)?بطاقة|تاريخ الميلاد|סיסמ[האת]|קוד (?:ה)?אימות|קוד חד פעמי|קוד ש(?:נשלח|קיבלת|הגיע)|קוד סודי|מספר (?:ה)?כרטיס|תאריך (?:ה)?לידה',
		'كلمة المرور | ما هي كلمة السر؟ | رمز التحقق | סיסמה | מהי הסיסמה שלך? | קוד אימות',
		'الرمز البريدي | מיקוד',
	],
	Hindi: [
		'पासवर्ड|ओटीपी|कूटशब्द|(?:एसएमएस|सत्यापन|सुरक्षा)[^\\n]{0,12}कोड|जन्म ?(?:तिथि|तारीख)',
		'पासवर्ड | अपना पासवर्ड दर्ज करें | सत्यापन कोड',
		'पिन कोड | रंग',
	],
	Thai: ['รหัส ?(?:ผ่าน|ลับ|ยืนยัน|otp|pin)|เลข(?:ที่)?บัตร|วันเกิด', 'รหัสผ่าน | รหัสยืนยัน', 'รหัสไปรษณีย์ | สี'],
	Chinese: [
		'密码|密碼|口令|验证码|驗證碼|校验码|密钥|密鑰|私钥|卡号|卡號|[四五六八468] ?位(?:数|數)?字|(?:收到|短信)[^\\n]{0,8}(?:数字|代码)|出生日期|身份证|身分證',
		'密码 | 短信验证码 | 六位数字',
		'邮政编码 | 源代码 | 门的颜色',
	],
	Japanese: [
		'パスワード|パスコード|暗証番号|合言葉|認証コード|確認コード|認証番号|ワンタイム|秘密鍵|カード番号|生年月日',
		'パスワード | ログインのパスワードを入力してください | 暗証番号は? | 認証コード',
		'郵便番号 | 色',
	],
	Korean: [
		'비밀 ?번호|패스워드|암호(?!화)|인증 ?(?:번호|코드)|보안 ?코드|카드 ?번호|생년월일',
		'비밀번호 | 비밀번호를 입력하세요 | 인증번호',
		'암호화폐 이름 | 우편번호',
	],
};

const rulesOf = (table: typeof STEMS, patternOf: (stems: string) => RegExp): SecretRule[] =>
	Object.entries(table).map(([language, [stems, yes, no]]) => ({
		name: `secret in ${language}`,
		pattern: patternOf(stems),
		yes: list(yes),
		no: list(no),
	}));

/** Secrets in other languages than English. */
export const SECRET_STEMS: readonly SecretRule[] = [...rulesOf(STEMS, words), ...rulesOf(STEMS_INSIDE, inside)];
