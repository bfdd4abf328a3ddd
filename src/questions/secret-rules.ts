import { words } from './matching-text.ts';
import { SECRET_STEMS, type SecretPattern } from './secret-stems.ts';

interface SecretRule extends SecretPattern {
	/** Titles that ask for this secret. */
	readonly yes: readonly string[];
	/** Similar titles that are not secret by any rule. */
	readonly no: readonly string[];
}

/** Titles between bars and line ends. */
const list = (titles: string): string[] => titles.trim().split(/\s*[|\n]\s*/);

/** A phrase that is removed before the rules are tried. The titles in `yes` are not secret. */
interface HarmlessPhrase {
	readonly pattern: RegExp;
	readonly yes: readonly string[];
}

/** Titles that are secret only as a whole. */
export const WHOLE_TITLES =
	/^(?:(?:please )?(?:enter|type|provide|input) |what is |what's )?(?:(?:the|your|a|my) )?(?:code|secret|tan|m ?tan|pass|cookies?|bearer|(?:credit |debit |payment |bank )?card|credentials?|clave|code secret)$/;

export const HARMLESS_PHRASES: readonly HarmlessPhrase[] = [
	{
		pattern: words(
			'(?:password|passcode|passwort|passphrase) (?:managers?|polic(?:y|ies)|rules?|length|requirements?|strength|protected|protection|generators?|rotation|reset(?! (?:code|token|pin|link)))|(?:(?:should|shall|may|can) i|do you want(?: me)? to|would you like(?: me)? to) (?:reset|change|update|save|store|remember|rotate|resend|request)(?: (?:the|your|my|their|a|an|new|old|this))* (?:passwords?|passwort|codes?|(?:verification|security|confirmation|one time) code|pin|token|api key)|(?:how should i receive|where should i send)(?: the| a| your)?(?: \\p{L}+){0,3} code',
		),
		yes: list(`
			Which password manager do you use? | Password policy | Password reset needed | Password-protected?
			Should I reset the password? | Do you want me to save the password? | Can I request a new verification code?
			How should I receive the verification code?
		`),
	},
	{
		pattern: words(
			'tokens? (?:of|limits?|counts?|budgets?|usage|symbols?|names?|prices?|amounts?|supply|contracts?|standards?|sales?|rings?|swaps?)|(?:which|per|max|maximum|how many|number of|crypto|erc ?20|nft|utility|governance|subway) tokens?',
		),
		yes: list(`
			Token of appreciation | Which token of appreciation should I buy? | Token limit | API token name
			Which token should I swap? | Price per token | NFT token
		`),
	},
	{
		pattern: words(
			'(?<!(?:the|your|my|a|digit|card|sim|enter|phone) )pin (?:it|this|that|the|a|to|up|boards?|locations?|points?|messages?|posts?|colou?rs?|designs?|badges?)|(?:map|location|drop a|dropped|bowling|safety|lapel|rolling|hair|enamel|push|gpio|header) pins?',
		),
		yes: list(`
			Should I pin it? | Pin the message? | Pin board | Pin to top? | Pin colour | Map pin | Drop a pin?
			Which enamel pin?
		`),
	},
	{
		pattern: words(
			'(?:2fa|mfa|otp|totp|two factor(?: authentication)?) (?:apps?|methods?|options?|types?|channels?|settings?|setup)|(?:enable|disable|set ?up|activate|turn on|turn off|support) (?:2fa|mfa|totp|two factor(?: authentication)?)',
		),
		yes: list(
			'Which 2FA method? | OTP channel | Two-factor authentication settings | Should I enable 2FA? | Turn off MFA?',
		),
	},
	{
		pattern: words(
			'(?:api|access|ssh) keys? (?:names?|labels?|types?|permissions?|scopes?)|(?:env|environment) (?:files?|vars?|variables?) (?:names?|formats?|locations?)|(?:cover|review|refactor)(?: the)? (?:login|auth|authentication|security) code|parol[ae] chiave|(?:length|strength|format|lifetime|kind|type|label)s? of(?: the| a| our)? (?:password|passcode|pin|token|key|code)s?|(?:send|resend|request)(?: (?:you|them|her|him|a|an|the|new|another))* magic links?|(?:random|database) seeds?|seeds? (?:for the random|data|values?|rounds?|funding)|(?:names?|labels?) (?:of|for) (?:the|a|an|your|this)(?: new)?(?: api| access| ssh| secret)? (?:keys?|tokens?|secrets?)|(?:quale|che|una|ogni|questa) parola(?! (?:segreta|d))',
		),
		yes: list(`
			API key name | SSH key type | Environment variable name | Parola chiave
			Should I send a magic link to the customer? | A name for the new API token | Quale parola preferisci?
			Seed for the random generator | Random seed
		`),
	},
];

export const ENGLISH_RULES: readonly SecretRule[] = [
	{
		name: 'password',
		pattern: words(
			'passwords?|passw|passwd|pwd|pws?|pass ?codes?|pass ?phrases?|credentials|(?:your|admin|root) log ?in(?! (?:page|form|flow|button|screen|name|test))|(?:login|log in|sign in|account) (?:details|data|credentials)|(?:user ?names?|users?|login|e ?mail|id) ?(?:and|&|\\+|/|or|und|y|et) ?(?:the |your |my )?pass',
		),
		yes: list(`
			Password | Your GitHub password | user_password | accountPassword | What is the password?
			Can I have your password? | Change password: the new password | Pass\u200bword | **Pass-phrase**
			Login credentials | Passw0rd | P4$$w0rd | Pa55word | PaSsWoRd
			П\u0430\u0441\u0441word or p\u0430ssw\u043Erd | \u0420\u0410\u0405\u0405W\u041ERD | P a s s w o r d
			p.a.s.s.w.o.r.d | pw | The PW for the admin account | User and pass | username/pass
		`),
		no: list(`
			Pass the salt? | Who should pass the message on? | PWA name | Password manager name
			Which pass should I buy? | Passenger name | Boarding pass | Login name | Which compass? | P & L statement
			A B C or D?
		`),
	},
	{
		name: 'one-time code',
		pattern: words(
			'otp|totp|2fa|mfa|(?:two|2nd|second) factor|(?:one time|single use|verification|verify|authentication|authenticator|auth|security|confirmation|login|log in|sign in|access|sms|e ?mail|text message|backup|recovery|unlock|activation|reset|mfa|2fa|otp|pairing|invite only|temporary|(?:three|four|five|six|eight|\\d{1,2}) ?(?:digits?|figures?))(?: \\p{L}+)? (?:code|codes|number|passcode)|codes? (?:that )?(?:we|i|they|you|was|were|just|has been|sent|received)(?: \\p{L}+)? ?(?:sent|send|texted|e ?mailed|received?|get|got|messaged|to you)?|(?:codes?|numbers?)(?: shown| displayed)? (?:from|in|on)(?: the| your| my)? (?:authy|sms|text message|phone|texts?|e ?mail|app|message|letter|bank|device)|(?<!(?:to|by|than|least|most|many|have|has) )(?:three|four|five|six|seven|eight|\\d{1,2}|the|those|these) digits(?! (?:long|after|or|of (?!(?:the |your |that |my )?(?:code|card|sms|text|message|token|pin|account|key|phone))))|what(?: (?:did|does|was in|is in|stands in))?(?: the| your| this| that)* (?:sms|text message|authenticator)(?: says?| said| reads?| shows?)?|(?:type|enter|use|press) to (?:unlock|log ?in|sign ?in)|what (?:unlocks|decrypts)|sms (?:you|contents?)|(?:came|arrived|received|got|sent) (?:by|via|per) sms|(?:door|gate|alarm|garage|entry|entrance|entrance door|building|house|lock(?:er|box)?|bike lock|safe|vault|unlock|keypad|intercom) (?:codes?|combinations?|patterns?)|magic (?:login |sign in )?links?',
		),
		yes: list(`
			One-time code | Enter the code we sent you | Code you received | SMS code | 2FA | TOTP | otpCode | OTPCode
			6-digit code | Enter the 6 digit verification code | Code from your authenticator app | Verification code
			Confirmation code | The security code | Code | Please enter the code | Six digits
			The 6 digits from the app | Last four digits of the card | What did the SMS say?
			What does the text message say? | C0de from the SMS | The numbers from the text message
			The number on the phone | 2nd factor | Magic link | Door code | Unlock pattern | The digits
		`),
		// Meant to be typed into a shop by anybody who has it; seeing it in a thread helps the team.
		no: list(`
			Postal code | ZIP code | Country code | Area code | Code review | Who should do the code review?
			Source code | Error code | Dress code | QR code | Currency code | Discount code? | Promo code | Voucher code
			Code language | Verification document | Confirmation e-mail text | Six digits of pi | Round to six digits?
			How many digits? | What should the SMS say? | SMS or e-mail?
		`),
	},
	{
		name: 'PIN',
		pattern: words('pin|pins|puk|pin ?codes?|pin ?numbers?'),
		yes: list(`
			PIN | Enter the PIN to continue | Your card PIN | PIN code | Pin number | PUK | SIM pin | P1N | P I N
		`),
		no: list('Pinboard name | Pinned message | Spin the wheel? | Opinion'),
	},
	{
		name: 'key or token',
		pattern: words(
			'(?:api|secret|private|access|ssh|gpg|license|licence|activation|encryption|decryption|signing|unseal|deploy|recovery|product|service account|master) ?keys?|token|(?:access|auth|authentication|authorization|api|bearer|refresh|session|security|bot|oauth|jwt) tokens|(?:client|app|shared|api|webhook|consumer|signing) secrets?|secret (?:answer|phrase|words?|token|code)|(?:session|auth|login|browser|site|website|csrf) cookies?|cookie (?:values?|headers?|strings?|exports?|files?)|cookies\\.txt|(?:paste|copy|export)(?: the| your| a| all)? cookies?|bearer (?:tokens?|headers?|values?|auth\\p{L}*)|(?:paste|copy|send|enter|provide|need)(?: the| your| a)? bearer|authorization headers?|(?:wi ?fi|wlan|wpa2?|router|hotspot) (?:keys?|pass|codes?|kode?n?|psk)|network keys?|psk|\\.env|(?:env|environment) (?:files?|vars?|variables?)|connection (?:strings?|ur[il]s?)|(?:database|db|jdbc|redis|postgres|mongo ?db|amqp) ur[il]s?|kubeconfigs?|dsn|apikey|jwts?|id (?:rsa|dsa|ecdsa|ed25519)',
		),
		yes: list(`
			API key | OPENAI_API_KEY | apiKey | Private key | Access token | JWT | id_rsa | GitHub personal access token
			What is the token? | Client secret | License key | Session cookie | Secret | Wi-Fi key | Bearer token
			Paste the bearer | Authorization header | Cookie header | Paste your cookies | cookies.txt
			Contents of the .env | .env.local | Environment variables | Connection string | DATABASE_URL | kubeconfig | 4PI key
		`),
		no: list(`
			Cookie recipe | Which cookies should I order? | Accept cookies? | The bearer of the ring | Ring bearer
			Environment: staging or production? | Which connection should I take? | Wi-Fi or cable? | Network name
			Database name | Key findings | Key points | Which key on the keyboard? | Cookie banner: what now?
			Secret Santa budget | Key
		`),
	},
	{
		name: 'payment card or account',
		pattern: words(
			"(?:credit |debit |payment |bank |gift )?card'?s? (?:numbers?|no|nr|details|data|information|info|credentials|codes?|pin|cvv|cvc|expiry|expiration)|cvv2?|cvc2?|card verification|(?:bank account|routing) numbers?|iban|bank(?:ing)? (?:details|credentials)",
		),
		yes: list(`
			Card number | Credit card details | Credit card | CVV | What is the CVC? | Gift card code
			Bank account number | IBAN | Your IBAN, please | 1BAN
		`),
		no: list(`
			Which card design? | Business card text | Birthday card message | Which credit card should I pay with?
			Which gift card amount? | Card layout | Urban area | Cardinality
		`),
	},
	{
		name: 'wallet phrase',
		pattern: words(
			'(?:seed|recovery|mnemonic|backup|wallet) (?:phrases?|words?|seeds?)|seed|mnemonic|phrase (?:that )?you (?:chose|set|picked|wrote down)',
		),
		yes: list('Seed phrase | Recovery phrase | 12-word mnemonic | Wallet seed'),
		no: list('Which phrase should the ad use? | Seeds to buy | Recovery plan | Backup schedule'),
	},
	{
		name: 'identity',
		pattern: words(
			"ssn|your birthday|insurance numbers?|tax id|sort codes?|(?:last|first) (?:four|4|digits) of (?:your|my|the|their) (?:social|ssn)|social security (?:number|no|nr)|(?:national insurance|national id|aadhaar|nhs|passport|tax id|taxpayer|tax identification|driver'?s? licen[cs]e) (?:number|no|nr|id)|(?:date|place) of birth|birth ?dates?|dob|(?:security|secret) (?:questions?|answers?)|mother's maiden name|maiden name",
		),
		yes: list(`
			SSN | Last four digits of your SSN | Social Security number | Passport number | Date of birth
			Answer to the security question | Mother's maiden name
		`),
		no: list(`
			Passport country | Tax year | Order number | Phone number | Social media handle | Security contact
		`),
	},
];

export const SECRET_RULES: readonly SecretPattern[] = [...ENGLISH_RULES, ...SECRET_STEMS];
