import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fault } from '../fake-session-service/faults.ts';
import { ACTIONS } from '../src/slack/ids.ts';
import { backUp, openRestore } from '../src/store/backup.ts';
import { AUDIT_ACTIONS } from '../src/store/schema/audit.ts';
import {
	type AnswererApp,
	afterAll,
	answererApp,
	beforeAll,
	callSlack,
	expect,
	headline,
	it,
	keepSecret,
	openSession,
	type Posted,
} from './kit.ts';
import { runAudit } from './operator/audit-command.ts';
import { makeDataDir } from './store/support.ts';
import { AUDIT_LINE, type AuditLine, auditLines } from './support/audit-lines.ts';
import { auditRows } from './support/audit-rows.ts';
import { runMigrate, runPerson, runRekey } from './support/commands.ts';
import { shownHashOf } from './support/sessions.ts';
import { tooComplex } from './support/too-complex.ts';

const [ADA, BOB, GRACE] = ['U0ADA', 'U0BOB', 'U0GRACE'];
const MINUTE_MS = 60_000;
const SECRET = 'hunter2 is mine';
const TYPED = 'A seat at the aisle';

let app: AnswererApp;
let lines: readonly AuditLine[];
const sessions: Record<string, string> = {};
const operator = (...args: readonly string[]) => runPerson(args, { DATA_DIR: app.dataDir });

const otherKey = () => ({
	ENCRYPTION_KEY: 'a passphrase of an operator',
	ENCRYPTION_KEY_FORMER_FILE: join(app.dataDir, 'encryption.key'),
});

/** A question of a new session, by which its lines are found. */
async function asked(scene: string): Promise<{ readonly id: string; readonly post: Posted }> {
	const { id, post } = await app.asked();
	sessions[scene] = id;
	return { id, post };
}

async function submitted(who: string, id: string, text: string, fault: Fault | null = null) {
	const form = await openSession(app, id, who);
	await form.choose(0, text);
	if (fault !== null) app.service.faults.add(fault);
	await form.submit();
	return form;
}

/** What the agent does when it has the answer. */
const whenSaved = (act: () => void) => {
	app.service.hooks.onSaved = () => {
		delete app.service.hooks.onSaved;
		act();
	};
};

/** Ada is first and takes it back: Grace's answer is a draft. */
async function second(scene: string) {
	const { id, post } = await asked(scene);
	const offers = () =>
		app.slack
			.as('grace')
			.dm()
			.filter((dm) => dm.buttons().includes('Open the question') && JSON.stringify(dm.blocks()).includes(id));
	const form = await openSession(app, id, 'grace');
	await form.choose(0, 'TP 570');
	await app.press(post, 'ada', 'LH 1173');
	await form.submit();
	expect(form.text()).toContain(headline('conflicted'));
	await form.close();
	await app.until(() => app.seenBy('ada', post).buttons().includes('Undo'));
	await app.press(post, 'ada', 'Undo');
	return { post, offer: await app.until(() => offers().at(-1)) };
}

