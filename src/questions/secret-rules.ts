import { inside, words } from './matching-text.ts';

/*
 * Patterns match `matchingText`: lower case, no accents, no hyphens. The tests have titles for each rule and each harmless
 * phrase.
 */

/** By kind of secret: how it is named in English. */
const ENGLISH: Readonly<Record<string, string>> = {
	password:
		'passwords?|passw|passwd|pwd|pws?|pass ?codes?|pass ?phrases?|credentials|(?:your|admin|root) log ?in(?! (?:page|form|flow|button|screen|name|test))|(?:login|log in|sign in|account) (?:details|data|credentials)|(?:user ?names?|users?|login|e ?mail|id) ?(?:and|&|\\+|/|or|und|y|et) ?(?:the |your |my )?pass',
	'one-time code':
		'otp|totp|2fa|mfa|(?:two|2nd|second) factor|(?:one time|single use|verification|verify|authentication|authenticator|auth|security|confirmation|login|log in|sign in|access|sms|e ?mail|text message|backup|recovery|unlock|activation|reset|mfa|2fa|otp|pairing|invite only|temporary|(?:three|four|five|six|eight|\\d{1,2}) ?(?:digits?|figures?))(?: \\p{L}+)? (?:code|codes|number|passcode)|codes? (?:that )?(?:we|i|they|you|was|were|just|has been|sent|received)(?: \\p{L}+)? ?(?:sent|send|texted|e ?mailed|received?|get|got|messaged|to you)?|(?:codes?|numbers?)(?: shown| displayed)? (?:from|in|on)(?: the| your| my)? (?:authy|sms|text message|phone|texts?|e ?mail|app|message|letter|bank|device)|(?<!(?:to|by|than|least|most|many|have|has) )(?:three|four|five|six|seven|eight|\\d{1,2}|the|those|these) digits(?! (?:long|after|or|of (?!(?:the |your |that |my )?(?:code|card|sms|text|message|token|pin|account|key|phone))))|what(?: (?:did|does|was in|is in|stands in))?(?: the| your| this| that)* (?:sms|text message|authenticator)(?: says?| said| reads?| shows?)?|(?:type|enter|use|press) to (?:unlock|log ?in|sign ?in)|what (?:unlocks|decrypts)|sms (?:you|contents?)|(?:came|arrived|received|got|sent) (?:by|via|per) sms|(?:door|gate|alarm|garage|entry|entrance|entrance door|building|house|lock(?:er|box)?|bike lock|safe|vault|unlock|keypad|intercom) (?:codes?|combinations?|patterns?)|magic (?:login |sign in )?links?',
	PIN: 'pin|pins|puk|pin ?codes?|pin ?numbers?',
	'key or token':
		'(?:api|secret|private|access|ssh|gpg|license|licence|activation|encryption|decryption|signing|unseal|deploy|recovery|product|service account|master) ?keys?|token|(?:access|auth|authentication|authorization|api|bearer|refresh|session|security|bot|oauth|jwt) tokens|(?:client|app|shared|api|webhook|consumer|signing) secrets?|secret (?:answer|phrase|words?|token|code)|(?:session|auth|login|browser|site|website|csrf) cookies?|cookie (?:values?|headers?|strings?|exports?|files?)|cookies\\.txt|(?:paste|copy|export)(?: the| your| a| all)? cookies?|bearer (?:tokens?|headers?|values?|auth\\p{L}*)|(?:paste|copy|send|enter|provide|need)(?: the| your| a)? bearer|authorization headers?|(?:wi ?fi|wlan|wpa2?|router|hotspot) (?:keys?|pass|codes?|kode?n?|psk)|network keys?|psk|\\.env|(?:env|environment) (?:files?|vars?|variables?)|connection (?:strings?|ur[il]s?)|(?:database|db|jdbc|redis|postgres|mongo ?db|amqp) ur[il]s?|kubeconfigs?|dsn|apikey|jwts?|id (?:rsa|dsa|ecdsa|ed25519)',
	'payment card or account':
		"(?:credit |debit |payment |bank |gift )?card'?s? (?:numbers?|no|nr|details|data|information|info|credentials|codes?|pin|cvv|cvc|expiry|expiration)|cvv2?|cvc2?|card verification|(?:bank account|routing) numbers?|iban|bank(?:ing)? (?:details|credentials)",
	'wallet phrase':
		'(?:seed|recovery|mnemonic|backup|wallet) (?:phrases?|words?|seeds?)|seed|mnemonic|phrase (?:that )?you (?:chose|set|picked|wrote down)',
	identity:
		"ssn|your birthday|insurance numbers?|tax id|sort codes?|(?:last|first) (?:four|4|digits) of (?:your|my|the|their) (?:social|ssn)|social security (?:number|no|nr)|(?:national insurance|national id|aadhaar|nhs|passport|tax id|taxpayer|tax identification|driver'?s? licen[cs]e) (?:number|no|nr|id)|(?:date|place) of birth|birth ?dates?|dob|(?:security|secret) (?:questions?|answers?)|mother's maiden name|maiden name",
};

