import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { looksSecret } from '../../src/domain/asks-for-secret.ts';
import { guessInput } from '../../src/domain/input-kind.ts';
import { examine, looksSecretAt } from '../../src/domain/secrecy.ts';
import { titles } from './no-buttons.ts';

const asked = (context: string, ...titles: string[]) =>
	titles.map((_, at) => looksSecretAt({ context, items: titles.map((title) => ({ title, description: '' })) }, at));

const isSecret = (title: string, description = '') => looksSecret({ title, description });

describe('an item', () => {
	it.each<[title: string, description?: string]>([
		['Password'],
		['What is the password of the shop?'],
		['SMS code'],
		['Which password should I use?', 'One of: hunter1, hunter2'],
		...titles('May I have your password? | Can I get the verification code? | 2FA code from your authenticator app'),
		...titles('AWS_SECRET_ACCESS_KEY | userPassword'),
		['Card number', 'as printed'],
		['Login', 'The site sent a text message. Enter the verification code.'],
		['Anmeldung', 'Bitte gib den Bestätigungscode ein.'],
		...titles('Пароль от почты | Door code | API-Schlüssel der Karten | What is the PIN of the card?'),
		...titles(
			'Enter the code? | パスワードを入力してください | 비밀번호 | Ｐａｓｓｗｏｒｄ | Pass\u200bword | Pass-word | Root pw',
		),
		...titles('Die Passwörter | Wi-Fi key | GitHub PAT | Social security number'),
		['Code', 'The bank sent you a text message.'],
		...titles('Enter the number from the text message | SMSで届いた番号 | 短信里的数字 | الرمز المرسل | एपीआई कुंजी'),
	])('is secret where it names one: %j %j', (title, description = '') => {
		expect(isSecret(title, description)).toBe(true);
		expect(guessInput({ title, description }).kind).toBe('line');
	});

	it.each<[title: string, description?: string]>([
		['Which colour should the door have?'],
		['Where should I store the API key?'],
		['Should I reset the password?'],
		['Password policy', 'How many characters?'],
		['Postal code'],
		['Code', 'Which language is it?'],
		['Country code', 'The bank sent you a letter.'],
		...titles('Paste the code snippet | Discount code | Error code that the app shows | अपना पता'),
		['Key points for the app store'],
		['How should I log in?', 'Options: password, magic link'],
		['Warum ist das Passwort abgelaufen?'],
	])('is ordinary where it only speaks of one, or offers a choice: %j %j', (title, description = '') => {
		expect(isSecret(title, description)).toBe(false);
	});

	it.each<[title: string, description?: string]>([
		...titles('Name (secret)? | Name（ｓｅｃｒｅｔ） | Name [secret]: | **Name (secret, optional)**'),
		['Name', 'As in the portal. (secret)'],
	])('is secret by its mark at another place: %j %j', (title, description = '') => {
		expect(isSecret(title, description)).toBe(true);
	});

	it('is secret by its mark, whatever it names or offers', () => {
		expect(isSecret('Name of the cat (secret)')).toBe(true);
		expect(isSecret('Which door? (secret)', 'Options: red | blue')).toBe(true);
	});
});

describe('a text above a lone item', () => {
	it.each([
		['The login page asks for a password.', 'Answer'],
		['The bank texted a code. Please paste it here.', 'Answer'],
		['Un code a été envoyé par SMS.', 'Saisissez le code'],
		['The bank texted a code.', 'Please enter it here'],
		['Mag ik je wachtwoord?', 'Antwoord'],
		['Telefonunuza bir doğrulama kodu geldi.', 'Kodu yazın'],
	])('asks for a secret in its last sentence: %j above %j', (context, title) => {
		expect(asked(context, title)).toEqual([true]);
	});

	it.each([
		['I reset the password. Which colour should the theme have?', 'Answer'],
		['The password was accepted. The shop shows three plans with different prices and delivery times.', 'Answer'],
		['The login page asks for a password.', 'Title of the page'],
		['Log in by password or link?\n- Password\n- Magic link', 'Which of them should I choose?'],
	])('only mentions a secret: %j above %j', (context, title) => {
		expect(asked(context, title)).toEqual([false]);
	});

	it('says nothing of several items', () => {
		expect(asked('Please enter the password.', 'Answer', 'Remarks')).toEqual([false, false]);
	});
});

it('takes most phrases of agents for what they are', () => {
	const lines = readFileSync(new URL('corpus/secrets.jsonl', import.meta.url), 'utf8')
		.trim()
		.split('\n');
	const phrases = lines.map((line) => JSON.parse(line) as Record<'title', string> & { secret: boolean });
	const wrong = phrases.filter(({ secret, ...texts }) => {
		const {
			above = '',
			title,
			description = '',
		}: Partial<Record<'above' | 'description', string>> & { title: string } = texts;
		return looksSecretAt({ context: above, items: [{ title, description }] }, 0) !== secret;
	});
	expect(wrong.filter(({ secret }) => secret).length).toBeLessThanOrEqual(24);
	expect(wrong.filter(({ secret }) => !secret).length).toBeLessThanOrEqual(12);
});

it.each([
	'please. send. need. ',
	'код ',
	'sms kod kod sms ',
	'一六位收到',
	'एसएमएस',
	'x-'.repeat(9),
	'. ',
	'ﷺ',
	'code ',
])('takes turns linear in the length of %j, each of a bounded text', (part) => {
	const turns = (length: number) => {
		const long = (most: number) => part.repeat(most / part.length);
		const items = [{ title: long(length), description: long(length) }];
		return Array.from(examine({ context: long(6 * length), items })).length;
	};
	// All that the rules read of an item, and more than twice what they read of a message.
	expect(turns(8_000)).toBeLessThanOrEqual(2 * turns(4_000) + 1);
});
