import { item } from '../../fake-session-service/builders.ts';
import type { Posted } from '../../fake-slack/index.ts';
import type { UpgradedApp } from './fixture.ts';

/*
 * What people did with 1.1.0 before the story of every release began, in a channel of its own: answers in the states that
 * the story leaves out, a list of who may answer, an escalation, and watches with flags.
 */

export const CHANNEL = '#stays';
const BEDS = [item('Which bed?', 'One of: Single, Double')];

/** The sessions and what their agents ask. Each is named after the state of its answer, or after how it is watched. */
export const STAYS = {
	/** grace answered, and the agent went on. */
	resumed: ['Which hotel?'],
	/** ada came second. */
	conflicted: ['Which breakfast?'],
	/** ada pressed, grace came second, and ada undid the press: grace decides. */
	waiting: BEDS,
	/** The agent asks something else since ada answered. */
	changed: ['Which pillow?'],
	/** bob may not answer any more. */
	refused: ['Which floor?'],
	/** The session was over before ada's answer was sent. */
	ended: ['Which view?'],
	/** grace's answer waits: the service responds to nothing about this session. */
	secret: ['What is the password of the booking account?'],
	/** grace was mentioned. */
	escalated: BEDS,
	/** Watched with `--thread-only`, and the next two with `--discreet` and `--no-buttons`. */
	threadOnly: BEDS,
	discreet: BEDS,
	buttonless: BEDS,
} as const;
export type Stay = keyof typeof STAYS;
export const STAY_NAMES = Object.keys(STAYS) as readonly Stay[];
/** What grace keeps secret. */
export const PASSWORD = 'swordfish-1998';
/** What the agent of `changed` asks now. */
export const NEW_QUESTION = 'Which blanket?';

/** The newest message that takes an answer to its question. */
export function stayPost(app: UpgradedApp, name: Stay): Posted | undefined {
	const isOpen = (post: Posted) => post.buttons().some((label) => /^(?:Answer…|Other answer…|Undo)$/.test(label));
	return [...app.thread(name, CHANNEL), ...app.inChannel(CHANNEL)].findLast(
		(post) => isOpen(post) && JSON.stringify(post.blocks()).includes(name),
	);
}