/** What a person reads from a message: a code, digits. */
const READ_OUT =
	'codes?|kode?n?|kod\\p{L}{1,4}|codigos?|codic[ei]|codul|codi|koodi\\p{L}{0,2}|код\\p{L}{0,3}|κωδικ(?:ος|ο)|digits|numbers|characters|letters|zahl(?:en)?|ziffern?|chiffres|numeros|digitos|cifr[ae]s?|cijfers|siffror\\p{L}{0,2}|cyfr\\p{L}|цифр\\p{L}{0,2}|rakam\\p{L}{0,3}|angka';
/** How it comes: by message, or to a phone. */
export const CAME_BY =
	'sms\\p{L}*|смс\\p{L}*|text message|text(?:s|ed)? (?:you|me)|textnachricht|tekstiviest\\p{L}*|authenticator|bank ?id|(?:banking|bank|tan) app|app (?:of|from) (?:the|your) bank|puhelim\\p{L}{1,6}|(?:from|in|on|to|auf|an|sur|en|a|al|no|em|sul|pa|til|naar|op|na|на|din|ke|di) (?:\\p{L}+ )?(?:phone|mobile|cell|handy|telefon\\p{L}{0,3}|telephone|portable|movil|celular|cellulare|telefoon|mobiel|mobil\\p{L}{0,3}|ponsel|hp|телефон\\p{L}{0,2})|telefonun\\p{L}{0,6}|пришло сообщение';

