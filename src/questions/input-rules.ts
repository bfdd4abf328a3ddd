import { words } from './matching-text.ts';

/** An item: its title, or its title and description. */
export type Example = string | readonly [title: string, description: string];

/** When an item gets an input. The first rule that matches decides. */
export interface InputRule {
	readonly kind: 'yesNo' | 'number' | 'email' | 'url' | 'date' | 'time' | 'line';
	/** Matches the whole label (`labelOf`: lower case, no accents, no hyphens) without its final marks. */
	readonly label: RegExp;
	/** Matches the whole description (`matchingText`) without its final marks, for labels that are not enough. */
	readonly description?: RegExp;
	/** The rule does not apply when this matches in title or description, because another answer may be correct too. */
	readonly unless: RegExp;
	/** The label must be a question. If the title is not one, a question in the description counts. */
	readonly question?: true;
	/** Items that get this input. */
	readonly yes: readonly Example[];
	/** Similar items that must not get this input. */
	readonly no: readonly Example[];
}

/** Alternatives, ranges, conditions, several things at once: the answer may need free text. */
const DOUBT =
	'or|and|ranges?|between|approx\\p{L}*|about|around|roughly|estimated?|any|if|unless|otherwise|none|unknown|skip|not sure|optional|reasons?|why|explain|describe|also|each|every|per|lists?|multiple|several|all|both|etc|blank|plus|with|including|maybe|oder|und|bis';

/** The answer to such a question is more than yes or no. */
export const WANTS_MORE_THAN_YES_OR_NO = words(
	'if (?:yes|no|not|so|you)|why|explain|reasons?|maybe|yes ?/ ?no ?/ ?\\p{L}+',
);

const POSSESSIVE = "(?:(?:the|your|my|our|his|her|their|a|an|customer's|recipient's|guest's) )?";

