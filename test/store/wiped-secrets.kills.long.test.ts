import { mkdtempSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingSession } from '../../fake-session-service/builders.ts';
import { createFakeSessionService, type FakeSessionService } from '../../fake-session-service/fake-session-service.ts';
import { createFakeSlack, type FakeSlack, type Modal } from '../../fake-slack/index.ts';
import { connectionEnv } from '../../sandbox/connection-env.ts';
import { manifestPath } from '../../sandbox/manifest-path.ts';
import { parseEncryptionKey } from '../../src/store/encryption.ts';
import { createReplica, type Replica } from '../faults/replica.ts';
import { keepSecret } from '../slack/support/open-session.ts';
import { DELIVERED, headline } from '../support/sentences.ts';
import { tooComplex } from '../support/too-complex.ts';
import { readableRemains } from './remains.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const HOUR_MS = 3_600_000;
/** The promised second after a wipe, as looks: what delays these on a busy machine delays the program too. */
const WIPED_WITHIN_LOOKS = 50;
const LOOK_EVERY_MS = 20;

let slack: FakeSlack;
let service: FakeSessionService;
let dataDir: string;
let program: Replica;
beforeAll(async () => {
	slack = await createFakeSlack({ waitMs: 45_000, manifest: manifestPath });
	service = createFakeSessionService({ resumeAfterMs: null, rateLimit: false, scenarios: [] });
	await service.start();
	dataDir = mkdtempSync(join(tmpdir(), 'handraise-wiped-'));
	program = createProgram();
	await program.start();
	await slack.connected(1);
});
afterAll(async () => {
	await program.kill();
	expect(slack.violations()).toEqual([]);
	await slack.close();
	await service.stop();
	await rm(dataDir, { recursive: true, force: true });
});

function createProgram(env: Readonly<Record<string, string>> = {}): Replica {
	return createReplica({
		entry: MAIN,
		env: {
			...connectionEnv({ slack, service }),
			SESSION_SERVICE_TIMEOUT_MS: '2000',
			DATA_DIR: dataDir,
			PORT: '0',
			...env,
		},
	});
}

const keyBeside = () => parseEncryptionKey(readFileSync(join(dataDir, 'encryption.key'), 'utf8'));
const secretOf = (id: string) => `secret-of-${id}`;
const readable = (ids: readonly string[]) => readableRemains(dataDir, keyBeside(), ids.map(secretOf));

function ask(id: string): void {
	service.sessions.put(id, askingSession(['Password for the shop']));
}

async function fillIn(id: string, who = 'ada', secret = secretOf(id)): Promise<Modal> {
	const person = slack.as(who);
	const before = person.modal()?.id;
	await person.command('#agents', `/session ${id}`);
	const form = await person.waitForModal((modal) => modal.id !== before && modal.submitText() !== null);
	await form.fill(0, secret);
	return form;
}

/** Submits, waits for the confirmation and closes the window. */
async function submit(form: Modal, words: string | RegExp, who = 'ada'): Promise<void> {
	expect((await form.submit()).outcome).toBe('updated');
	await slack.as(who).waitForModal(words);
	await form.close();
}

const breakReads = (id: string) =>
	void service.faults.add({ kind: 'error', status: 503, method: 'GET', sessionId: id });

/** Resolves when none of the texts can be read any more; rejects when that takes longer than promised. */
async function gone(ids: readonly string[]): Promise<void> {
	for (let looks = 0; looks < WIPED_WITHIN_LOOKS && readable(ids).length > 0; looks += 1) await delay(LOOK_EVERY_MS);
	expect(readable(ids)).toEqual([]);
}

describe('values that become secret', () => {
	it('removes a text from all files within a second after its item is marked as secret, and one that was sent, at the start after a kill during the wipe', {
		timeout: 120_000,
	}, async () => {
		service.sessions.put('door', askingSession(['Which door?', 'Remarks']));
		const form = await fillIn('door');
		await expect.poll(() => readable(['door']), { timeout: 10_000, interval: 50 }).toEqual(['door'].map(secretOf));
		await form.fill(1, 'kept-remarks');
		const soon = (test: () => boolean) => expect.poll(test).toBe(true);
		await keepSecret(form, soon, '1. Which door?');
		await gone(['door']);
		await form.close(true);

		ask('killed');
		const sent = await fillIn('killed');
		const arrived = new Promise<void>((resolve) => {
			service.hooks.onSaved = () => resolve();
		});
		const submitted = sent.submit();
		await arrived;
		await submitted;
		await slack.as('ada').waitForModal(DELIVERED);
		await program.kill();
		expect(readable(['door'])).toEqual([]);
		expect(readableRemains(dataDir, keyBeside(), ['kept-remarks'])).toEqual(['kept-remarks']);
		await program.start();
		expect(readable(['killed'])).toEqual([]);
	});
});

describe('the values of secret answers that ended', () => {
	it('removes secrets of ended answers from all files within a second, and after the next start, even when the program is killed', {
		timeout: 120_000,
	}, async () => {
		const ended = ['delivered', 'refused', 'conflicted', 'withdrawn', 'replaced'];
		for (const id of [...ended, 'waiting']) ask(id);
		await slack.connected(1);

		for (const id of ['replaced', 'waiting']) {
			const form = await fillIn(id);
			breakReads(id);
			await submit(form, headline('accepted'));
		}
		// Proves that the search works.
		expect(readable(['replaced', 'waiting'])).toHaveLength(2);
		await program.kill();
		await program.shiftClock(25 * HOUR_MS);
		await program.start();
		await expect
			.poll(
				() =>
					slack
						.as('ada')
						.dm()
						.filter((post) => post.buttons().includes('Try again')).length,
				{
					timeout: 20_000,
				},
			)
			.toBe(2);

		const refused = await fillIn('refused');
		service.faults.add(tooComplex('refused'));
		await submit(refused, headline('refused'));
		const late = await fillIn('conflicted');
		service.sessions.answerAsPage('conflicted', ['of the page']);
		await submit(late, 'answered first');
		const unwanted = await fillIn('withdrawn');
		breakReads('withdrawn');
		expect((await unwanted.submit()).outcome).toBe('updated');
		await slack.as('ada').waitForModal((modal) => modal.buttons().includes('Discard answer'));
		expect(readable(['withdrawn'])).toHaveLength(1);
		await unwanted.press('Discard answer');
		await slack.as('ada').waitForModal(headline('withdrawn'));
		await unwanted.close();
		service.faults.clear();
		await submit(await fillIn('replaced', 'grace', 'of grace'), DELIVERED, 'grace');
		await submit(await fillIn('delivered'), DELIVERED);
		await gone(ended);
		await program.kill();
		expect(readable(['door', 'killed', ...ended])).toEqual([]);
		expect(readable(['waiting'])).toHaveLength(1);

		await program.shiftClock((25 + 8 * 24) * HOUR_MS);
		await program.start();
		await expect
			.poll(() => slack.as('ada').dm('Its passwords and codes were removed').length > 0, { timeout: 20_000 })
			.toBe(true);
		await gone([...ended, 'waiting']);
		await program.kill();
		expect(readable([...ended, 'waiting'])).toEqual([]);
	});
});
