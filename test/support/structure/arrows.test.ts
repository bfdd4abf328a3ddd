import { describe, expect, it } from 'vitest';
import { wrongArrows } from './arrows.ts';

const importing = (...specifiers: readonly string[]) =>
	specifiers.map((specifier) => `import type { Some } from '${specifier}';\n`).join('');

describe('arrows', () => {
	it.each([
		['core/log.ts', '../questions/session.ts'],
		['questions/session.ts', '../database/watch.ts'],
		['slack/reply.ts', '../database/watch.ts'],
		['database/due.ts', '../core.ts'],
		['slack/reply.ts', './text/mrkdwn.ts'],
		['posts/outbox.ts', '../features/watch/announcer.ts'],
		['features/answer/view.ts', '../inbox/view.ts'],
		['features/inbox/view.ts', '../../app.ts'],
		['questions/session.ts', 'undici'],
		['slack/reply.ts', 'kysely'],
		['posts/outbox.ts', 'kysely'],
		['session-service/client.ts', '@slack/bolt'],
	])('%s must not import %s', (path, specifier) => {
		expect(wrongArrows(path, importing('./other.ts', specifier))).toHaveLength(1);
	});

	it('go one way, also those of types; a feature knows answer and watch', () => {
		const text = importing(
			'../../core.ts',
			'../../posts/kinds.ts',
			'../answer/view.ts',
			'../watch/view.ts',
			'./store.ts',
		);
		expect(wrongArrows('features/inbox/view.ts', text)).toEqual([]);
		expect(wrongArrows('features/inbox/inbox-store.ts', importing('kysely', '../../database/due.ts'))).toEqual([]);
		expect(wrongArrows('app.ts', importing('./features/press/handler.ts'))).toEqual([]);
	});
});
