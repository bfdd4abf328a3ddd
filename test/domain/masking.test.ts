import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK, masked } from '../../src/domain/masking.ts';
import { isOffered, maskedSnapshot, questionSnapshotAt, snapshotOf } from '../../src/domain/session-snapshot.ts';
import { assistant, session } from '../sessions/support.ts';
import { runs } from '../support/runs.ts';
import { scoreOf } from './masking/score.ts';

/** No real key: joined here, so that no scanner of repositories takes it for one. */
const key = (beginning: string, length = 36) => beginning + 'aB3dE5gH7j'.repeat(10).slice(0, length);
const shownOf = (text: string) => masked(text).text;

describe('credentials in texts of agents', () => {
	// The rules have grown with them; see masking/RESULTS.md.
	it.each([
		['steps', 1, 0],
		['held-back', 1, 0],
		['outsider', 0, 0],
		['outsider-again', 1, 0],
		['outsider-third', 0, 0],
		['outsider-fourth', 3, 0],
		// Nobody has looked at this one while changing the rules, but for a name without a value.
		['outsider-fifth', 17, 0],
	] as const)('are missed, or seen where none is, no more than before: %s', (name, misses, falseMasks) => {
		const score = scoreOf(name);
		expect(score.misses.length).toBeLessThanOrEqual(misses);
		expect(score.falseMasks.length).toBeLessThanOrEqual(falseMasks);
	});

	it.each([
		[`Token: ${key('ghp_')} works`, `Token: ${MASK} works`],
		[`I see ${key('ghp_')}.`, `I see ghp_${MASK}`],
		['Password: hunter2', `Password: ${MASK}`],
		['“Is the password: sommer” (question 1 of 2)', `“Is the password: ${MASK}” (question 1 of 2)`],
		['password: sommer\nuser: ada', `password: ${MASK}\nuser: ada`],
		['Das Kennwort lautet „Sommer“, ja?', `Das Kennwort lautet „${MASK}“, ja?`],
		['I log in with password Sommer24!', `I log in with password ${MASK}!`],
		['Pay with 4111 1111 1111 1111?', `Pay with ${MASK}?`],
		['postgres://shop:s3cret@db/shop', `postgres://shop:${MASK}@db/shop`],
		['Authorization: Basic YWRhOmh1bnRlcg', `Authorization: Basic ${MASK}`],
		['pass\u200bword: hunter2', `password: ${MASK}`],
		["Typed 'x' into the Password field.", `Typed '${MASK}' into the Password field.`],
		["fill('#password', 'x')", `fill('#password', '${MASK}')`],
		['{"selector":"#otp","value":"902114"}', `{"selector":"#otp","value":"${MASK}"}`],
		['The verification code from ada@shop.example is 482913', `The verification code from ada@shop.example is ${MASK}`],
		['Passwords: alice = tiger77, bob = l1on-king', `Passwords: alice = ${MASK}, bob = ${MASK}`],
		['Logged in as ada:Tr1cky!', `Logged in as ada:${MASK}`],
		['AWS Secret Access Key [None]: wJalrXUtnFEMI/K7MDENG', `AWS Secret Access Key [None]: ${MASK}`],
		['The passphrase is "the horse was in my garden"', `The passphrase is "${MASK}"`],
		['| user | password |\n|---|---|\n| ada | Cobalt_194 |', `| user | password |\n|---|---|\n| ada | ${MASK} |`],
		['Typed hunter2 into the password field', `Typed ${MASK} into the password field`],
		['Entered hunter2 as the password', `Entered ${MASK} as the password`],
		['Use code 482913 to sign in', `Use code ${MASK} to sign in`],
		['ada@example.com / Tr0ub4dor&3', `ada@example.com / ${MASK}`],
		['Password - hunter2', `Password - ${MASK}`],
		['<input type="password" value="hunter2">', `<input type="password" value="${MASK}">`],
		['docker login -u ada -p hunter22', `docker login -u ada -p ${MASK}`],
		['カード：４１１１　1', 'カード：４１１１　1'],
		['Card ４１１１１１１１１１１１１１１１', `Card ${MASK}`],
		['Which password: Cedar!Moth12 or Cedar!Moth13?', `Which password: ${MASK} or ${MASK}?`],
		[
			'I set both fields, "New password" and "Confirm", to Fig~Row77',
			`I set both fields, "New password" and "Confirm", to ${MASK}`,
		],
		['パスワード欄に Momiji#405 と入力しました。', `パスワード欄に ${MASK} と入力しました。`],
		['Lösenordet är Ek_2024x', `Lösenordet är ${MASK}`],
		['Logged in as ada@shop.example with Tulip!Garage92.', `Logged in as ada@shop.example with ${MASK}.`],
		['$ vault kv get -field=api_token app\nmlr-88c2f0d17ab9', `$ vault kv get -field=api_token app\n${MASK}`],
		['Recovery codes:\n- 71a9-0cd2\n- 88ef-12ab', `Recovery codes:\n- ${MASK}\n- ${MASK}`],
		['email,temp_password\nada@shop.example,Pebble-14', `email,temp_password\nada@shop.example,${MASK}`],
		['redis-cli -h cache -a m0ssyCliff99 PING', `redis-cli -h cache -a ${MASK} PING`],
		[
			'page.get_by_placeholder("6-digit code").fill("118640")',
			`page.get_by_placeholder("6-digit code").fill("${MASK}")`,
		],
		['pwd=Tr1cky_one, shall I try Tr1cky_one again?', `pwd=${MASK}, shall I try ${MASK} again?`],
		[`password: ${'a1B2'.repeat(100)}, next`, `password: ${MASK} next`],
		['user | ada\npassword | letmein', `user | ada\npassword | ${MASK}`],
		['PASSWORD=\nhunter2', `PASSWORD=\n${MASK}`],
	])('are hidden, and nothing else: %j', (text, shown) => {
		expect(shownOf(text)).toBe(shown);
	});

	it.each([
		'The password: see the vault',
		'password: must have 8 characters',
		'token: expired',
		'mkdir -p build2024',
		'npx -p typescript5 tsc',
		'Order 4111111111111111 is paid.',
		'The commit 3f9a2c1d4e5b6a7f8c9d0e1f2a3b4c5d6e7f8a9b',
		'DB_PASSWORD=$DB_PASSWORD',
		'IBAN DE89 3704 0044 0532 0130 00',
		'Which password should I use?',
		'Options: Password | Passkey | Magic link',
		'Auswahl: Passwort | PIN | TAN',
		'PASSWORD=\nUSER=ada',
		'Account > Password > Devices',
		'Settings → Password → Change',
		"Typed 'Berlin' into the Search field and left the password empty.",
		'Image postgres:16-alpine with node:24',
		'The password of user42 on db-prod-1 expires; see iPhone15 and Windows11.',
		"Which PIN length should the app require, '4' or '6'?",
		'Use the file id_rsa_2024.pub as the key, or https://shop.example/login?next=a1B2c3?',
		'Error code 500231: the SMS was not sent to +49 170 5550142.',
		'Code produit : 482913, codice prodotto 482913, 商品コード 482913',
		'SSH asks: "Enter passphrase for key id_ed25519:"',
		'user,role\nada,admin2',
	])('are not seen in %j', (text) => {
		expect(masked(text)).toEqual({ text, count: 0 });
	});

	it('hides what follows a private key without its end', () => {
		expect(shownOf('Look:\n-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nabc')).toBe(`Look:\n${MASK}`);
	});

	it('shows no half of a key where a text is cut', () => {
		const around = (length: number) =>
			`${'word '.repeat(200).slice(0, length - 12)} ${key('ghp_')} ${'more '.repeat(400)}`;
		for (let length = 500; length <= 640; length += 1) {
			const { steps } = snapshotOf(session({ messages: [assistant(around(length))] }), 0);
			expect(steps[0]?.text).not.toMatch(/aB3/);
		}
	});

	it('are hidden in what 1.0.0 has stored, in all texts of a session, and no more the second time', () => {
		const message = { ...assistant('The password is: Xq7-fake-9'), humanInput: [] };
		const stored = { ...snapshotOf(session({ messages: [message] }), 0), name: 'Try Xq7-fake-9', result: 'Xq7-fake-9' };
		const shown = maskedSnapshot(new Set(), { ...stored, steps: [{ step: 1, text: message.content, actions: [] }] });
		expect(shown).toMatchObject({ name: `Try ${MASK}`, result: MASK, steps: [{ text: `The password is: ${MASK}` }] });
		expect(maskedSnapshot(new Set(), shown)).toEqual(shown);
	});

	it('masks a masked text no more, and returns a text without one as it is', () => {
		fc.assert(
			fc.property(fc.string({ unit: 'grapheme' }), (text) => {
				const found = masked(`${text} password: "${text.replaceAll(/\W/gu, '')}x9"`);
				expect(found.text).toContain(MASK);
				expect(shownOf(found.text)).toBe(found.text);
			}),
			{ numRuns: runs(100) },
		);
	});
});

