import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import type { Log } from '../../../src/core/log.ts';
import { createAnswers } from '../../../src/features/answer/accept.ts';
import { createClaims } from '../../../src/features/answer/drafts.ts';
import { openStore } from '../../../src/stores.ts';
import { current, KEY, LEASE, OTHER_KEY, SERVICE, submission, T0, valuesOf } from '../../database/support.ts';
import { coreOf } from '../../support/core.ts';

const clock = createManualClock(T0);
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, child: () => quiet };
let dataDir: string;
beforeEach(async () => {
	dataDir = await mkdtemp(join(tmpdir(), 'handraise-key-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

async function open(encryptionKey: string) {
	const store = await openStore({ dataDir, encryptionKey, clock, log: quiet });
	const questionUpdated = () => {};
	let woken = 0;
	const core = coreOf({
		store,
		clock,
		log: quiet,
		metrics: { answers: { submitted() {} } },
		config: { GIVE_UP_HOURS: 1 },
		serviceUrl: SERVICE,
	});
	const answers = createAnswers(core, createClaims(core, questionUpdated), questionUpdated, () => woken++);
	return { store, answers, woken: () => woken };
}

it('sends waiting answers only after the right encryption key is restored', async () => {
	const first = await open(KEY);
	const { answer } = await first.store.answers.accept(submission());
	await first.store.close();

	const wrong = await open(OTHER_KEY);
	const [taken] = await wrong.store.answers.takeDue(SERVICE, LEASE, 1, T0);
	expect(taken?.content.kind).toBe('unreadable');
	const waiting = { state: 'waiting', lastError: 'values_unreadable', nextAttemptAt: null } as const;
	await wrong.store.answers.update(await current(wrong.store, answer.id), LEASE.token, waiting, {
		now: T0,
		release: true,
	});
	expect(await wrong.answers.sendReadableAgain()).toBe(0);
	await wrong.store.close();

	const right = await open(KEY);
	expect(await right.answers.sendReadableAgain()).toBe(1);
	expect(right.woken()).toBe(1);
	const again = await right.store.answers.get(answer.id);
	expect(again).toMatchObject({ state: 'accepted', lastError: null, nextAttemptAt: T0 });
	expect(valuesOf(again)).toEqual(['blue']);
	expect(await right.answers.sendReadableAgain()).toBe(0);
	await right.store.close();
});
