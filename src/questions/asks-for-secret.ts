import { atOnce } from '../core/slices.ts';
import { IN_SENTENCE, inside, matchingText, readingsOf, withoutFinalMarks, words, wordsOr } from './matching-text.ts';
import type { ItemTexts } from './session.ts';

/* Patterns match `matchingText`: lower case, no accents, no hyphens. */

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
const CAME_BY =
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
const WHOLE_TITLES =
	/^(?:(?:please )?(?:enter|type|provide|input) |what is |what's )?(?:(?:the|your|a|my) )?(?:code|secret|tan|m ?tan|pass|cookies?|bearer|(?:credit |debit |payment |bank )?card|credentials?|clave|code secret)$/;

/** Phrases that are removed before the rules are tried. */
export const HARMLESS_PHRASES = [
	'(?:password|passcode|passwort|passphrase) (?:managers?|polic(?:y|ies)|rules?|length|requirements?|strength|protected|protection|generators?|rotation|reset(?! (?:code|token|pin|link)))|(?:(?:should|shall|may|can) i|do you want(?: me)? to|would you like(?: me)? to) (?:reset|change|update|save|store|remember|rotate|resend|request)(?: (?:the|your|my|their|a|an|new|old|this))* (?:passwords?|passwort|codes?|(?:verification|security|confirmation|one time) code|pin|token|api key)|(?:how should i receive|where should i send)(?: the| a| your)?(?: \\p{L}+){0,3} code',
	'tokens? (?:of|limits?|counts?|budgets?|usage|symbols?|names?|prices?|amounts?|supply|contracts?|standards?|sales?|rings?|swaps?)|(?:which|per|max|maximum|how many|number of|crypto|erc ?20|nft|utility|governance|subway) tokens?',
	'(?<!(?:the|your|my|a|digit|card|sim|enter|phone) )pin (?:it|this|that|the|a|to|up|boards?|locations?|points?|messages?|posts?|colou?rs?|designs?|badges?)|(?:map|location|drop a|dropped|bowling|safety|lapel|rolling|hair|enamel|push|gpio|header) pins?',
	'(?:2fa|mfa|otp|totp|two factor(?: authentication)?) (?:apps?|methods?|options?|types?|channels?|settings?|setup)|(?:enable|disable|set ?up|activate|turn on|turn off|support) (?:2fa|mfa|totp|two factor(?: authentication)?)',
	'(?:api|access|ssh) keys? (?:names?|labels?|types?|permissions?|scopes?)|(?:env|environment) (?:files?|vars?|variables?) (?:names?|formats?|locations?)|(?:cover|review|refactor)(?: the)? (?:login|auth|authentication|security) code|parol[ae] chiave|(?:length|strength|format|lifetime|kind|type|label)s? of(?: the| a| our)? (?:password|passcode|pin|token|key|code)s?|(?:send|resend|request)(?: (?:you|them|her|him|a|an|the|new|another))* magic links?|(?:random|database) seeds?|seeds? (?:for the random|data|values?|rounds?|funding)|(?:names?|labels?) (?:of|for) (?:the|a|an|your|this)(?: new)?(?: api| access| ssh| secret)? (?:keys?|tokens?|secrets?)|(?:quale|che|una|ogni|questa) parola(?! (?:segreta|d))',
];

/** Words that ask the reader for something, before or after its name. */
const VERBS =
	'please|enter|provide|type|give|forward|send|share|supply|paste|input|insert|submit|reply|respond|fill|tell|need|hand|drop|pass (?:me|on|over)|read (?:me|out)|let (?:me|us) know|bitte|gib|geben|nenne|sag|brauche|lautet|introduce|introduzca|ingres[ae]|escrib[ae]|indi[cq]u?[ae]|envi[ae]|pas[ae]|dime|dame|necesito|saisi[rs]|saisissez|entrez|indiquez|donnez|envoyez|tapez|dis|il (?:me|nous) faut|besoin|inserisci|digita|scrivi(?:lo)?|invia|dammi|dimmi|(?:mi|ci) serv(?:e|ono)|introduza|insira|digite|informe|diga|preciso|voer|vul|geef|stuur|nodig|ange|skriv|skicka|behover|indtast|oplys|trenger|anna|syota|kirjoita|kerro|tarvitsen|podaj|wpisz|wprowadz|potrzebuj\\p{L}|zadejte|zadajte|napiste|potrebuj\\p{L}|introdu|introduceti|scrie|trimite|nevoie|introdueix|introduiu|escriu|введите|напишите|укажите|пришлите|назовите|сообщите|отправьте|скажите|нуж\\p{L}{2,3}|введіть|напишіть|надішліть|вкажіть|потріб\\p{L}{2,3}|δωστε|εισαγετε|γραψτε|πειτε|στειλτε|χρειαζομαι|nhap|vui long|masukkan|kirimkan|berikan|sebutkan|tolong|butuh';
/** Those that stand after it, or on either side: what is missing, and what somebody waits for. */
const VERBS_AFTER =
	'eingeben|nennen|schicken|mitteilen|girin(?:iz)?|yaz(?:in(?:iz)?|ar)|gerek\\p{L}{0,4}|lazim|adja meg|add meg|irja be|kell|(?:is|are) (?:needed|required|missing|mandatory|obligatory)|(?:please|bitte)(?= ?[.!]|$)|(?:wait|waiting|hold|stuck) (?:for|on|until)|until i (?:have|get)|fehl(?:t|en)|warte auf|manque|falta\\p{L}?|manca|ontbreekt|saknas|mangler|puuttuu|brakuje|chybi|hianyzik|lipseste|не хватает';
const IN_OTHER_SCRIPTS =
	'入力|教え|ください|必要|请|請|告诉|告訴|需要|입력|알려|보내|필요|กรอก|ใส่|ป้อน|ต้องการ|दर्ज|बताइए|चाहिए|ادخل|ارسل|أدخل|أرسل|أحتاج|הזן|הזיני|הכנס|שלח|צריך';
/** What somebody else wants, as an agent reports it. */
const WANTED =
	'needs|needed|requires?|required|asks?|asking|asked|wants?|expects|except|verlangt|braucht|fragt|demande|exige|pide|solicita|chiede|richiede|pede|vraagt|просит|требует';

/** A sentence with such a word asks for something, so it does not only mention the name of a secret. */
const ASKS = wordsOr(`${VERBS}|${VERBS_AFTER}|${WANTED}|what`, IN_OTHER_SCRIPTS);
const ALL_VERBS = new RegExp(words(VERBS), 'gu');
/** Asks the reader: "to enter" and "I sent" tell of something else. */
const REQUESTS = words(`(?<!(?:to|i|we|you|they|it|should|shall) )(?:${VERBS})|(?:i|we) (?:still |also )?need`);
/** Asks for what the sentence before names. */
const REQUESTS_IT = words(
	`(?<!(?:to|i|we|you|they|it|should|shall) )(?:${VERBS})(?: me| us)? (?:it|one|them|both|this|that|these|those|here|below)|(?:do|can|could|would|did|have) you(?: \\p{L}+){1,3} (?:it|one|them|that)|(?:got|have) (?:it|them|an?|the \\p{L}+ one)(?= ?[?])|(?:it|them|one) (?:here|to me|in|out|over|below)|(?:vous l'avez|tu l'as|l[oa] (?:tienes?|sabes?|sai|hai|tem)|(?:hast|kennst|wei(?:ß|ss)t) du (?:ihn|sie|es|das))`,
);
const REQUESTS_AFTER = wordsOr(VERBS_AFTER, IN_OTHER_SCRIPTS);

/** The words of a sentence that asks for what stands before it: "A code was sent. What is it?", "Dis-moi ce qu'il contient." */
const LITTLE = new Set(
	matchingText(
		"what which is are was were does did it its they them both this that these those one the all me us you your can could would will read say says said show shows see got get have let know here below in to out back over now just so and then with pass want wait waiting for i i'm am we box cannot can't continue go on proceed without help thanks number numbers digits code codes new again another correct новый другой neues nuevo nueva nouveau mind sharing came come arrived content contents message welche welcher welches welchen wie lauten ist sind steht drin darin da der die das den es sie er ihn mir uns nenn nennen schick schicken sagen kannst konntest du ich warte darauf quel quelle quels quelles est sont ce que qu'il il elle ils contient dit moi donne donner envoie envoyer pouvez vous peux tu le la les je l'attends c'est quoi cual cuales son dice pone trae lo los las dimelo damelo puedes dar decir por favor aqui espero numeros qual quais e o a os as diz pode passar mandar quale quali cosa c'e scritto puoi dire dare dimmelo dimmela per favore qui wat welke zijn staat erin het ze hem mij kun alsjeblieft ik wacht erop vad hva hvad star det dem mig meg jag jeg vantar venter pa kan co jakie jaki jaka jaky sa jest mi czekam na cekam nej posli какие какой каков что там это он она они его ее их мне жду в нем сюда які який що це вони його їх чекаю nedir ne yaziyor onlar bana soyle 是多少 是什么 何ですか пожалуйста alstublieft prosze prosim lutfen 教えてください 请告诉我 무엇인가요 se minulle mika",
	).split(' '),
);
/** Named before a sentence of `LITTLE` words, which then asks for its contents. */
const CAME = words(
	`${CAME_BY}|(?:an?|une?|una|einen?|ett|een|en|et) (?:\\p{L}+ )?(?:codes?|codigo|codice|kode?)|kod\\p{L}{0,2}|код`,
);

/** "The site needs no password", "I never ask for one". */
const NEGATED = words(
	"(?:never|not|[a-z]{2,6}n't|nicht|nie)(?: \\p{L}+){0,2} (?:ask|need|require|enter|send|share|type|provide|tell|give|use|brauch|frag)\\p{L}*(?: \\p{L}+){0,4}|(?:no|kein\\p{L}{0,2})(?: \\p{L}+){1,2}",
);
/** "I went on without the password"; "I cannot without it" is different. */
const WITHOUT = words('(?:without|ohne|sans|sin|senza|sem)(?: \\p{L}+){1,2}');
const CANNOT = words("cannot|not|[a-z]{2,6}n't|stuck|nicht|kein\\p{L}{0,2}|ne|n'\\p{L}+|pas|no|non|nao");

/** Where a sentence turns from what it tells to what it asks: "The password is new, which colour?" */
const BEFORE_ASKING = new RegExp(
	`(?:[,:;] | (?=(?:and|but|so|und|et|y|e) ))(?=(?:(?:and|but|so|now|then|und|et|y|e) ){0,9}(?:which|who|where|when|how|should|shall|do|does|can you|could you|i need|welche|was|wie|soll|quel|que|cual|como|qual|${VERBS}|what)(?![\\p{L}\\p{N}]))`,
	'u',
);
/** Asks what to do, not for a thing. */
const ASKS_WHAT_TO_DO = words('^(?:so |now |and )*(?:should|shall|does|(?:may|can) (?:i|we)(?! (?:have|get|know)))');
/** Tells what was done. */
const TELLS = words(
	"^(?:- )?(?:(?:i|we)(?:'ve| have| had)? )?\\p{L}+ed|(?:i|we)(?:'ve| have(?! to)| had(?! to)| sent| wrote| set| put)|(?:is|are|was|were|been) (?:\\p{L}+ed|done|ready|set|sent|new|gone)",
);

/** A text of at most this many words names what is asked for. */
const MAX_LABEL_WORDS = 6;

/** Several rules ask about one item, and of a long one it takes milliseconds. */
const found = new WeakMap<ItemTexts, boolean>();

/** Whether the title names a secret or the description asks for one; true in doubt, because a masked answer costs little. */
export function looksSecret(item: ItemTexts): boolean {
	return item.isCut === true || (found.get(item) ?? atOnce(examineItem(item)));
}

/** `looksSecret`, which remembers what this finds. */
export function* examineItem(item: ItemTexts): Generator<void, boolean> {
	const looks = (yield* isSecretTitle(item.title)) || (yield* asksAbove(item.description));
	found.set(item, looks);
	return looks;
}

function* isSecretTitle(text: string): Generator<void, boolean> {
	const readings = readingsOf(text);
	for (const reading of readings ?? []) {
		const title = withoutHarmless(reading);
		yield;
		if (WHOLE_TITLES.test(withoutFinalMarks(title)) || (yield* namesSecret(title))) return true;
	}
	return readings === null;
}

/**
 * Whether a text of several sentences asks for a secret: one that names it requests it, or neither it tells what was done
 * nor a later one asks for something else. "What is it?" asks for what the sentence before names. True when it is too long.
 */
export function* asksAbove(text: string): Generator<void, boolean> {
	const readings = readingsOf(text);
	for (const reading of readings ?? []) {
		yield;
		if (yield* requestsSecret(withoutHarmless(reading))) return true;
	}
	return readings === null;
}

function* requestsSecret(text: string): Generator<void, boolean> {
	if (isLabel(text) && !/[.;,。、，]/.test(text) && !OFFERS_CHOICE.test(text) && !ASKS_WHAT_TO_DO.test(text))
		return yield* namesSecret(text);
	const sentences = sentencesOf(text);
	yield;
	const lastOther = sentences.findLastIndex((one) => !isPiece(one) && asksForIt(one) && !saysLittle(one));
	let list: RegExp | null = null;
	/** What "it" may mean: the sentence before, and of a long one all parts so far. */
	let before: string[] = [];
	for (const [at, sentence] of sentences.entries()) {
		yield;
		// The lines under "Please provide:" are asked for, those under "Choose one:" are not.
		if (sentence.endsWith(':\n')) list = [OFFERS_CHOICE, ASKS].find((kind) => kind.test(sentence)) ?? null;
		else if (!isLabel(sentence)) list = null;
		// What asks may be in another piece.
		if (isPiece(sentence)) list = ASKS;
		if (list === ASKS && (yield* namesSecret(sentence))) return true;
		const told = (CANNOT.test(sentence) ? sentence : sentence.replace(WITHOUT, ' _ ')).replace(NEGATED, ' _ ');
		if ((yield* namesAfter(REQUESTS, told)) || (REQUESTS_AFTER.test(told) && (yield* namesSecret(told)))) return true;
		if (ASKS.test(told) && WHOLE_TITLES.test(withoutFinalMarks(told.replaceAll(IN_SENTENCE, ' ')).trim())) return true;
		const named = saysLittle(sentence) || REQUESTS_IT.test(told) ? before.splice(0) : [];
		for (const one of named) if (CAME.test(one) || (yield* namesSecret(one))) return true;
		if (!isPiece(sentence)) before = [];
		before.push(sentence);
		if (list === OFFERS_CHOICE || OFFERS_CHOICE.test(told) || ASKS_WHAT_TO_DO.test(told)) continue;
		if (isQuestion(told) && (yield* namesSecret(told))) return true;
		if (at < lastOther) continue;
		// "I reached the checkout and all that remains is the CVC."
		const parts = asksForIt(told) ? [] : told.split(/,|;| (?:and|but|und|aber) (?=(?:\S+ ){3})/);
		for (const part of parts) if (!TELLS.test(part) && (yield* namesSecret(part))) return true;
		if (parts.length === 0 && (yield* namesAfter(ASKS, told))) return true;
	}
	return false;
}

function* namesAfter(asks: RegExp, sentence: string): Generator<void, boolean> {
	const at = sentence.search(asks);
	return at !== -1 && (yield* namesSecret(sentence.slice(at)));
}

/** Whether a sentence only asks for what stands before it. */
function saysLittle(sentence: string): boolean {
	const others = sentence.replace(ALL_VERBS, ' ').match(/[\p{L}']+/gu) ?? [];
	return /\p{L}/u.test(sentence) && !ASKS_WHAT_TO_DO.test(sentence) && others.every((word) => LITTLE.has(word));
}

const isPiece = (sentence: string) => sentence.includes(IN_SENTENCE);

function isLabel(text: string): boolean {
	return text.trim().split(' ').length <= MAX_LABEL_WORDS;
}

const OFFERS_CHOICE = words('options?|one of|choose|pick|select|either|or');

function asksForIt(sentence: string): boolean {
	return ASKS.test(sentence) || isQuestion(sentence);
}

function isQuestion(sentence: string): boolean {
	return /[?؟？]\s*$/.test(sentence) && !OFFERS_CHOICE.test(sentence);
}

const ALL_HARMLESS = HARMLESS_PHRASES.map((source) => new RegExp(words(source), 'gu'));

function withoutHarmless(text: string): string {
	return ALL_HARMLESS.reduce((left, pattern) => left.replaceAll(pattern, ' _ '), text);
}

/** It yields between rules: the first use of a pattern takes milliseconds. */
function* namesSecret(text: string): Generator<void, boolean> {
	for (const [at, { pattern }] of SECRET_RULES.entries()) {
		if (pattern.test(text)) return true;
		if (at % 8 === 0) yield;
	}
	return false;
}

function sentencesOf(text: string): string[] {
	// A full stop inside a word (".env", "cookies.txt") does not end a sentence.
	const sentences = text.match(/(?:[^.!?;؟。\n]|[.!?](?!\s|$))+[.!?;؟。\n]?/g) ?? [];
	const marked = (sentence: string, part: string) => (isPiece(sentence) ? IN_SENTENCE : '') + part.trimStart();
	return sentences.flatMap((sentence) => sentence.split(BEFORE_ASKING).map((part) => marked(sentence, part)));
}
