import { item } from '../../fake-session-service/builders.ts';
import type { Actor, Modal, Posted } from '../../fake-slack/index.ts';
import type { UpgradedApp } from './fixture.ts';
import { STAY_NAMES } from './stays.ts';

const flight = (title: string) => [item(title, 'One of: LH 1173, TP 570')];

/** The sessions of the story and what their agents ask. Each is named after what becomes of its question. */
export const QUESTIONS = {
	/** It has a reminder, and ada snoozed it. */
	reminded: flight('Which flight to Lisbon?'),
	/** Handed over by ada to grace, with a note. */
	handedOver: flight('Which flight to Oslo?'),
	/** ada has its form open and filled it in, but for the last field; grace only looks at it. */
	opened: ['Which colour?', 'Which shop?', 'How many chairs?'],
	/** grace typed something and closed the form. */
	drafted: ['What do I write to the supplier?'],
	/** grace's answer is delivered, and the agent has not gone on. */
	delivered: ['Which date suits you?'],
	/** grace's answer was saved by the service, and its reply was lost. */
	unknown: ['Which size?'],
	/** ada answered while the service was down. */
	queued: ['Which address?'],
	/** ada pressed an option, and can undo it. */
	undone: flight('Which flight to Rome?'),
	sent: flight('Which flight to Cork?'),
	/** Nobody watches its session; #secret watches all. */
	discovered: flight('Which flight to Bonn?'),
} as const;
/** What ada typed as the shop and keeps secret. */
export const SECRET = 'hunter-2';
/** What ada wrote to grace. */
export const NOTE = 'You know Oslo.';
export type Name = keyof typeof QUESTIONS;
export const NAMES = Object.keys(QUESTIONS) as readonly Name[];
export const WATCHED = NAMES.filter((name) => name !== 'discovered');
/** The sessions that lists leave out. */
export const HIDDEN: readonly string[] = [...WATCHED, ...STAY_NAMES];

export const titleOf = (name: Name): string => {
	const [first] = QUESTIONS[name];
	return typeof first === 'string' ? first : (first.title ?? '');
};

/** The message that announced this question in its channel. */
function findPost(app: UpgradedApp, name: Name): Posted | undefined {
	const posts = app.inChannel(name === 'discovered' ? '#secret' : '#agents');
	const isCard = (post: Posted) => post.buttons().includes('Stop watching');
	// While an answer can be taken back, only the notification has the name.
	const pattern = new RegExp(`Trip ${name} ask(?:s|ed)\\b|⏳ Trip ${name}: `);
	return posts.find((post) => !isCard(post) && pattern.test(`${post.text()}\n${post.notification()}`));
}

export function postOf(app: UpgradedApp, name: Name): Posted {
	const post = findPost(app, name);
	if (post === undefined) throw new Error(`There is no post of ${name}.`);
	return post;
}

/** Opens the form of a question; every person and window has one at a time. */
export async function openForm(person: Actor, name: Name): Promise<Modal> {
	await person.command('#agents', `/session ${name}`);
	return person.waitForModal(titleOf(name));
}
