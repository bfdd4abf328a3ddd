import { words } from './matching-text.ts';

/** How one kind of secret is named. Patterns match `matchingText`: lower case, no accents, hyphens as spaces. */
export interface SecretRule {
	readonly name: string;
	readonly pattern: RegExp;
	/** Titles that ask for this secret. */
	readonly yes: readonly string[];
	/** Titles that sound like it and are not secret by any rule. */
	readonly no: readonly string[];
}

/** Words that sound secret but are not; they are taken out before the rules are tried. `yes` lists what stays harmless. */
export interface HarmlessPhrase {
	readonly pattern: RegExp;
	readonly yes: readonly string[];
}

/** Titles that are secret only when they say nothing else. */
export const wholeTitles =
	/^(?:(?:please )?(?:enter|type|provide|input) |what is |what's )?(?:(?:the|your|a|my) )?(?:code|secret|tan|m ?tan|(?:credit |debit |payment |bank )?card|credentials?|clave|code secret)$/;

export const harmlessPhrases: readonly HarmlessPhrase[] = [
	{
		pattern: words(
			'(?:password|passcode|passwort|passphrase) (?:managers?|polic(?:y|ies)|rules?|length|requirements?|strength|protected|protection|generators?|rotation|reset(?! (?:code|token|pin|link)))',
		),
		yes: ['Which password manager do you use?', 'Password policy', 'Password reset needed', 'Password-protected?'],
	},
	{
		pattern: words(
			'(?:(?:should|shall|may|can) i|do you want(?: me)? to|would you like(?: me)? to) (?:reset|change|update|save|store|remember|rotate|resend|request)(?: (?:the|your|my|their|a|an|new|old|this))* (?:passwords?|passwort|codes?|(?:verification|security|confirmation|one time) code|pin|token|api key)',
		),
		yes: [
			'Should I reset the password?',
			'Do you want me to save the password?',
			'Can I request a new verification code?',
		],
	},
	{
		pattern: words(
			'tokens? (?:of|limits?|counts?|budgets?|usage|symbols?|names?|prices?|amounts?|supply|contracts?|standards?|sales?|rings?|swaps?)',
		),
		yes: ['Token of appreciation', 'Which token of appreciation should I buy?', 'Token limit', 'API token name'],
	},
	{
		pattern: words('(?:which|per|max|maximum|how many|number of|crypto|erc ?20|nft|utility|governance|subway) tokens?'),
		yes: ['Which token should I swap?', 'Price per token', 'NFT token'],
	},
	{
		pattern: words(
			'(?<!(?:the|your|my|a|digit|card|sim|enter|phone) )pin (?:it|this|that|the|a|to|up|boards?|locations?|points?|messages?|posts?|colou?rs?|designs?|badges?)',
		),
		yes: ['Should I pin it?', 'Pin the message?', 'Pin board', 'Pin to top?', 'Pin colour'],
	},
	{
		pattern: words('(?:map|location|drop a|dropped|bowling|safety|lapel|rolling|hair|enamel|push|gpio|header) pins?'),
		yes: ['Map pin', 'Drop a pin?', 'Which enamel pin?'],
	},
	{
		pattern: words(
			'(?:2fa|mfa|otp|totp|two factor(?: authentication)?) (?:apps?|methods?|options?|types?|channels?|settings?|setup)',
		),
		yes: ['Which 2FA method?', 'OTP channel', 'Two-factor authentication settings'],
	},
	{
		pattern: words(
			'(?:enable|disable|set ?up|activate|turn on|turn off|support) (?:2fa|mfa|totp|two factor(?: authentication)?)',
		),
		yes: ['Should I enable 2FA?', 'Turn off MFA?'],
	},
	{
		pattern: words('(?:how should i receive|where should i send)(?: the| a| your)?(?: \\p{L}+){0,3} code'),
		yes: ['How should I receive the verification code?'],
	},
	{
		pattern: words('(?:api|access|ssh) keys? (?:names?|labels?|types?|permissions?|scopes?)'),
		yes: ['API key name', 'SSH key type'],
	},
];

export const secretRules: readonly SecretRule[] = [
	{
		name: 'password',
		pattern: words(
			'passwords?|passwd|pwd|pass ?codes?|pass ?phrases?|passwort|passworter|passworts|kennwort|kennworter|zugangsdaten|contrasenas?|mots? de passe|senha|wachtwoord|losenord|пароль|credentials|credenciales|(?:login|log in|sign in|account) (?:details|data|credentials)|密码|密碼',
		),
		yes: [
			'Password',
			'Your GitHub password',
			'user_password',
			'accountPassword',
			'What is the password?',
			'Can I have your password?',
			'Change password: the new password',
			'Passwort',
			'Bitte Kennwort eingeben',
			'Contraseña',
			'CONTRASEN\u0303A',
			'Mot de passe',
			'Pass\u200bword',
			'**Pass-phrase**',
			'Login credentials',
			'密码',
		],
		no: ['Which pass should I buy?', 'Passenger name', 'Boarding pass', 'Login name', 'Which compass?'],
	},
	{
		name: 'one-time code',
		pattern: words(
			"otp|totp|2fa|mfa|two factor|(?:one time|single use|verification|verify|authentication|authenticator|auth|security|confirmation|login|log in|sign in|access|sms|e ?mail|text message|backup|recovery|unlock|activation|reset|mfa|2fa|otp|pairing|invite only|temporary|\\d{1,2} ?digits?)(?: \\p{L}+)? (?:code|codes|number|passcode)|codes? (?:that )?(?:we|i|they|you|was|were|just|has been|sent|received)(?: \\p{L}+)? ?(?:sent|send|texted|e ?mailed|received?|get|got|messaged|to you)?|code (?:from|in|on|shown in|shown on|displayed in|displayed on)(?: the| your| my)? (?:authenticator|authentication|authy|sms|texts?|e ?mail|phone|app|message|letter|bank|device)|bestatigungscode|sicherheitscode|einmalcode|einmalpasswort|verifizierungscode|zugangscode|(?:code|codigo) (?:recu|recibido|enviado|envoye|par|por|que)|codigo de (?:verificacion|seguridad|confirmacion|acceso)|code (?:de (?:verification|securite|confirmation|validation|connexion)|a usage unique|d'acces|sms)|验证码",
		),
		yes: [
			'One-time code',
			'Enter the code we sent you',
			'Code you received',
			'SMS code',
			'2FA',
			'TOTP',
			'otpCode',
			'OTPCode',
			'6-digit code',
			'Enter the 6 digit verification code',
			'Code from your authenticator app',
			'Verification code',
			'Confirmation code',
			'The security code',
			'Bestätigungscode',
			'Código de verificación',
			'Code de vérification',
			'Quel est le code reçu par SMS ?',
			'El código que recibiste',
			'Code',
			'Please enter the code',
			'TAN',
			'验证码',
		],
		no: [
			'Postal code',
			'ZIP code',
			'Country code',
			'Area code',
			'Code review',
			'Who should do the code review?',
			'Source code',
			'Error code',
			'Dress code',
			'QR code',
			'Currency code',
			// Meant to be typed into a shop by anybody who has it; seeing it in a thread helps the team.
			'Discount code?',
			'Promo code',
			'Voucher code',
			'Code language',
			'Verification document',
			'Confirmation e-mail text',
		],
	},
	{
		name: 'PIN',
		pattern: words('pin|pins|puk|pin ?codes?|pin ?numbers?|geheimzahl'),
		yes: ['PIN', 'Enter the PIN to continue', 'Your card PIN', 'PIN code', 'Pin number', 'PUK', 'SIM pin'],
		no: ['Pinboard name', 'Pinned message', 'Spin the wheel?', 'Opinion'],
	},
	{
		name: 'key or token',
		pattern: words(
			'(?:api|secret|private|access|ssh|gpg|license|licence|activation|encryption|decryption|signing|recovery|product|service account|master) ?keys?|token|(?:access|auth|authentication|authorization|api|bearer|refresh|session|security|bot|oauth|jwt) tokens|(?:client|app|shared|api|webhook|consumer|signing) secrets?|secret (?:answer|phrase|words?|token|code)|(?:session|auth|login) cookies?|cookie value|apikey|api schlussel|clave (?:de acceso|secreta|privada|api)|cle (?:api|secrete|privee)',
		),
		yes: [
			'API key',
			'OPENAI_API_KEY',
			'apiKey',
			'Private key',
			'Access token',
			'GitHub personal access token',
			'What is the token?',
			'Client secret',
			'License key',
			'API-Schlüssel',
			'Clave de acceso',
			'Clé API',
			'Session cookie',
			'Secret',
		],
		no: [
			'Key findings',
			'Key points',
			'Which key on the keyboard?',
			'Cookie banner: what now?',
			'Secret Santa budget',
			'Key',
		],
	},
	{
		name: 'payment card or account',
		pattern: words(
			"(?:credit |debit |payment |bank |gift )?card'?s? (?:numbers?|no|nr|details|data|information|info|credentials|codes?|pin|cvv|cvc|expiry|expiration)|cvv2?|cvc2?|card verification|(?:bank account|routing) numbers?|bank(?:ing)? (?:details|credentials)|kartennummer|kreditkartennummer|kreditkarten?daten|prufziffer|numero de (?:la )?(?:tarjeta|carte)(?: \\p{L}+)?",
		),
		yes: [
			'Card number',
			'Credit card details',
			'Credit card',
			'CVV',
			'What is the CVC?',
			'Gift card code',
			'Kreditkartennummer',
			'Número de tarjeta',
			'Numéro de carte',
			'Bank account number',
		],
		no: [
			'Which card design?',
			'Business card text',
			'Birthday card message',
			'Which credit card should I pay with?',
			'Which gift card amount?',
			'Card layout',
			'Cardinality',
		],
	},
	{
		name: 'wallet phrase',
		pattern: words(
			'(?:seed|recovery|mnemonic|backup|wallet) (?:phrases?|words?|seeds?)|seed|mnemonic|(?:phrase|frase) (?:de recuperation|de recuperacion|secrete|semilla)',
		),
		yes: ['Seed phrase', 'Recovery phrase', '12-word mnemonic', 'Wallet seed', 'Frase de recuperación'],
		no: ['Which phrase should the ad use?', 'Seeds to buy', 'Recovery plan', 'Backup schedule'],
	},
	{
		name: 'identity',
		pattern: words(
			"ssn|social security (?:number|no|nr)|(?:national insurance|national id|passport|tax id|taxpayer|tax identification|driver'?s? licen[cs]e) (?:number|no|nr|id)|steuer ?id|sozialversicherungsnummer|reisepassnummer|security (?:questions?|answers?)|mother's maiden name|maiden name",
		),
		yes: [
			'SSN',
			'Last four digits of your SSN',
			'Social Security number',
			'Passport number',
			'Sozialversicherungsnummer',
			'Answer to the security question',
			"Mother's maiden name",
		],
		no: ['Passport country', 'Tax year', 'Order number', 'Phone number', 'Social media handle', 'Security contact'],
	},
];
