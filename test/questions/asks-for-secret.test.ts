import { describe, expect, it } from 'vitest';
import { atOnce } from '../../src/core/lease-loop.ts';
import { looksSecret, requestIn } from '../../src/questions/asks-for-secret.ts';
import { guessInput, looksSecretAt } from '../../src/questions/secrecy.ts';
import { wordList } from '../../src/questions/word-list.ts';
import { processorMs } from '../support/processor-ms.ts';
import { HARMLESS_TITLES, SECRET_TITLES } from './rule-examples.ts';
import { STEM_TITLES } from './stem-titles.ts';

const asked = (context: string, ...titles: string[]) =>
	titles.map((_, at) => looksSecretAt({ context, items: titles.map((title) => ({ title, description: '' })) }, at));

/** What an item asks for by itself. */
function guess(title: string, description = '') {
	const item = { title, description };
	return { ...guessInput(item), secret: looksSecret(item) };
}

/** By the kind of secret in English, or the language. */
const TITLES: Readonly<Record<string, { readonly yes: readonly string[]; readonly no: readonly string[] }>> = {
	...SECRET_TITLES,
	...Object.fromEntries(
		Object.entries(STEM_TITLES).map(([name, [yes, no]]) => [name, { yes: yes.split(' | '), no: no.split(' | ') }]),
	),
};

describe('an item', () => {
	for (const [kind, { yes, no }] of Object.entries(TITLES)) {
		it.each(yes)(`is secret by its title, ${kind}: %j`, (title) => {
			expect(guess(title)).toEqual({ kind: 'line', secret: true });
		});
		it.each(yes)(`is secret by its description, ${kind}: %j`, (description) => {
			const sentence = `The site stopped me. Please enter this: ${description}`;
			if (!/^(?:code|please enter the code|tan|secret|credit card)$/i.test(description)) {
				expect(looksSecret({ title: 'Next step', description: sentence })).toBe(true);
			}
		});
		it.each(no)(`is ordinary, although it is near to ${kind}: %j`, (title) => {
			expect(guess(title).secret).toBe(false);
		});
	}

	it('is secret by each entry of the list of names', () => {
		const names = wordList('secret/names').map((entry) => entry.replaceAll('*', '').replaceAll('?', 'c'));
		expect(names.filter((title) => !looksSecret({ title, description: '' }))).toEqual([]);
	});

	it.each(['Password', 'SMS code', 'PIN', 'API key', 'Card number', 'CVV', 'Seed phrase', 'SSN', 'Code', 'Token'])(
		'recognise %j without the examples of the table',
		(title) => {
			expect(guess(title)).toEqual({ kind: 'line', secret: true });
		},
	);
	it.each(HARMLESS_TITLES.flat())('take %j as ordinary', (title) => {
		expect(guess(title).secret).toBe(false);
	});
	it.each([
		['Login', 'The site sent a text message. Enter the verification code.'],
		['', 'Password'],
		['Human input required', 'What is the one-time code?'],
		['Your input', 'The page asks for the CVV of the card'],
		['Continue?', 'I need your API key for that'],
		['Options', 'Choose one of: A, B. Then tell me your password.'],
		['Missing data', 'Please provide the following:\n1. Full name\n2. Passport number'],
		['Anmeldung', 'Bitte gib den Bestätigungscode ein.'],
	])('find a secret in the description of %j: %j', (title, description) => {
		expect(guess(title, description)).toEqual({ kind: 'line', secret: true });
	});
	it.each([
		['Which plan?', 'I have logged in with the password that was stored and see three plans now.'],
		['How should I log in?', 'Options: password, magic link'],
		['How should I log in?', 'The page wants you to choose:\n- password\n- magic link'],
		['Next step', 'Does this site use a password or a magic link?'],
		['Which of these?\n- password\n- pin', ''],
		['Auth method', 'OAuth, Magic link, Password'],
		['Which auth method?', '- Magic link\n- Password'],
		['Which API key should I use?', '- staging\n- production'],
		['Where should I store the API key?', '- Vault\n- .env'],
		['Which article?', 'The blog has one about password managers and one about tokens.'],
	])('ignore a mention in the description of %j: %j', (title, description) => {
		expect(guess(title, description).secret).toBe(false);
	});
	it('find a request at the end of a long description', () => {
		expect(
			looksSecret({ title: 'Step', description: `${'The page shows a table. '.repeat(5_000)}Enter the password.` }),
		).toBe(true);
	});
});

