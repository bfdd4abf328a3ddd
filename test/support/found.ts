import { type Evidence, NOTHING_SEEN } from '../../src/domain/asked.ts';
import type { OccurrenceChange } from '../../src/domain/occurrences.ts';
import type { SessionKey } from '../../src/domain/session.ts';
import type { SessionSnapshot } from '../../src/domain/session-snapshot.ts';
import type { FoundInRead } from '../../src/sessions/adding-store.ts';
import type { SessionUpdate } from '../../src/sessions/recording-store.ts';
import { hasOpenQuestion } from '../../src/store/watch.ts';
import type { Store } from '../../src/stores.ts';

/** A value from elsewhere. */
const VALUE: Evidence['value'] = { answerId: null, number: null, at: 0, steps: null, isPerhaps: false, filled: [] };

/** What the first read of a session means, when it shows `view`. */
export function firstFound({ digest }: Pick<SessionSnapshot, 'digest'>): FoundInRead {
	const { question } = digest;
	const isOpen = hasOpenQuestion(digest);
	const { answered: filled = [] } = question ?? {};
	const evidence = { ...NOTHING_SEEN, filled, value: isOpen || filled.length === 0 ? null : VALUE };
	const asked = { kind: 'asked', settled: isOpen ? null : 'answered', evidence } as const;
	const changes = question !== null && (isOpen || filled.length > 0) ? [{ ...asked, question }] : [];
	return { changes, outcomes: [], known: { newest: null, equal: [] }, itemsAt: () => undefined };
}

type Optional<T, K extends PropertyKey> = Omit<T, K> & { readonly [Name in K & keyof T]?: T[Name] };
type OfKind<Kind> = Extract<OccurrenceChange, { readonly kind: Kind }>;

/** A change of a session's questions as tests write it: by default of its newest row, with the evidence that fits. */
export type FoundChange =
	| Optional<OfKind<'asked'>, 'evidence'>
	| Optional<OfKind<'reopened' | 'updated'>, 'id'>
	| Optional<OfKind<'settled'>, 'id' | 'at'>
	| Optional<OfKind<'seen'>, 'id' | 'messageIndex'>;

/** What a read means that changes this, judged by what is stored now. */
export async function foundIn(
	{ answers }: Pick<Store, 'answers'>,
	session: SessionKey,
	changes: readonly FoundChange[],
	overrides: Partial<FoundInRead> = {},
): Promise<FoundInRead> {
	const { newest } = await answers.known(session, null);
	const { id = '', messageIndex = 0 } = newest ?? {};
	const written = changes.map((change): OccurrenceChange => {
		if (change.kind === 'asked')
			return { evidence: { ...NOTHING_SEEN, value: change.settled === 'answered' ? VALUE : null }, ...change };
		if (change.kind === 'settled') return { id, at: null, ...change };
		return change.kind === 'seen' ? { id, messageIndex, ...change } : { id, ...change };
	});
	return { changes: written, outcomes: [], known: { newest, equal: [] }, itemsAt: () => undefined, ...overrides };
}

/** A read with what it changes of questions, as tests write it. */
export type TestUpdate = SessionUpdate & { readonly questions?: readonly FoundChange[] };

/** Records a read that was judged by what is stored now, unless the update tells what it found. */
export async function recordRead(
	store: Pick<Store, 'answers' | 'reads' | 'sessions'>,
	{ session, token }: { readonly session: SessionKey; readonly token: string | null },
	{ update, ...outcome }: Omit<Parameters<Store['reads']['record']>[1], 'update'> & { readonly update: TestUpdate },
): Promise<boolean> {
	const { questions = [], ...read } = update;
	const { lastReadAt = null } = (await store.sessions.watched(session)) ?? {};
	const found = await foundIn(store, session, questions);
	return store.reads.record({ session, token, lastReadAt }, { ...outcome, update: { found, ...read } });
}
