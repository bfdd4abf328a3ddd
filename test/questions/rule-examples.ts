/** An item: its title, or its title and description. */
export type Example = string | readonly [title: string, description: string];

/** What gets an input by each rule of `INPUT_RULES`, in their order, and similar items that must not get it by any. */
export const INPUT_EXAMPLES: readonly {
	readonly kind: string;
	readonly yes: readonly Example[];
	readonly no: readonly Example[];
}[] = [
	{
		kind: 'yesNo',
		yes: ['Proceed? (y/n)', 'Is the address right? (Yes/No)', 'Accept the terms: yes or no?', 'Continue [y/n]:'],
		no: ['Proceed? (yes/no/maybe)', 'Yes-man or no-man?', 'Sky/northern lights'],
	},
	{
		kind: 'yesNo',
		yes: [
			['Shall I renew it anyway?', 'yes/no'],
			['Approve?', 'Yes or no'],
			['Add a checked bag for 35 €?', 'Please answer yes or no.'],
			['Terms accepted', '(Y/N)'],
		],
		no: [
			['Renew it?', 'Yes or no, and why'],
			['Renew it?', 'Yes or no? If no, say how to go on.'],
			['The vote ended', 'Most said yes or no to both.'],
		],
	},
	{
		kind: 'yesNo',
		yes: [
			'Should I proceed?',
			'Shall I book the table?',
			'May I accept the cookies?',
			'Do you approve?',
			'Do you want me to continue?',
			'Would you like me to send the e-mail?',
			'Is it okay to delete the file?',
			'Are you sure?',
			'Proceed?',
			['Should I pay now?', 'The total is 30 euros.'],
			['Question', 'Should I submit the form?'],
			['Confirm the purchase', 'The total is 30 euros. Should I go on?'],
			'Shall we proceed?',
			'Is this correct?',
		],
		no: [
			'Should I take the red or the blue one?',
			'Can I have your name?',
			'Should I change anything?',
			'Do you want to add some notes?',
			'Could you tell me more?',
			'Do you know the address?',
			'Should I proceed',
			'Should I wait? What else?',
			'Confirm your address',
			['Should I pay now?', 'If not, what should I do?'],
			['Should I pay now?', 'Say how.'],
			['Should I pay now?', 'Is that fine?'],
			['Amount', 'It is 30. Should I pay now or later?'],
			'Ready when?',
		],
	},
	{
		kind: 'number',
		yes: [
			'How many tickets?',
			['How many?', 'A number'],
			'How many guests are coming?',
			'Number of guests',
			'The total number of rooms',
			'Quantity:',
			'Age',
			'Anzahl der Personen',
			['', 'How many rooms should I book?'],
		],
		no: [
			'Phone number',
			'Order number',
			'Number of your booking',
			'House number',
			'Budget',
			'Price',
			'How many tickets, and for which day?',
			'How many rooms and beds?',
			'How much?',
			'How old is the baby?',
			'Ageing report',
			['How many tickets?', 'Say "as many as possible" if you are not sure.'],
			['Quantity', 'A number or a range'],
			'How many?\nAnd when?',
		],
	},
	{
		kind: 'email',
		yes: [
			'Email',
			'E-Mail',
			'Your email address',
			'Work e-mail',
			'Enter your email address:',
			'What is your email?',
			'Which email address should I use?',
			'E-Mail-Adresse',
			'Correo electrónico',
		],
		no: [
			'Email or phone',
			'Email subject',
			'What email should I write?',
			'Emails',
			'Email addresses',
			'Email the report?',
			'Should I send the email?',
			'E-mail text',
			['Email', 'Or your username'],
			['Email', 'Leave it blank to skip.'],
		],
	},
	{
		kind: 'url',
		yes: [
			'URL',
			'Website URL',
			'The URL of the shop',
			'Which URL should I open?',
			'Paste the repository URL',
			'What is the URL?',
		],
		no: [
			'URLs',
			'URL slug',
			// Slack refuses an address without a scheme, and people answer "example.com".
			'Website',
			'Link text',
			'Should I open the link?',
			'URL or name of the shop',
			['URL', 'Or the path'],
			'Curl options',
		],
	},
	{
		kind: 'date',
		yes: [
			'Date',
			'Start date',
			'Check-in date',
			'Which date should I book?',
			'Date of arrival',
			['Date of travel', 'As YYYY-MM-DD'],
		],
		no: [
			'Dates',
			'Date and time',
			'Date range',
			'Update',
			'Who is your date?',
			'Date format',
			'When?',
			'What date works best?',
			'Expiration date',
			['Date of arrival', 'DD/MM/YYYY'],
			['Start date', 'MM-DD-YYYY'],
			['Date', 'Or "as soon as possible"'],
		],
	},
	{
		kind: 'time',
		yes: [
			'Start time',
			'Arrival time',
			'At what time should I book the table?',
			'What time is the meeting?',
			'Uhrzeit',
			'Time of day',
		],
		no: [
			'Time zone',
			'Time',
			'Start times',
			'How much time do you have?',
			'What time works for you?',
			'Is it time?',
			'Delivery time (in days or hours)',
			'Date and start time',
			['Start time', 'Or say "any"'],
		],
	},
	{
		kind: 'line',
		yes: [
			'Full name',
			'Username',
			'Your phone number',
			'Order number',
			'Postal code',
			'ZIP code',
			'Country code',
			'Discount code?',
			'City',
			'What is your name?',
			'Website',
			'Budget',
			'Postleitzahl',
			'Time zone',
		],
		no: [
			'Name three ideas',
			'Address',
			'Names of all guests',
			['Name', 'List every guest on a line of its own'],
			'Comments',
			'Anything else?',
			'What should I do?',
			'City guide text',
			'',
		],
	},
	{
		kind: 'line',
		// Without the doubt, these get the input of their own kind.
		yes: [
			['Email', 'Or your username'],
			['Date', 'DD/MM/YYYY'],
			['URL', 'Or the path'],
		],
		no: ['Emails', ['Email', 'One of each'], ['Date', 'List all that suit you']],
	},
];

