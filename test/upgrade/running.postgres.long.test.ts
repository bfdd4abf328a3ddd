import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askingSession, item } from '../../fake-session-service/builders.ts';
import { itemsOf } from '../../fake-session-service/log.ts';
import type { Modal } from '../../fake-slack/index.ts';
import { copySource, isCommit } from '../faults/source-copy.ts';
import { KEY } from '../store/support.ts';
import { startProgram } from '../support/program.ts';
import { DRAFT_RESTORED } from '../support/sentences.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { skipUnless } from '../support/skip-unless.ts';
import { createWorld } from '../support/world.ts';
import { RELEASES } from './releases.ts';

/** A shallow clone lacks the commits. */
const HAS_RELEASES = (await Promise.all(RELEASES.map(({ commit }) => isCommit(commit)))).every(Boolean);

const FLIGHT = item('Which flight?', 'One of: LH 1173, TP 570');
/** By session, what its agent asks. */
const SESSIONS = {
	/** Answered and delivered before the end. */
	delivered: ['Which hotel?'],
	/** Answered while the service was down. */
	waiting: ['Which address?'],
	/** An option was pressed, and can be undone at the end. */
	pressed: [FLIGHT],
	/** Something was typed, and the form closed. */
	drafted: ['What do I write?'],
	open: [FLIGHT],
} as const;
type Name = keyof typeof SESSIONS;

describe.each(RELEASES)(
	'what a running $version has',
	skipUnless(HAS_RELEASES, 'a shallow clone lacks the commits of the releases'),
	({ commit }) => {
		let copy: Awaited<ReturnType<typeof copySource>>;
		beforeAll(async () => {
			copy = await copySource({ commit });
		});
		afterAll(() => copy[Symbol.asyncDispose]());

		it.each([
			['SQLite', 'SIGTERM'],
			['SQLite', 'SIGKILL'],
			['PostgreSQL', 'SIGTERM'],
			['PostgreSQL', 'SIGKILL'],
		] as const)('is taken over on %s after %s: each answer is delivered once', async (store, signal) => {
			await using world = await createWorld({}, { resumeAfterMs: null });
			const { slack, service } = world;
			const ada = slack.as('ada');
			const env = {
				...world.env,
				DATA_DIR: await mkdtemp(join(world.dataDir, 'data-')),
				UNDO_SECONDS: '60',
				...(store === 'PostgreSQL' && {
					DATABASE_URL: await (await sharedPostgres()).createDatabase(),
					ENCRYPTION_KEY: KEY,
				}),
			};
			const postOf = (name: Name, label: string) =>
				ada.waitForMessage('#agents', (post) => post.text().includes(`Trip ${name}`) && post.buttons().includes(label));
			// It names no session.
			const undoing = () => ada.waitForMessage('#agents', (post) => post.text().includes('ada: TP 570\n[Undo]'));
			async function formOf(name: Name): Promise<Modal> {
				await ada.modal()?.close(true);
				await ada.command('#agents', `/session ${name}`);
				return ada.waitForModal((modal) => modal.text().includes(`Trip ${name}`) && modal.submitText() !== null);
			}
			const sent = (name: Name) => service.log.savedPuts(name).map((put) => itemsOf(put)[0]?.value);
			async function saveSettings(): Promise<void> {
				await ada.command('#agents', '/session settings');
				const modal = await ada.waitForModal('[Save]');
				await modal.choose('Remind after', '1 h');
				await modal.submit();
				await ada.waitForMessage('#agents', 'changed the reminders of');
			}

			const before = startProgram(env, copy.entry);
			await before.says('Handraise is ready');
			for (const [name, items] of Object.entries(SESSIONS))
				service.sessions.put(name, askingSession([...items], { name: `Trip ${name}` }));
			await ada.command('#agents', `/session watch ${Object.keys(SESSIONS).join(' ')}`);
			for (const name of Object.keys(SESSIONS) as Name[])
				await postOf(name, SESSIONS[name][0] === FLIGHT ? 'Other answer…' : 'Answer…');
			await saveSettings();
			const delivered = await formOf('delivered');
			await delivered.fill(0, 'Grand');
			await delivered.submit();
			await ada.waitForMessage('#agents', (post) => /Trip delivered asked.*\n.*Grand · delivered/.test(post.text()));
			const drafted = await formOf('drafted');
			await drafted.fill(0, 'Please deliver before Friday.');
			await drafted.close();
			await expect
				.poll(async () => {
					const form = await formOf('drafted');
					return form.value(0);
				})
				.toBe('Please deliver before Friday.');
			const waiting = await formOf('waiting');
			await waiting.fill(0, '12 Main Street');
			await service.goDown();
			expect(await waiting.submit()).toMatchObject({ outcome: 'updated' });
			await (await postOf('pressed', 'TP 570')).press('TP 570');
			await undoing();
			before.child.kill(signal);
			await before.closed;

			await service.comeBack();
			const after = startProgram({ ...env, UNDO_SECONDS: '1' });
			await after.says('Handraise is ready');
			// A lease of a killed process lapses first.
			await expect.poll(() => sent('waiting'), { timeout: 60_000 }).toEqual(['12 Main Street']);
			const form = await formOf('drafted');
			expect(form.text()).toContain(DRAFT_RESTORED);
			expect(form.value(0)).toBe('Please deliver before Friday.');
			await (await postOf('open', 'LH 1173')).press('LH 1173');
			await expect.poll(() => sent('open')).toEqual(['LH 1173']);
			await (await undoing()).press('Undo');
			await (await postOf('pressed', 'LH 1173')).press('LH 1173');
			await expect.poll(() => sent('pressed')).toEqual(['LH 1173']);
			await ada.modal()?.close(true);
			await ada.command('#agents', '/session settings');
			expect((await ada.waitForModal('[Save]')).value('Remind after')).toBe('1 h');
			after.child.kill('SIGTERM');
			expect(await after.closed).toMatchObject({ code: 0, stderr: '' });
			expect(Object.fromEntries((Object.keys(SESSIONS) as Name[]).map((name) => [name, sent(name)]))).toEqual({
				delivered: ['Grand'],
				waiting: ['12 Main Street'],
				pressed: ['LH 1173'],
				drafted: [],
				open: ['LH 1173'],
			});
		});
	},
);