describe('a text above the items', () => {
	it.each([
		'The login page asks for a password.',
		'The site requires a 2FA code to continue.',
		'Enter the PIN',
		'What is the password of the shop? And what is the user name?',
		'Password?',
		'I have opened the shop. The next step is the login and there I need the password, which I do not have. Thank you!',
		'I do not know the password. Can you tell me?',
		'What did the SMS say?',
		"The bank wants to know the mother's maiden name. What is it?",
		'Please give me the password of the shop. You find it in the vault. I will not store it. Thank you.',
		'To continue with the purchase please provide the following:\n1. Card number\n2. Expiry date',
		'I am stuck at the login. Which password should I use?',
		'Could you give me the password?',
		'Kannst du mir bitte das Passwort nennen?',
		'Ich brauche noch die PIN.',
		'Bitte das Passwort für den Shop eingeben.',
		'パスワードを教えてください。',
		'비밀번호를 입력해 주세요.',
		'Lütfen şifrenizi girin.',
		'Por favor escribe la contraseña.',
		'Site ask me PIN. You give me PIN please',
		'Can I have the API key?',
		'The app shows "Enter your code". What is the code?',
		'GitHub sent a verification code to your e-mail, can you read it out to me?',
		'I need to log in. What are your credentials?',
		'Waiting for the one-time passcode.',
		'A code was sent to you by SMS. Enter it in the box.',
		'A password is needed here.',
		'Please log in and send me the session cookie',
		'I tried 3 times. Your password please!',
		'Tell me your SSN so I can file the form',
		'The 2FA prompt is open. Type the 6 digits.',
		"I don't have the password for the vault, so please type it in.",
		"I can't continue without the password.",
		'There is no password stored for this site. Please provide one.',
		'Vui lòng cho tôi mật khẩu.',
		'请提供密码',
		'Введите код из смс, чтобы продолжить.',
		'Δώστε μου τον κωδικό παρακαλώ.',
	])('asks for a secret: %s', (text) => {
		expect(asked(text, 'Answer')).toEqual([true]);
	});

	it.each([
		'I reset the password, which colour?',
		'I reset the password and now I need the colour of the theme.',
		'The password was accepted. What should I buy?',
		'I entered the PIN. Please choose a seat.',
		'Login is done (password from the vault). Tell me the destination.',
		'The code compiles. What is the name of the release?',
		'I sent the code to the customer. What should I write in the mail?',
		'Two of the users have weak passwords. Whom should I inform?',
		'The report on tokens is ready. Where should I send it?',
		'I have written the section about passwords. How long should the next section be?',
		'The old card was removed. Which address should I use for delivery?',
		'The site does not ask for a password. What is the name of the article?',
		'The test for the login code fails. Please describe the expected behaviour.',
		'I have created the API key and stored it. What is the next task?',
		'Password reset mail was sent to the user. Who should be told?',
		'Das Passwort ist gespeichert. Wie soll der Ordner heißen?',
		'Le mot de passe est enregistré. Quel nom pour le dossier ?',
		'I typed the password you gave me earlier. The shop shows a survey; please write a sentence about the service.',
		'The page says "Wrong password". What should I do?',
		'Three attempts with the password failed. How should I go on?',
	])('only mentions a secret: %s', (text) => {
		expect(asked(text, 'Answer')).toEqual([false]);
	});

	it('makes no item secret that has its own answers or is beside a secret one', () => {
		const text = 'Please enter the password.';
		expect(asked(text, 'Answer', 'Remarks')).toEqual([true, true]);
		expect(asked(text, 'Shall I go on?', 'How many tickets?', 'Your e-mail address', 'Start date')).toEqual([
			false,
			false,
			false,
			false,
		]);
		expect(asked(text, 'Password', 'Remarks')).toEqual([true, false]);
	});
});

it.each([
	'please. send. need. ',
	'код ',
	'p4ss 1n 0ne c0de. ',
	'what, what: ',
	'please:\n',
	'never never ask ',
	'I need it. What is it? No the password. ',
	'sms kod kod sms ',
	'一六位收到',
	'एसएमएस',
	'x-'.repeat(9),
	'. ',
])('takes little time for 100 kB of %j', (part) => {
	const text = part.repeat(100_000 / part.length);
	const start = processorMs();
	atOnce(requestIn(text));
	looksSecretAt({ context: text, items: [{ title: text, description: text }] }, 0);
	// At most 20 ms on an idle core. Quadratic work takes seconds.
	expect(processorMs() - start).toBeLessThan(1_000);
});
