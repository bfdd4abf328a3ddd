import type { Edit } from '../edits/edit.ts';

/**
 * Ways to break the promises about posts, to show that the run notices:
 * - `post-unsearched`: a post that may stand in Slack is posted again without a look and without a mark.
 * - `post-unnoted`: that Slack is about to be called is not stored.
 * - `post-unmarked`: what changes a question or a session does not have its posts drawn again.
 * - `post-closed`: what a post shows first counts as its last look.
 * - `repeat-untold`: a repeat that somebody presses goes on asking.
 * - `card-unreplaced`: a card that somebody deleted is not posted again.
 */
export const POST_SABOTAGES = {
	'post-unsearched': [{ file: 'surfaces/outbox.ts', in: 'ready', call: 'find', becomes: "{ kind: 'absent' }" }],
	'post-unnoted': [{ file: 'surfaces/post-store.ts', in: 'beginAttempt', property: 'sendingSince', becomes: null }],
	'post-unmarked': [{ file: 'surfaces/redraw-store.ts', in: 'markPosts', body: '' }],
	'post-closed': [{ file: 'surfaces/attempt-store.ts', in: 'isLastLook', returns: 'true' }],
	'repeat-untold': [{ file: 'surfaces/outbox.ts', in: 'showRepeat', call: 'repeatedBy', becomes: 'null' }],
	'card-unreplaced': [{ file: 'surfaces/attempt-store.ts', in: 'followUp', call: 'replaceCard', becomes: 'undefined' }],
} as const satisfies Record<string, readonly Edit[]>;
