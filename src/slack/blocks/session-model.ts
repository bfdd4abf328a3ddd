import type { OtherAnswer } from '../../answers/answer.ts';
import type { Question } from '../../questions/open-question.ts';
import type { Session } from '../../questions/session.ts';
import type { Links } from '../links.ts';
import type { ViewMetadata } from '../metadata.ts';
import type { Names, SettledBy } from '../words.ts';

/** One thing worth knowing above the question. */
export type Notice =
	/** The question is another than the one this form showed; `carried`: typed text was kept where it fits. */
	| { readonly kind: 'questionChanged'; readonly carried: boolean }
	/** Somebody answered while this form was open. */
	| { readonly kind: 'answeredMeanwhile'; readonly other: OtherAnswer }
	/** Text typed earlier is back in the fields. */
	| { readonly kind: 'draftRestored'; readonly at: number }
	/** The fields are filled with a message that was chosen with "Use as answer". */
	| { readonly kind: 'prefilled' }
	/** A message was chosen for an answer, but nothing is open, or only what is secret. */
	| { readonly kind: 'textUnused'; readonly why: 'nothingOpen' | 'secret' }
	/** The session is being read again, for so many milliseconds by now. */
	| { readonly kind: 'stillWaiting'; readonly waitedMs: number }
	/** What is shown was read later than what the view showed before. */
	| { readonly kind: 'readAgain' }
	/** The service did not answer just now: what is shown was read earlier. */
	| { readonly kind: 'stale'; readonly code: string; readonly readAt: number; readonly retryAt?: number | null }
	/** This person's own answer to this question is on its way or waits. */
	| { readonly kind: 'ownAnswer'; readonly state: 'accepted' | 'delivering' | 'waiting'; readonly at: number };

export interface ClaimView {
	readonly userId: string;
	/** Milliseconds since the epoch; null when it is not known since when. */
	readonly since: number | null;
}

/** Everything the session's modal shows. All times are milliseconds since the epoch. */
export interface SessionModel {
	readonly session: Session;
	readonly readAt: number;
	/** What is open, or null. */
	readonly question: Question | null;
	/** Whose answer settled the newest question, where nothing is open and the agent still says that it waits. */
	readonly settledBy?: SettledBy | null;
	/** Of the view as it stands (`newMetadata` at first), with `page`, `partial` and `plainText` as they are to be. */
	readonly metadata: ViewMetadata;
	/** What is known of the answers by position: a draft, typed text, a prefill. */
	readonly draft: Readonly<Record<number, string>>;
	/** Positions whose box is ticked; left out: what looks like a secret. */
	readonly secret?: readonly number[];
	readonly notices: readonly Notice[];
	/** Of others, not of the person who looks. */
	readonly claims: readonly ClaimView[];
	readonly now: number;
	readonly names: Names;
	readonly dashboardUrl: string | null;
	/** What addresses of files and screenshots become. */
	readonly links: Links;
	readonly adminContact: string | null;
	/** Null hides the button. */
	readonly watch: { readonly watching: boolean; readonly label: string } | null;
	/** Slack could not load the screenshot: leave it out. */
	readonly withoutImages?: boolean;
}
