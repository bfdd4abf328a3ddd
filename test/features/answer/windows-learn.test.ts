import type { ModalView } from '@slack/types';
import { expect, it } from 'vitest';
import { createManualClock } from '../../../fake-slack/index.ts';
import { StoreUnavailableError } from '../../../src/database/database.ts';
import { createOpenWindows } from '../../../src/features/answer/open-windows.ts';
import { ANN, createRecordingLog, SERVICE, T0 } from '../../database/support.ts';
import { coreOf } from '../../support/core.ts';
import { buildSession } from '../../support/sessions.ts';
import { openTestStore, pass } from '../watch/support.ts';

it('tells a window what a read found once the store works again: no later read of the same state tells of it', async () => {
	const clock = createManualClock(T0);
	const store = await openTestStore();
	const log = createRecordingLog();
	let failuresLeft = 3;
	const windows: typeof store.windows = {
		...store.windows,
		async learn(...read) {
			if (failuresLeft-- > 0) throw new StoreUnavailableError('away');
			await store.windows.learn(...read);
		},
	};
	const openWindows = createOpenWindows(coreOf({ store: { ...store, windows }, clients: {}, clock, log }));
	const question = { service: SERVICE, sessionId: 's1', messageIndex: 1 };
	const view = { type: 'modal', blocks: [{ type: 'divider' }] } as unknown as ModalView;
	await store.windows.shown('V1', { ...ANN, ...question, fingerprint: 'f', shownHash: 'h', hash: 'hash-1' }, view, T0);
	openWindows.start();
	openWindows.sessionRead(question, buildSession({ sessionId: 's1', messages: [] }));
	await pass(clock, 10_000);
	expect(log.lines.filter(({ fields }) => JSON.stringify(fields).includes('window_news_not_stored'))).toHaveLength(3);
	expect(await store.db.read.selectFrom('windows').select('learned').execute()).toEqual([{ learned: 'changed' }]);
	const stopped = openWindows.stop();
	await clock.advance(60_000);
	await stopped;
});