/** By language: stems as whole words with their endings. */
const STEMS: typeof ENGLISH = {
	'many languages': `(?:${READ_OUT})(?:,? \\p{L}+){0,5} (?:${CAME_BY})|(?:${CAME_BY})(?: \\p{L}+){0,5} (?:${READ_OUT})|(?:${READ_OUT}),? (?:you|que|che|die (?:je|u)|som du|den (?:du|sie)|ktory|ktery|котор\\p{L}{2}|якии|yang|care)|(?:haustur|tur|tor|schlie(?:ß|ss)fach|tresor|deur|kluis|port|dor|las|domofon) ?[ck]od(?:e|en)?|[ck]od\\p{L}{0,4} (?:del?|della|der|du|do|da|de la|de l'|a la|zu[rm]|till?|od|do|к|от|для) ?(?:portail|portal|portao|portone|porta|puerta|porte|allarme|alarm\\p{L}{0,8}|immeuble|domofonu|домофона|двери|сеифа|coffre|haustur)|digicode|what(?: \\p{L}+){0,4} (?:sen[dt]|came|come|arrived?|got|get)(?: \\p{L}+){0,2} (?:${CAME_BY})|(?:combinaison|combinacion|combinazione|kombination) (?:del?|della|du|de la|des|vom|zum) (?:coffre|caja|cassaforte|tresors?|safes?|cadenas|candado)`,
	'other languages':
		'лозинк\\p{L}|(?:lozin|zapor)[ck]\\p{L}{1,2}|gesl[oa]|parool\\p{L}{0,2}|paroles?|slaptazod\\p{L}{1,4}|lykilor[dð]\\p{L}{0,2}|fjalekalim\\p{L}{0,2}|pasahitz\\p{L}{0,3}|nenosiri|contrasinal|cyfrinair',
	German:
		'\\p{L}{0,20}(?:passwor|kennwor|losungswor)[td]\\p{L}{0,3}|geheim(?:zahl|nummer|wort)|zugangsdaten|(?:bestatigungs|sicherheits|einmal|verifizierungs|zugangs|anmelde|freischalt|aktivierungs|pruf|tan|pin) ?(?:code|kode|passwort|ziffer|nummer)|(?:m ?|push ?)tan|(?:eine?|die|der|deine|ihre|neue) tan|(?:zahl|zahlen|ziffern|nummer|code) (?:aus|in|von|auf)(?: \\p{L}+)? (?:app|handy|telefon|bank)|code aus(?: \\p{L}+)? (?:e ?mail|nachricht|brief)|(?:api|wlan|wi ?fi|privater?) schlussel|(?:konto|karten|kreditkarten|sozialversicherungs|reisepass|ausweis)nummer|kreditkarten?daten|steuer ?(?:id|nummer)|(?:drei|vier|funf|sechs|acht|\\d{1,2}) (?:ziffern|zahlen)|geburts(?:datum|tag und ort)|zweite[rn]? faktor',
	French:
		"mots? (?:de passe|secrets?)|mdp|numero de securite sociale|identifiants|code (?:secret|confidentiel|pin|d'acces|recu|envoye|par sms|de (?:verification|securite|confirmation|validation|connexion|la carte)|a usage unique|a (?:quatre|six|\\d) chiffres|que (?:vous|tu))|cle (?:api|secrete|privee|d'acces|wi ?fi)|phrase (?:secrete|de recuperation)|numero de (?:compte|(?:la )?carte)|cryptogramme|(?:trois|quatre|six|\\d) chiffres|date de naissance|second facteur",
	Spanish:
		'contrasenas?|credenciales|dni|clave (?:que|de acceso|secreta|privada|api|del wi ?fi)|(?:palabra|frase) (?:secreta|de recuperacion|semilla)|codigo (?:secreto|pin|recibido|enviado|por|que|de (?:verificacion|seguridad|confirmacion|acceso|un solo uso))|(?:cuatro|seis|\\d) (?:cifras|digitos)|numero de (?:cuenta|(?:la |su |tu )?tarjeta)|fecha de nacimiento|segundo factor',
	Italian:
		"credenziali|codice fiscale|codic[ei] (?:segreto|pin|ricevut[oi]|inviat[oi]|che|di (?:verifica|sicurezza|accesso|conferma|autenticazione)|d'accesso|monouso)|parola (?:segreta|d'ordine)|chiave (?:api|segreta|privata|di accesso)|frase segreta|numero (?:del conto|di conto|(?:della|di) carta)|data di nascita",
	Portuguese:
		'senhas?|cpf|palavras? passe|codigo (?:secreto|pin|recebido|enviado|de (?:verificacao|seguranca|confirmacao|acesso))|chave (?:de acesso|privada|secreta|api)|numero do cartao|data de nascimento',
	Dutch:
		'wachtwoord\\p{L}{0,2}|bsn|(?:inlog|verificatie|bevestigings|beveiligings|toegangs|pin) ?codes?|(?:kaart|creditcard|rekening|burgerservice)nummer|geboortedatum',
	'Swedish, Danish and Norwegian':
		'losenord\\p{L}{0,3}|losen till|passord\\p{L}{0,3}|adgangskode\\p{L}{0,2}|kodeord\\p{L}{0,2}|(?:engangs|verifierings|verifikations|sakerhets|sikkerheds|sikkerhets|bekraftelse|bekr(?:ae|æ)ftelses|bekreftelses|inloggnings|pin) ?kode?\\p{L}{0,2}|kort(?:nummer|numret)|personnummer|fodelsedatum|f[oø]dselsdato',
	Finnish:
		'salasana\\p{L}{0,5}|(?:vahvistus|turva|kerta|kirjautumis|tunnistautumis|pin) ?koodi\\p{L}{0,3}|tunnuslu(?:ku|vu)\\p{L}{0,3}|henkilotunnus|syntymaaika',
	Polish:
		'has[lł](?:o|a|em|u)|kod(?:u|em)? (?:z sms|weryfikac?[yj]\\p{L}{1,5}|jednorazow\\p{L}{1,3}|dostepu|potwierdz\\p{L}{1,8}|pin|autoryz\\p{L}{1,8})|jednorazow\\p{L}{1,3} kod\\p{L}{0,3}|numer\\p{L}{0,2} (?:karty|konta)|pesel|data urodzenia|klucz (?:api|prywatny)',
	'Czech and Slovak':
		'hesl(?:o|a|em|u)|(?:overovaci|overovac|jednorazov|bezpecnostni|potvrzovaci|prihlasovaci)\\p{L}{0,3} kod\\p{L}{0,2}|pin kod|cislo (?:karty|uctu)|rodne cislo|datum narozeni',
	Hungarian:
		'jelsz(?:o|av)\\p{L}{0,8}|(?:megerosito|ellenorzo|egyszeri|biztonsagi|belepesi|pin) kod\\p{L}{0,4}|kartyaszam\\p{L}{0,3}|szuletesi datum',
	Romanian:
		'parola|parolei|cod(?:ul)? (?:de (?:verificare|securitate|confirmare|acces)|pin|primit|trimis|secret)|numarul cardului|data nasterii',
	Turkish:
		'[sş]ifre\\p{L}{0,8}|parola(?:s[iı]\\p{L}{0,3}|n[iı]z|m[iı]z|y[iı]|n[iı])|(?:do[gğ]rulama|onay|g[uü]venlik|giri[sş]|tek kullan[iı]ml[iı]k) kod\\p{L}{0,6}|kart numara\\p{L}{0,5}|do[gğ]um tarihi\\p{L}{0,3}',
	'Russian and Ukrainian':
		'парол\\p{L}{1,3}|(?:кодов|секретн|контрольн)\\p{L}{1,3} (?:слов|код|фраз|вопрос|ключ)\\p{L}{0,3}|код\\p{L}{0,3}(?: (?:из|от|для|з|із|від))? (?:подтвержд|доступ|безопасн|авториз|проверк|підтвердж|безпек|банк)\\p{L}{0,8}|одноразов\\p{L}{2,3} код\\p{L}{0,3}|п[иі]н ?код\\p{L}{0,3}|номер\\p{L}{0,2} карт\\p{L}{1,3}|дат\\p{L} (?:рождения|народження)|номер\\p{L}{0,2} паспорт\\p{L}{1,3}|ключ\\p{L}{0,2} (?:api|доступ\\p{L})',
	Greek:
		'(?<!ταχυδρομικ\\p{L}{1,2} )κωδικ(?:ος|ο|ου|οι|ους|ων)|συνθηματικ\\p{L}{1,2}|αριθμ\\p{L}{1,2} (?:της )?καρτας|ημερομηνια γεννησης',
	'Vietnamese and Indonesian':
		'mat khau|ma (?:xac (?:minh|nhan|thuc)|otp|pin|bao mat|kich hoat)|so the (?:tin dung|ngan hang)|ngay sinh|kata (?:sandi|laluan|rahasia)\\p{L}{0,3}|kode (?:verifikasi|otp|konfirmasi|keamanan|akses|rahasia)|nomor kartu|tanggal lahir',
	Catalan: "contrasenyes?|contrasenya|codi (?:de )?(?:verificacio|seguretat|confirmacio|d'acces)|data de naixement",
};

