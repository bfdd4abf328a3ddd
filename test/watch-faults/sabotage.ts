import type { Replacement } from '../faults/source-copy.ts';

/**
 * Ways to break the promises about posts, to show that the run notices:
 * - `post-unsearched`: a post that may stand in Slack is posted again without a look and without a mark.
 * - `post-unnoted`: that Slack is about to be called is not stored.
 * - `post-unmarked`: what changes a question or a session does not have its posts drawn again.
 * - `post-closed`: what a post shows first counts as its last look.
 * - `card-unreplaced`: a card that somebody deleted is not posted again.
 */
export const POST_SABOTAGES = {
	'post-unsearched': [
		{
			file: 'posts/outbox.ts',
			from: 'if (post.sendingSince !== null) {\n\t\t\tconst found',
			to: 'if (post.sendingSince === 0) {\n\t\t\tconst found',
		},
	],
	'post-unnoted': [{ file: 'posts/store.ts', from: '{ sendingSince: since, leasedUntil,', to: '{ leasedUntil,' }],
	'post-unmarked': [
		{
			file: 'posts/plan-store.ts',
			from: 'const rank = URGENCIES.indexOf(urgency);',
			to: 'if (now > 0) return;\n\tconst rank = URGENCIES.indexOf(urgency);',
		},
	],
	'post-closed': [
		{
			file: 'posts/store.ts',
			from: 'isOver(result) && { ...dueAgain(wanted, null, now), state: closedAt(wanted) }',
			to: "{ state: 'closed', dueAt: null }",
		},
	],
	'card-unreplaced': [
		{
			file: 'posts/store.ts',
			from: "if (watch !== undefined && result.kind === 'deleted' && row.kind === 'card')",
			to: "if (watch !== undefined && result.kind === 'deleted' && row.kind !== 'card')",
		},
	],
} as const satisfies Record<string, readonly Replacement[]>;

export function isPostSabotage(name: string): name is keyof typeof POST_SABOTAGES {
	return Object.hasOwn(POST_SABOTAGES, name);
}
