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
			...'Should I proceed? | Shall I book the table? | May I accept the cookies? | Do you approve?'.split(' | '),
			...'Do you want me to continue? | Would you like me to send the e-mail?'.split(' | '),
			...'Is it okay to delete the file? | Are you sure? | Proceed?'.split(' | '),
			['Should I pay now?', 'Total: 30 euros'],
			['Question', 'Should I submit the form?'],
			['Confirm the purchase', 'The total is 30 euros. Should I go on?'],
			'Shall we proceed?',
			'Is this correct?',
		],
		no: [
			...'Should I take the red or the blue one? | Can I have your name? | Should I change anything?'.split(' | '),
			...'Do you want to add some notes? | Could you tell me more? | Do you know the address?'.split(' | '),
			...'Should I proceed | Should I wait? What else? | Confirm your address'.split(' | '),
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
			...'How many guests are coming? | Number of guests | The total number of rooms | Quantity:'.split(' | '),
			...'Age | Anzahl der Personen'.split(' | '),
			['', 'How many rooms should I book?'],
		],
		no: [
			...'Phone number | Order number | Number of your booking | House number | Budget | Price'.split(' | '),
			...'How many tickets, and for which day? | How many rooms and beds? | How much?'.split(' | '),
			...'How old is the baby? | Ageing report'.split(' | '),
			['How many tickets?', 'Say "as many as possible" if you are not sure.'],
			['Quantity', 'A number or a range'],
			'How many?\nAnd when?',
		],
	},
	{
		kind: 'email',
		yes: [
			...'Email | E-Mail | Your email address | Work e-mail | Enter your email address:'.split(' | '),
			...'What is your email? | Which email address should I use? | E-Mail-Adresse'.split(' | '),
			'Correo electrónico',
		],
		no: [
			...'Email or phone | Email subject | What email should I write? | Emails | Email addresses'.split(' | '),
			...'Email the report? | Should I send the email? | E-mail text'.split(' | '),
			['Email', 'Or your username'],
			['Email', 'Leave it blank to skip.'],
		],
	},
	{
		kind: 'url',
		yes: [
			...'URL | Website URL | The URL of the shop | Which URL should I open?'.split(' | '),
			...'Paste the repository URL | What is the URL?'.split(' | '),
		],
		no: [
			'URLs',
			'URL slug',
			// Slack refuses an address without a scheme, and people answer "example.com".
			...'Website | Link text | Should I open the link? | URL or name of the shop'.split(' | '),
			['URL', 'Or the path'],
			'Curl options',
		],
	},
	{
		kind: 'date',
		yes: [
			...'Date | Start date | Check-in date | Which date should I book? | Date of arrival'.split(' | '),
			['Date of travel', 'As YYYY-MM-DD'],
		],
		no: [
			...'Dates | Date and time | Date range | Update | Who is your date? | Date format | When?'.split(' | '),
			...'What date works best? | Expiration date'.split(' | '),
			['Date of arrival', 'DD/MM/YYYY'],
			['Start date', 'MM-DD-YYYY'],
			['Date', 'Or "as soon as possible"'],
		],
	},
	{
		kind: 'time',
		yes: [
			...'Start time | Arrival time | At what time should I book the table?'.split(' | '),
			...'What time is the meeting? | Uhrzeit | Time of day'.split(' | '),
		],
		no: [
			...'Time zone | Time | Start times | How much time do you have? | What time works for you?'.split(' | '),
			...'Is it time? | Delivery time (in days or hours) | Date and start time'.split(' | '),
			['Start time', 'Or say "any"'],
		],
	},
	{
		kind: 'line',
		yes: [
			...'Full name | Username | Your phone number | Order number | Postal code | ZIP code'.split(' | '),
			...'Country code | Discount code? | City | What is your name? | Website | Budget'.split(' | '),
			...'Postleitzahl | Time zone'.split(' | '),
		],
		no: [
			'Name three ideas',
			'Address',
			'Names of all guests',
			['Name', 'List every guest on a line of its own'],
			...'Comments | Anything else? | What should I do? | City guide text'.split(' | '),
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