/** Scripts without spaces between words, or with particles joined to them. */
const STEMS_INSIDE: typeof ENGLISH = {
	'Arabic and Hebrew':
		'كلمة (?:ال)?(?:مرور|سر)|الرقم السري|رمز (?:التحقق|التأكيد|الدخول|الأمان|المرور)|رقم (?:ال)?بطاقة|تاريخ الميلاد|סיסמ[האת]|קוד (?:ה)?אימות|קוד חד פעמי|קוד ש(?:נשלח|קיבלת|הגיע)|קוד סודי|מספר (?:ה)?כרטיס|תאריך (?:ה)?לידה',
	Hindi: 'पासवर्ड|ओटीपी|कूटशब्द|(?:एसएमएस|सत्यापन|सुरक्षा)[^\\n]{0,12}कोड|जन्म ?(?:तिथि|तारीख)',
	Thai: 'รหัส ?(?:ผ่าน|ลับ|ยืนยัน|otp|pin)|เลข(?:ที่)?บัตร|วันเกิด',
	Chinese:
		'密[码碼](?!功能|策略|长度|强度|管理|页|字段)|口令|验证码|驗證碼|校验码|密钥|密鑰|私钥|卡号|卡號|[四五六八468] ?位(?:(?:数|數)?字|码)|(?:收到|短信)[^\\n]{0,8}(?:数字|代码)|出生日期|身份证|身分證',
	Japanese:
		'[四六八468] ?桁の?(?:番号|数字|コード)|届いた[^\\n]{0,8}(?:番号|コード|数字)|パスワード|パスコード|暗証番号|合言葉|認証コード|確認コード|認証番号|ワンタイム|秘密鍵|カード番号|生年月日',
	Korean:
		'비밀 ?번호|패스워드|암호(?!화)|문자로[^\\n]{0,6}(?:번호|숫자|코드)|인증 ?(?:번호|코드)|보안 ?코드|카드 ?번호|생년월일',
};