/** Titles between bars and line ends. */
const list = (titles: string): string[] => titles.trim().split(/\s*[|\n]\s*/);

/** Titles that ask for a secret, by the name of their rule, and similar ones that are not secret by any rule. */
export const SECRET_TITLES: Readonly<
	Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>
> = {
	password: {
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
	'one-time code': {
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
	PIN: {
		yes: list(`
			PIN | Enter the PIN to continue | Your card PIN | PIN code | Pin number | PUK | SIM pin | P1N | P I N
		`),
		no: list('Pinboard name | Pinned message | Spin the wheel? | Opinion'),
	},
	'key or token': {
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
	'payment card or account': {
		yes: list(`
			Card number | Credit card details | Credit card | CVV | What is the CVC? | Gift card code
			Bank account number | IBAN | Your IBAN, please | 1BAN
		`),
		no: list(`
			Which card design? | Business card text | Birthday card message | Which credit card should I pay with?
			Which gift card amount? | Card layout | Urban area | Cardinality
		`),
	},
	'wallet phrase': {
		yes: list('Seed phrase | Recovery phrase | 12-word mnemonic | Wallet seed'),
		no: list('Which phrase should the ad use? | Seeds to buy | Recovery plan | Backup schedule'),
	},
	identity: {
		yes: list(`
			SSN | Last four digits of your SSN | Social Security number | Passport number | Date of birth
			Answer to the security question | Mother's maiden name
		`),
		no: list(`
			Passport country | Tax year | Order number | Phone number | Social media handle | Security contact
		`),
	},
};

/** Titles that are ordinary because of a harmless phrase, for each phrase. */
export const HARMLESS_TITLES: readonly (readonly string[])[] = [
	list(`
			Which password manager do you use? | Password policy | Password reset needed | Password-protected?
			Should I reset the password? | Do you want me to save the password? | Can I request a new verification code?
			How should I receive the verification code?
		`),
	list(`
			Token of appreciation | Which token of appreciation should I buy? | Token limit | API token name
			Which token should I swap? | Price per token | NFT token
		`),
	list(`
			Should I pin it? | Pin the message? | Pin board | Pin to top? | Pin colour | Map pin | Drop a pin?
			Which enamel pin?
		`),
	list('Which 2FA method? | OTP channel | Two-factor authentication settings | Should I enable 2FA? | Turn off MFA?'),
	list(`
			API key name | SSH key type | Environment variable name | Parola chiave
			Should I send a magic link to the customer? | A name for the new API token | Quale parola preferisci?
			Seed for the random generator | Random seed
		`),
];