const SCENES = {
	async plain() {
		const { id, post } = await asked('plain');
		await app.press(post, 'ada', 'LH 1173');
		await app.until(() => post.text().includes('· continued'));
		await app.command(`/session unwatch ${id}`);
	},
	async handing() {
		const { post } = await asked('handing');
		await app.handOver(post, 'ada', 'bob', TYPED);
		await (await app.handedTo('bob')).press('Give back');
		await app.givenBackTo('ada');
	},
	async undoing() {
		const { post, offer } = await second('undoing');
		await offer.press('Open the question');
		const form = await app.slack.as('grace').waitForModal((modal) => modal.submitText() !== null);
		await form.submit();
		await app.until(() => post.text().includes('· continued'));
	},
	async tryingAgain() {
		const { id, post } = await asked('tryingAgain');
		const form = await submitted('grace', id, 'TP 570', tooComplex(id));
		await app.until(() => form.buttons().includes('Try again'));
		app.service.faults.clear();
		await form.press('Try again');
		await app.until(() => post.text().includes('· continued'));
	},
	async ending() {
		const { id } = await asked('ending');
		const form = await submitted('grace', id, 'TP 570', { kind: 'error', status: 503, sessionId: id });
		app.service.sessions.setStatus(id, 'stopped');
		app.service.faults.clear();
		await app.until(() => form.text().includes(headline('ended')));
	},
	/** By a receipt in a message that is no post. */
	async discarding() {
		const { offer } = await second('discarding');
		const value = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(JSON.stringify(offer.blocks()))?.[0];
		const text = { type: 'plain_text', text: 'Discard answer' };
		const row = { type: 'actions', elements: [{ type: 'button', action_id: ACTIONS.giveUp, text, value }] };
		const post = { channel: 'C0AGENTS', text: 'A receipt', blocks: [row], parse: 'none', link_names: false };
		await callSlack(app.slack, 'chat.postMessage', post);
		const former = await app.until(() => app.inChannel().find((one) => one.buttons().includes('Discard answer')));
		await app.seenBy('grace', former).press('Discard answer');
		const messages = () => app.slack.as('grace').messages('#agents', { all: true });
		await app.until(() => messages().some((one) => one.text().includes(headline('withdrawn'))));
	},
	async overwriting() {
		const { id } = await asked('overwriting');
		whenSaved(() => {
			for (const item of app.service.sessions.get(id).messages?.findLast((one) => one.human_input)?.human_input ?? [])
				item.value = 'green';
			app.service.sessions.patch(id, {});
			app.service.sessions.setStatus(id, 'humanInput');
		});
		await submitted('ada', id, 'LH 1173');
		await app.pass(2 * MINUTE_MS);
	},
	/** Slack shows an error, and the person sends the form once more with another text. */
	async editing() {
		const { id } = await asked('editing');
		const form = await openSession(app, id, 'ada');
		await form.choose(0, 'None of these (write below)');
		await form.fill(1, 'blue');
		await keepSecret(form, app.until);
		const first = form.submit();
		await form.fill(1, SECRET);
		await Promise.all([first, form.submit()]);
		await app.pass(MINUTE_MS);
	},
	async refusing() {
		const { post } = await asked('refusing');
		await app.names(['grace']);
		for (let press = 0; press < 3; press++) await app.press(post, 'bob', 'LH 1173');
		await app.refused('bob', 'Only grace may answer.');
		await app.pass(2 * MINUTE_MS);
		await operator('clear', 'C0AGENTS');
	},
	async forgetting() {
		await operator('export', GRACE);
		await operator('forget', GRACE, '--yes', GRACE);
	},
	async changingKey() {
		await app.stop();
		await runRekey({ DATA_DIR: app.dataDir, ...otherKey() });
		await app.restart(otherKey());
	},
	async restoring() {
		const elsewhere = makeDataDir();
		const copy = join(elsewhere.path, 'backup.db');
		backUp(app.dataDir, copy);
		await app.stop();
		(await openRestore(app.dataDir, copy)).replace('ada@laptop');
		await app.restart(otherKey());
		await rm(elsewhere.path, { recursive: true });
	},
	async moving() {
		await app.stop();
		const moved = { SESSION_SERVICE_URL: app.service.url.replace('127.0.0.1', 'localhost') };
		await runMigrate(['--service-moved'], { DATA_DIR: app.dataDir, ...otherKey(), ...moved });
		await app.restart({ ...otherKey(), ...moved });
	},
};

beforeAll(async () => {
	app = await answererApp({ UNDO_SECONDS: '10' }, { mayFail: true });
	for (const [name, play] of Object.entries(SCENES)) {
		try {
			await play();
		} catch (error) {
			throw new Error(`in the scene ${name}`, { cause: error });
		}
	}
	({ lines } = await runAudit([], { DATA_DIR: app.dataDir }));
}, 240_000);
afterAll(() => app[Symbol.asyncDispose]());

const ACCOUNT = expect.stringMatching(/.@./);
/** Of a person. */
const NAME = expect.stringMatching(/^[0-9a-f]{16}$/);
const byProgram = { actor: 'program', about: ADA, channel: 'C0AGENTS', request: null };
const byAda = { actor: ADA, channel: 'C0AGENTS', request: expect.stringMatching(/^[0-9a-f]{12}$/) };
const byOperator = { actor: 'operator', request: null };
/** Grace is forgotten in the end. */
const byGrace = { ...byAda, actor: expect.stringMatching(/^forgotten-/) };

/** What each action tells, in this scene's session if it is about one. */
const TOLD: Readonly<Record<(typeof AUDIT_ACTIONS)[number], readonly [keyof typeof SCENES | null, object]>> = {
	opened: ['overwriting', { ...byAda, about: 'open', outcome: 'shown' }],
	asked: ['plain', { actor: null, about: null, outcome: 'asked', fingerprint: expect.any(String) }],
	answered: ['plain', { ...byAda, outcome: 'accepted', answer: expect.any(String), fingerprint: expect.any(String) }],
	edited: ['editing', { ...byAda, outcome: 'accepted' }],
	undone: ['undoing', { ...byAda, outcome: 'withdrawn' }],
	discarded: ['discarding', { ...byGrace, outcome: 'withdrawn' }],
	delivered: ['plain', { ...byProgram, outcome: 'delivered' }],
	resumed: ['plain', { ...byProgram, outcome: 'resumed' }],
	overwritten: ['overwriting', { ...byProgram, outcome: 'delivered' }],
	conflicted: ['undoing', { ...byGrace, about: ADA, outcome: 'conflicted' }],
	failed: ['ending', { actor: 'program', about: byGrace.actor, outcome: 'ended' }],
	refused: [null, { actor: BOB, about: 'question.choose_1', outcome: 'not_named', count: 3, channel: null }],
	sentAgain: ['tryingAgain', { ...byGrace, outcome: 'accepted' }],
	handedOver: ['handing', { ...byAda, about: BOB, outcome: 'handedOver' }],
	givenBack: ['handing', { ...byAda, actor: BOB, about: ADA, outcome: 'givenBack' }],
	watched: ['plain', { ...byAda, outcome: 'watching' }],
	unwatched: ['plain', { ...byAda, outcome: 'unwatched' }],
	settingsChanged: [null, { ...byAda, outcome: 'answerers' }],
	keyChanged: [null, { ...byOperator, operator: ACCOUNT, outcome: 'begun' }],
	serviceMoved: [null, { ...byOperator, operator: ACCOUNT, outcome: 'moved' }],
	personExported: [null, { ...byOperator, operator: ACCOUNT, about: NAME, outcome: 'begun' }],
	personForgotten: [null, { ...byOperator, operator: ACCOUNT, about: NAME, outcome: 'forgotten' }],
	restored: [null, { ...byOperator, operator: 'ada@laptop', outcome: 'restored' }],
};