const rulesOf = (table: typeof ENGLISH, patternOf: (stems: string) => RegExp) =>
	Object.entries(table).map(([name, stems]) => ({ name, pattern: patternOf(stems) }));

/** How secrets are named: each kind in English, or any kind in another language. */
export const SECRET_RULES = [...rulesOf(ENGLISH, words), ...rulesOf(STEMS, words), ...rulesOf(STEMS_INSIDE, inside)];

/** Titles that are secret only as a whole. */
export const WHOLE_TITLES =
	/^(?:(?:please )?(?:enter|type|provide|input) |what is |what's )?(?:(?:the|your|a|my) )?(?:code|secret|tan|m ?tan|pass|cookies?|bearer|(?:credit |debit |payment |bank )?card|credentials?|clave|code secret)$/;

/** Phrases that are removed before the rules are tried. */
export const HARMLESS_PHRASES: readonly RegExp[] = [
	words(
		'(?:password|passcode|passwort|passphrase) (?:managers?|polic(?:y|ies)|rules?|length|requirements?|strength|protected|protection|generators?|rotation|reset(?! (?:code|token|pin|link)))|(?:(?:should|shall|may|can) i|do you want(?: me)? to|would you like(?: me)? to) (?:reset|change|update|save|store|remember|rotate|resend|request)(?: (?:the|your|my|their|a|an|new|old|this))* (?:passwords?|passwort|codes?|(?:verification|security|confirmation|one time) code|pin|token|api key)|(?:how should i receive|where should i send)(?: the| a| your)?(?: \\p{L}+){0,3} code',
	),
	words(
		'tokens? (?:of|limits?|counts?|budgets?|usage|symbols?|names?|prices?|amounts?|supply|contracts?|standards?|sales?|rings?|swaps?)|(?:which|per|max|maximum|how many|number of|crypto|erc ?20|nft|utility|governance|subway) tokens?',
	),
	words(
		'(?<!(?:the|your|my|a|digit|card|sim|enter|phone) )pin (?:it|this|that|the|a|to|up|boards?|locations?|points?|messages?|posts?|colou?rs?|designs?|badges?)|(?:map|location|drop a|dropped|bowling|safety|lapel|rolling|hair|enamel|push|gpio|header) pins?',
	),
	words(
		'(?:2fa|mfa|otp|totp|two factor(?: authentication)?) (?:apps?|methods?|options?|types?|channels?|settings?|setup)|(?:enable|disable|set ?up|activate|turn on|turn off|support) (?:2fa|mfa|totp|two factor(?: authentication)?)',
	),
	words(
		'(?:api|access|ssh) keys? (?:names?|labels?|types?|permissions?|scopes?)|(?:env|environment) (?:files?|vars?|variables?) (?:names?|formats?|locations?)|(?:cover|review|refactor)(?: the)? (?:login|auth|authentication|security) code|parol[ae] chiave|(?:length|strength|format|lifetime|kind|type|label)s? of(?: the| a| our)? (?:password|passcode|pin|token|key|code)s?|(?:send|resend|request)(?: (?:you|them|her|him|a|an|the|new|another))* magic links?|(?:random|database) seeds?|seeds? (?:for the random|data|values?|rounds?|funding)|(?:names?|labels?) (?:of|for) (?:the|a|an|your|this)(?: new)?(?: api| access| ssh| secret)? (?:keys?|tokens?|secrets?)|(?:quale|che|una|ogni|questa) parola(?! (?:segreta|d))',
	),
];