export const INPUT_RULES: readonly InputRule[] = [
	{
		kind: 'yesNo',
		label: /^.*(?:[([] ?(?:yes|y) ?[/|,] ?(?:no|n) ?[)\]]|(?<!\p{L})(?:yes or no|yes ?\/ ?no|y\/n))$/u,
		unless: WANTS_MORE_THAN_YES_OR_NO,
		yes: ['Proceed? (y/n)', 'Is the address right? (Yes/No)', 'Accept the terms: yes or no?', 'Continue [y/n]:'],
		no: [
			'Proceed? (yes/no/maybe)',
			['Proceed? (y/n)', 'If no, explain why.'],
			'Yes-man or no-man?',
			'Sky/northern lights',
		],
	},
	{
		kind: 'yesNo',
		label: /^[^\n]+$/u,
		description:
			/^(?:(?:please )?(?:answer|reply|say|enter|type|choose|respond|only)(?: with)?:? ?)?["'([]?(?:(?:either )?yes"? or "?no|yes ?[/|,] ?no|y ?[/|] ?n)["')\]]?$/u,
		unless: words('or(?! no)|which|what|who|when|where|how|why|explain|describe|reasons?|maybe|if|each|all|every'),
		yes: [
			['Shall I renew it anyway?', 'yes/no'],
			['Approve?', 'Yes or no'],
			['Add a checked bag for 35 €?', 'Please answer yes or no.'],
			['Terms accepted', '(Y/N)'],
		],
		no: [
			['Shall I take 12 or 17?', 'yes/no'],
			['How shall I go on?', 'Yes or no'],
			['Renew it?', 'Yes or no, and why'],
			['Renew it?', 'Yes or no? If no, say how to go on.'],
			['The vote ended', 'Most said yes or no to both.'],
		],
	},
	{
		kind: 'yesNo',
		label:
			/^(?:(?:ok(?:ay)?|so|now|and),? )?(?:(?:shall|should|may|can|could) (?:i|we) |do you (?:want me to|want to|agree|approve|confirm|consent|accept)(?![\p{L}\p{N}])|would you like (?:me )?to |(?:is it|is that|is this|are you) (?:ok|okay|fine|all right|alright|acceptable|sure|ready)(?![\p{L}\p{N}])|(?:proceed|continue|go ahead|approve|confirm|agree|accept|ready|soll ich|darf ich|puis je|puedo)(?![\p{L}\p{N}]))[^?\n]{0,160}$/u,
		question: true,
		unless: words(
			'or(?! not)|oder|ou|any\\p{L}*|some\\p{L}*|else|other|another|different|which|what|who|when|where|how|why|explain|describe|details?|changes?|feedback|help|tell|provide|suggest|instead|(?:can|could|may) i (?:have|get|ask|know|see)|if (?:yes|no|not|so)',
		),
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
			'Continue or not?',
			['Should I pay now?', 'The total is 30 euros.'],
			['Question', 'Should I submit the form?'],
			['Confirm the purchase', 'The total is 30 euros. Should I go on?'],
			'Shall we proceed?',
		],
		no: [
			'Should I take the red or the blue one?',
			'Can I have your name?',
			'Should I change anything?',
			'Do you want to add some notes?',
			'Could you tell me more?',
			'Is this correct?',
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
		label: new RegExp(
			`^(?:how many(?: \\p{L}[^?\\n]{0,80})?|${POSSESSIVE}(?:total )?(?:number|count|quantity) of \\p{L}[\\p{L} ]{0,40}s|(?:total )?(?:quantity|amount of (?:tickets|rooms|guests|people|seats))|${POSSESSIVE}age(?: in years)?|anzahl(?: der)? \\p{L}{1,40}|menge|cantidad|quantite)$`,
			'u',
		),
		unless: words(
			`${DOUBT}|which|who|what|when|where|at (?:least|most)|up to|more|less|old|digits|percent|units?|format`,
		),
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
		label: new RegExp(
			`^(?:(?:please )?(?:enter|provide|give me|type) )?(?:${POSSESSIVE}(?:contact |work |business |personal |private |billing |account |login |recipient |sender |company |customer )?e ?mail ?(?:address|adresse|id)?|(?:what|which)(?: is|'s)? ${POSSESSIVE}e ?mail ?address(?: (?:should|do|shall|can|is|to|for)(?! \\p{L}+ (?:write|draft|say|send))[^?\\n]{0,80})?|what(?: is|'s) (?:your|the) e ?mail|e ?mail adresse|correo electronico|adresse e ?mail|adresse electronique)$`,
			'u',
		),
		unless: words(`${DOUBT}|subject|body|text|content|provider|draft|e ?mails|addresses|phone|username|leave`),
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
		label: new RegExp(
			`^(?:(?:please )?(?:enter|provide|paste|give me) )?${POSSESSIVE}(?:website |page |webhook |base |repository |repo |target |login |image |video |callback )?(?:url|web address)(?: (?:of|to|for) [^?\\n]{1,60})?$|^(?:what|which)(?: is|'s)? ${POSSESSIVE}(?:\\p{L}{1,20} )?url(?: (?:should|do|of|for|to|is)[^?\\n]{0,60})?$`,
			'u',
		),
		unless: words(`${DOUBT}|urls|slug|path|parameters?|domain|hostname|relative|pattern|name`),
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
		label: new RegExp(
			`^${POSSESSIVE}(?:start |end |due |departure |arrival |return |check ?in |check ?out |delivery |travel |booking |appointment |event |flight |invoice )?date(?: of (?:arrival|departure|travel|delivery|purchase))?$|^(?:on |for )?(?:what|which) date(?: (?:should|shall|do|does|is|will)[^?\\n]{0,80})?$|^(?:datum|anreisedatum|abreisedatum|fecha)$`,
			'u',
		),
		// The date is sent as 2026-11-20, which is wrong for an item that names another format.
		unless: words(
			`${DOUBT}|dates|times?|flexible|prefer\\p{L}*|works?|suits?|best|earliest|latest|soon|month|week|format|(?<!yyyy[ ./])(?:dd|mm|tt|d|m)[ ./]+(?:dd|mm|m|d)(?:[ ./]+(?:yy|yyyy|jj|jjjj))?|mm ?/ ?yy|ddmmyyyy`,
		),
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
		label: new RegExp(
			`^${POSSESSIVE}(?:start|end|arrival|departure|pick ?up|check ?in|check ?out|delivery|meeting|appointment|reservation) time$|^time of (?:day|arrival|departure|pick ?up)$|^(?:at |for )?what time (?:should|shall|do|does|is|will)[^?\\n]{0,80}$|^uhrzeit$`,
			'u',
		),
		unless: words(
			`${DOUBT}|times|zones?|format|duration|slots?|works?|suits?|prefer\\p{L}*|best|earliest|latest|flexible|date|day of|how long|which|hours?|minutes?`,
		),
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
		label: new RegExp(
			`^(?:(?:please )?(?:enter|provide|give me|type) |what(?: is|'s) )?${POSSESSIVE}(?:(?:full |first |last |middle |user ?|display |company |contact |file ?|project |account |product |city |nick ?)?name|user ?(?:name|id)|login(?: name)?|(?:phone|mobile|telephone|cell|order|booking|reference|invoice|customer|tracking|flight|house|room|ticket|vat|membership) ?(?:number|no|id|reference)|phone|telephone|(?:zip|postal|post|country|area|discount|promo|coupon|voucher|referral|airport|currency|language)(?: ?code)?|city|town|country|street|state|company|subject|(?:job )?title|website|domain|hostname|colou?r|hashtag|slug|time ?zone|price|budget|vorname|nachname|postleitzahl|plz|ort|stadt|telefonnummer|nombre|apellidos?|ciudad|nom|prenom|ville|code postal)$|^mm ?/ ?yy$`,
			'u',
		),
		unless: words(
			'lists?|each|every|multiple|several|all|describe|explain|paragraphs?|lines|list|names|details?|why|as many',
		),
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
		label: new RegExp(`^${POSSESSIVE}(?:e ?mail|url|date)(?: address)?$`, 'u'),
		unless: words('lists?|each|every|multiple|several|all|lines|describe|explain'),
		// Without the doubt, these get the input of their own kind.
		yes: [
			['Email', 'Or your username'],
			['Date', 'DD/MM/YYYY'],
			['URL', 'Or the path'],
		],
		no: ['Emails', ['Email', 'One of each'], ['Date', 'List all that suit you']],
	},
];
