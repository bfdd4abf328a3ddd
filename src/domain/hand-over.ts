import type { SessionKey } from './session.ts';

/** The newest hand-over of an open question. All times are milliseconds since the epoch. */
export interface HandOver {
	/** The id of the window that chose the person: it identifies a repeated submission. */
	readonly id: string;
	readonly teamId: string;
	readonly session: SessionKey;
	readonly fingerprint: string;
	/** The watch whose question it is, and its channel. */
	readonly watchId: string;
	readonly channelId: string;
	/** Slack user ids. */
	readonly from: string;
	readonly to: string;
	readonly count: number;
	readonly handedOverAt: number;
	/** Null while `to` has it. */
	readonly givenBackAt: number | null;
}

/** A question is handed over at most this often. Then somebody has to answer it or give it back. */
export const MOST_HAND_OVERS = 3;

/** The most questions that one person hands over (`from`) and gets (`to`) within `HAND_OVER_WINDOW_MS`. */
export const MOST_IN_WINDOW = { from: 10, to: 20 } as const;
export const HAND_OVER_WINDOW_MS = 10 * 60_000;

export interface NewHandOver extends Omit<HandOver, 'count' | 'handedOverAt' | 'givenBackAt'> {
	/** The id of a hand-over whose person may no longer answer. Anybody may replace it, whatever its count. */
	readonly replaces: string | null;
	/** A message from `from` to `to`. */
	readonly note: string | null;
}

export type HandOverResult =
	/** `taken`: somebody else has the question. `limit`: it was handed over too often. */
	| { readonly kind: 'handedOver' | 'taken' | 'limit'; readonly handOver: HandOver }
	/** The question is no longer open, or not watched there. */
	| { readonly kind: 'closed' }
	/** A person in another workspace has it. */
	| { readonly kind: 'elsewhere' }
	/** `from` handed over too many questions, or `to` got too many. Possible again in `againInMs` milliseconds. */
	| { readonly kind: 'tooMany'; readonly who: 'from' | 'to'; readonly againInMs: number };

/** The question of a *Hand over* or *Give back*, and where its person sees it. */
export type PressedQuestion = Pick<HandOver, 'fingerprint' | 'channelId'> & { readonly sessionId: string };

export type HandedQuestion = Pick<HandOver, 'teamId' | 'session' | 'fingerprint'>;

/** The hand-over by which somebody has the question now. */
export const holderOf = (handOver: HandOver | null) => (handOver?.givenBackAt === null ? handOver : null);

/** Why `from` cannot hand the question over; null when they can. */
export function obstacleTo(
	{ from, replaces }: Pick<NewHandOver, 'from' | 'replaces'>,
	current: HandOver | null,
): 'taken' | 'limit' | null {
	// The limit is for people who may answer.
	if (current === null || current.id === replaces) return null;
	if (current.givenBackAt === null && current.to !== from) return 'taken';
	return current.count >= MOST_HAND_OVERS ? 'limit' : null;
}

/** Where the direct message about a hand-over goes: to whoever has the question, or gets it back. */
export function targetOfHandOver(handOver: Pick<HandOver, 'id' | 'teamId' | 'from' | 'to' | 'givenBackAt'>) {
	const { id, teamId, from, to, givenBackAt } = handOver;
	return { kind: 'person', teamId, userId: givenBackAt === null ? to : from, topic: id } as const;
}