describe('a question that hides something', () => {
	it('has no one-press answer, and the same fingerprint', () => {
		const asks = (description: string) => {
			const message = { ...assistant(''), humanInput: [{ title: 'Which one?', description, value: '' }] };
			const asking = session({ status: 'humanInput', messages: [message] });
			return { view: questionSnapshotAt(asking, 0), hash: asking.messages[0]?.fingerprint };
		};
		const hidden = asks('It is at https://ada:hunter2@shop.example\nOne of: red, blue');
		expect(hidden.view).toMatchObject({ quick: null, hides: true, fingerprint: hidden.hash });
		expect(asks('One of: red, blue').view?.quick?.options).toEqual(['red', 'blue']);
	});

	it('does not offer what a button of an older version has', () => {
		const text = 'One of: hunter2, hunter3';
		const message = { ...assistant(''), humanInput: [{ title: 'Which one?', description: text, value: '' }] };
		const view = questionSnapshotAt(session({ status: 'humanInput', messages: [message] }), 0);
		if (view === null) throw new Error('no question');
		const offers = (description: string, hides?: true) => {
			const items = view.items.map((one) => ({ ...one, description }));
			const choice = { fingerprint: view.fingerprint, shownHash: view.shownHash, position: 0, option: 'hunter3' };
			return isOffered({ ...view, items, ...(hides && { hides }) }, choice);
		};
		expect(offers(text)).toBe(true);
		expect(offers(text, true)).toBe(false);
	});
});
