import { item } from '../../fake-session-service/builders.ts';
import type { Posted } from '../../fake-slack/index.ts';
import type { UpgradedApp } from './fixture.ts';

/*
 * What people did with 2.0.0 before the story of every release began, in channels of their own: answers in the states that
 * the story leaves out, a list of who may answer, an escalation, and a channel with other posts.
 */

export const CHANNEL = '#stays';
/** Its questions stand in the card's thread, without a word of them and without options. */
export const QUIET = '#quiet';
const BEDS = [item('Which bed?', 'One of: Single, Double')];

/** The sessions and what their agents ask. Each is named after the state of its answer, or after how it is watched. */
export const STAYS = {
	/** Nothing worked for a day: ada decides. */
	waiting: ['Which garden?'],
	/** grace answered, and the agent went on. */
	resumed: ['Which hotel?'],
	/** ada came second. */
	conflicted: ['Which breakfast?'],
	/** ada pressed, grace came second, and ada undid the press: grace's text is a draft. */
	second: BEDS,
	/** ada pressed and undid it. */
	withdrawn: BEDS,
	/** The agent asks something else since ada answered. */
	changed: ['Which pillow?'],
	/** bob may not answer any more. */
	refused: ['Which floor?'],
	/** The session was over before ada's answer was sent. */
	ended: ['Which view?'],
	/** grace's answer waits: the service responds to nothing about this session. */
	secret: ['What is the password of the booking account?'],
	/** grace's answer arrived, and is wiped. */
	hidden: ['What is the PIN of the booking account?'],
	/** grace's answer may have arrived: the reply was lost, and the agent has emptied the field and worked on. */
	perhaps: ['Which towel?'],
	/** grace's answer arrived, the agent emptied the field and asks again. */
	askedAgain: ['Which soap?'],
	/** grace left the second field empty. */
	half: ['Which lamp?', 'Which shade?'],
	/** ada mentioned the app in the thread, and pressed neither Send nor No. */
	offered: ['Which carpet?'],
	/** The service will spell its id in small letters. */
	SPELLED: ['Which curtain?'],
	/** grace was mentioned. */
	escalated: BEDS,
	/** In the channel with other posts. */
	quiet: BEDS,
} as const;
export type Stay = keyof typeof STAYS;
export const STAY_NAMES = Object.keys(STAYS) as readonly Stay[];
/** What grace keeps secret. */
export const PASSWORD = 'swordfish-1998';
export const PIN = '493817';
/** What ada's mention says. */
export const OFFERED = 'The blue one';
/** What the agent of `changed` asks now. */
export const NEW_QUESTION = 'Which blanket?';

/** The newest message that takes an answer to its question. */
export function stayPost(app: UpgradedApp, name: Stay): Posted | undefined {
	const isOpen = (post: Posted) => post.buttons().some((label) => /^(?:Answer…|Other answer…|Undo)$/.test(label));
	const channel = name === 'quiet' ? QUIET : CHANNEL;
	return [...app.thread(name, channel), ...app.inChannel(channel)].findLast(
		(post) => isOpen(post) && JSON.stringify(post.blocks()).includes(name),
	);
}