it.each(AUDIT_ACTIONS)('tells who did what: %s', (action) => {
	const [scene, told] = TOLD[action];
	const session = scene === null ? null : sessions[scene];
	const same = lines.filter((line) => line.action === action && line.session === session);
	expect(same[0]).toMatchObject({ count: 1, ...told });
	// What happens once is told once; a change of the key begins, and finishes.
	if (action === 'keyChanged') expect(same.map(({ outcome }) => outcome)).toEqual(['begun', 'finished']);
	else if (action !== 'settingsChanged' && action !== 'personExported') expect(same).toHaveLength(1);
});

it('tells what an operator changed for a channel', () => {
	const cleared = { actor: 'operator', operator: ACCOUNT, channel: 'C0AGENTS', outcome: 'cleared' };
	expect(lines.filter(({ action }) => action === 'settingsChanged').at(-1)).toMatchObject(cleared);
});

it('has no text of an agent, no answer, nothing secret and nothing typed, in the lines and in the table', () => {
	const rows = AUDIT_ACTIONS.flatMap((action) => auditRows(app.dataDir, action));
	expect(rows.length).toBe(lines.length);
	const all = JSON.stringify([rows, lines]);
	for (const text of [SECRET, TYPED, 'LH 1173', 'TP 570', 'green', 'Which flight', 'Book a flight', 'blue'])
		expect(all).not.toContain(text);
});

it('is described in the documents: each field, and each action', () => {
	const page = readFileSync(new URL('../docs/operations.md', import.meta.url), 'utf8');
	const section = page.split(/^## /m).find((part) => part.startsWith('The audit\n')) ?? '';
	const named = section.split('\n').flatMap((line) => /^\| (`.*?) \|/.exec(line)?.[1]?.match(/\w+/g) ?? []);
	expect(named.toSorted()).toEqual([...Object.keys(AUDIT_LINE.shape), ...AUDIT_ACTIONS].toSorted());
});

it('has at each line of an answer the hash of what its author saw, and no other hash', () => {
	const { messages } = app.service.sessions.get(sessions.plain ?? '');
	const asking = messages?.find((one) => one.human_input?.length);
	const content = asking?.content ?? '';
	const humanInput = (asking?.human_input ?? []).map((one) => ({
		title: one.title ?? '',
		description: one.description ?? '',
		value: '',
	}));
	expect(humanInput.map(({ title }) => title)).toEqual(['Which flight?']);
	const seen = shownHashOf({ content, humanInput });
	const plain = lines.filter(({ session, answer }) => session === sessions.plain && answer !== null);
	expect(plain.map(({ action, shownHash }) => [action, shownHash])).toEqual(
		['answered', 'delivered', 'resumed'].map((action) => [action, seen]),
	);
	expect(shownHashOf({ content: `${content} Now.`, humanInput })).not.toBe(seen);
	for (const { answer, shownHash } of lines) expect(shownHash === null).toBe(answer === null);
});

it('has the request of the lines in the log that tell of the same', () => {
	const answered = lines.find(({ action }) => action === 'answered');
	const logged = app.log
		.map((line) => JSON.parse(line))
		.filter(({ request, msg }) => request === answered?.request && msg !== 'audit');
	expect(logged.length).toBeGreaterThan(0);
	expect(new Set(logged.map(({ user }) => user))).toEqual(new Set([ADA]));
});

it('has each row in the log as well, in the same words', () => {
	// The person who is forgotten has another name in the rows since then.
	const wordsOf = ({ number, at, action, session, channel, answer, outcome, operator }: AuditLine) =>
		JSON.stringify([number, at, action, session, channel, answer, outcome, operator]);
	const told = new Set(auditLines(app.log).map(wordsOf));
	// What commands do while the program is stopped.
	const isLogged = ({ action }: AuditLine) => action !== 'serviceMoved' && action !== 'keyChanged';
	const missing = lines.filter((line) => isLogged(line) && !told.has(wordsOf(line)));
	expect(missing).toEqual([]);
});
