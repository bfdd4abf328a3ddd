/** By the language of the stems: titles that ask for a secret, and similar ones that do not. */
export const STEM_TITLES: Readonly<Record<string, readonly [yes: string, no: string]>> = {
	'many languages': [
		'Zahl aus der SMS | Code, den du per SMS bekommen hast | Código que llegó por SMS | SMS ile gelen kod | Код из СМС',
		'Text der SMS | Wann soll die SMS kommen? | Kod pocztowy | Código postal y teléfono | Kod pocztowy i numer telefonu',
	],
	'other languages': [
		'Lozinka | Geslo za portal | Parool | Slaptažodis | Lykilorð | Парола',
		'Poštanski broj | Poštna številka',
	],
	German: [
		'Passwort | Bitte Kennwort eingeben | Bestätigungscode | mTAN | API-Schlüssel | Kreditkartennummer | Geburtsdatum',
		'Schlüsselwort | Kartendesign | Anzahl der Karten | Geburtstag von Anna',
	],
	French: [
		'Mot de passe | Code de vérification | Quel est le code reçu ? | Clé API | Numéro de carte | Date de naissance',
		'Code postal | Mot clé | Numéro de la chambre',
	],
	Spanish: [
		'Contraseña | CONTRASEN\u0303A | Código de verificación | El código que recibiste | Clave de acceso | Número de tarjeta',
		'Código postal | Palabra clave | El tema clave',
	],
	Italian: [
		'Codice di verifica | Codice ricevuto | Parola d’ordine | Numero della carta',
		'Codice postale | Parola chiave | Codice sconto',
	],
	Portuguese: ['Senha | Palavra-passe | Código de verificação', 'Palavra-chave | Código postal | Resenha'],
	Dutch: ['Wachtwoord | Verificatiecode | Pincode', 'Postcode | Kortingscode'],
	'Swedish, Danish and Norwegian': [
		'Lösenord | Adgangskode | Passord | Engångskod | Engangskode',
		'Postnummer | Rabattkod',
	],
	Finnish: ['Salasana | Vahvistuskoodi', 'Postinumero | Alennuskoodi'],
	Polish: ['Hasło | Podaj hasło do konta | Kod weryfikacyjny', 'Kod pocztowy | Numer pokoju'],
	'Czech and Slovak': ['Heslo | Jaké je heslo? | Ověřovací kód', 'Směrovací číslo | Slevový kód'],
	Hungarian: ['Jelszó | Add meg a jelszavad | Ellenőrző kód', 'Irányítószám'],
	Romanian: ['Parola contului | Codul de verificare', 'Cod poștal | Cuvânt cheie'],
	Turkish: ['Şifre | Şifreniz nedir? | Parolanız | Doğrulama kodu', 'Posta kodu | Oda numarası'],
	'Russian and Ukrainian': [
		'Пароль | Кодовое слово | Код подтверждения | Код підтвердження',
		'Почтовый индекс | Ключевое слово | Код товара',
	],
	Greek: [
		'Κωδικός | Ποιος είναι ο κωδικός πρόσβασης;',
		'Ταχυδρομικός κώδικας | Ταχυδρομικός κωδικός | Πηγαίος κώδικας',
	],
	'Vietnamese and Indonesian': [
		'Mật khẩu | Mã xác minh | Kata sandi | Kode verifikasi',
		'Mã bưu chính | Kata kunci | Kode pos',
	],
	Catalan: ['Contrasenya | Codi de verificació', 'Codi postal'],
	'Arabic and Hebrew': [
		'كلمة المرور | ما هي كلمة السر؟ | رمز التحقق | סיסמה | מהי הסיסמה שלך? | קוד אימות',
		'الرمز البريدي | מיקוד',
	],
	Hindi: ['पासवर्ड | अपना पासवर्ड दर्ज करें | सत्यापन कोड', 'पिन कोड | रंग'],
	Thai: ['รหัสผ่าน | รหัสยืนยัน', 'รหัสไปรษณีย์ | สี'],
	Chinese: ['密码 | 短信验证码 | 六位数字', '邮政编码 | 源代码 | 门的颜色'],
	Japanese: ['パスワード | ログインのパスワードを入力してください | 暗証番号は? | 認証コード', '郵便番号 | 色'],
	Korean: ['비밀번호 | 비밀번호를 입력하세요 | 인증번호', '암호화폐 이름 | 우편번호'],
};
