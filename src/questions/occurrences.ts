import type { Judgement, SettledHow } from './asked.ts';
import type { QuestionDigest, Session } from './session.ts';
import { type Change, type Digest, digestOfQuestionAt, type QuestionView } from './session-snapshot.ts';

type ItemsShown = QuestionView['items'] | undefined;

/** What a read changes of a session's questions: each time its agent asks is one occurrence; at most one is open. */
export type OccurrenceChange =
	/** The agent asks; or asked, and was answered before anybody saw it open (`settled`). */
	| { readonly kind: 'asked'; readonly question: QuestionDigest; readonly settled: SettledHow | null }
	/** The newest waits again after its agent went on without an answer; the open one changed text, place or values. */
	| { readonly kind: 'reopened' | 'updated'; readonly question: QuestionDigest }
	/** `items`: with the values of an answer that this read shows. */
	| { readonly kind: 'settled'; readonly how: SettledHow; readonly items?: ItemsShown };

/** What to write, in this order. `changes`: since `before`. `itemsAt`: what is shown of its question there. */
export function occurrenceChanges(
	before: Digest | null,
	changes: readonly Change[],
	session: Session,
	{ closedItems, isAnsweredAnew, itemsAt, digest }: Judgement & { digest: Digest; itemsAt(at: number): ItemsShown },
): OccurrenceChange[] {
	const found: OccurrenceChange[] = [];
	const known = before?.question ?? null;
	const { question: current } = digest;
	/** Where the newest known question is, as the changes so far tell, and whether it is open. */
	let knownAt = known?.messageIndex ?? null;
	let isOpen = known !== null && known.open.length > 0;
	let isUpdated = known?.shownHash !== current?.shownHash;

	function settle(how: SettledHow, items?: ItemsShown): void {
		if (isOpen) found.push({ kind: 'settled', how, items });
		isOpen = false;
	}

	function ask(messageIndex: number, settled: SettledHow | null): void {
		const question = digestOfQuestionAt(session, messageIndex, closedItems);
		if (question === null) return;
		found.push({ kind: 'asked', question, settled });
		isOpen = settled === null;
		knownAt = messageIndex;
	}

	for (const change of changes) {
		switch (change.kind) {
			case 'questionAsked':
				settle('renewed');
				ask(change.messageIndex, null);
				break;
			case 'questionChanged':
				settle('changed');
				if (change.items.length > 0) ask(change.messageIndex, null);
				// If it is answered, that follows. Else nobody has to answer it.
				else knownAt = null;
				break;
			case 'questionAnswered': {
				const { messageIndex, isWhole, taken } = change;
				const isKnown = messageIndex === knownAt;
				// Only of the known one: the rules read the items that are shown.
				if (isKnown && isWhole) settle('answered', taken === true ? undefined : itemsAt(messageIndex));
				else if (isKnown) isUpdated = true;
				// Next it is told that the open ones are asked.
				else if (isWhole) ask(messageIndex, 'answered');
				break;
			}
			case 'questionMoved':
				knownAt = change.messageIndex;
				isUpdated = true;
				break;
			case 'questionClosed':
				settle(change.wentOn === true ? 'wentOn' : 'closed');
				break;
			case 'questionReopened':
				if (current !== null) found.push({ kind: 'reopened', question: current });
				isOpen = true;
				isUpdated = false;
				break;
			default:
		}
	}
	const isNew = found.some(({ kind }) => kind === 'asked');
	// It was answered before anybody watched or saw it asked: later reads may show it asked again.
	const isUnseen = isAnsweredAnew || (before === null && (current?.answered.length ?? 0) > 0);
	if (isUnseen && !isNew && current !== null) ask(current.messageIndex, 'answered');
	return isOpen && !isNew && isUpdated && current !== null ? [...found, { kind: 'updated', question: current }] : found;
}
