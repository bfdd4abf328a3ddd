import { itemsOf } from '../../../fake-session-service/log.ts';
import { FAILED_STATES } from '../../../src/domain/answer.ts';
import { headline, line, whatHappened } from '../../support/sentences.ts';
import type { Harness } from '../harness.ts';
import type { Claim, Round } from './round.ts';

/** A headline as it stands in the blocks of a receipt: bold, unlike the same words below it. */
function top(...shown: Parameters<typeof headline>): string {
	const words = headline(...shown)
		.trim()
		.replace('⏳ Saved,', 'Saved,');
	return `"text":${JSON.stringify(words)},"style":{"bold":true}`;
}

/** The headlines of receipts, taken from the program: a change of words must not make the watch blind. */
const HEADLINES: readonly (readonly [string, Claim])[] = [
	[top('accepted'), 'saved'],
	[top('delivering'), 'saved'],
	[top('accepted', { lastError: 'unavailable' }), 'saved'],
	[top('delivering', { lastError: 'unavailable' }), 'saved'],
	[top('delivered'), 'arrived'],
	[top('delivered', { startFailed: true }), 'arrived'],
	[top('resumed'), 'went on'],
	...(['completed', 'stopped', 'failed'] as const).map(
		(agentOutcome) => [top('delivered', { agentOutcome }), 'arrived, then over'] as const,
	),
	[top('delivered', { agentOutcome: 'overwritten' }), 'overwritten'],
	[top('conflicted'), 'conflicted'],
	[top('changed'), 'changed'],
	[top('ended'), 'ended'],
	[top('waiting'), 'not delivered'],
	[top('refused'), 'not delivered'],
];

/** Words for an unknown outcome come before all headlines, because both may stand in the same receipt. */
const OPEN_ENDS: readonly (readonly [string, Claim])[] = [
	...([...FAILED_STATES, 'withdrawn'] as const).map(
		(state) => [line(state, { putStartedAt: 1 }), 'may have arrived'] as const,
	),
	[whatHappened('acceptance_unknown'), 'not known'],
	[whatHappened('could_not_check'), 'not known'],
];

/** Says that somebody answered in the dashboard. */
const OUTSIDER = /(?:somebody|answered) in the dashboard/i;

/** What the second person is shown: who answered (`first`), what that answer says, and what they wrote themselves. */
export function wordsForTheSecond(first: { readonly person: string; readonly text: string }, own: string): string[] {
	return [headline('conflicted'), `@${first.person}`, first.text, own];
}

/** What a receipt with these blocks claims. */
export function claimIn(shown: string): Claim | undefined {
	const open = OPEN_ENDS.find(([words]) => shown.includes(words))?.[1];
	if (open !== undefined) return open;
	return HEADLINES.find(([words]) => shown.includes(words))?.[1];
}

/** A receipt with one of these says that nothing of the answer is or will be at the service. */
export const NOT_SENT: ReadonlySet<Claim> = new Set(['conflicted', 'changed', 'ended', 'not delivered']);

/** This author's PUTs that the service saved. */
export function savedOf(harness: Harness, round: Round) {
	return harness.service.log
		.savedPuts(round.sessionId)
		.filter((entry) => round.texts.includes(itemsOf(entry)[0]?.value ?? ''));
}

/** Compares everything that Slack shows, at the moment it is shown, with what the service knows then. */
export function watchReceipts(harness: Harness): {
	follow(round: Round): void;
	readonly seen: ReadonlyMap<Claim, number>;
	stop(): void;
} {
	const { slack, service } = harness;
	const byView = new Map<string, Round>();
	const bySession = new Map<string, Round[]>();
	const seen = new Map<Claim, number>();

	function check(round: Round, claim: Claim): void {
		if (round.told.at(-1) === claim) return;
		round.told.push(claim);
		seen.set(claim, (seen.get(claim) ?? 0) + 1);
		const saved = savedOf(harness, round).length;
		const lie = (why: string) => round.broken.push(`it was told "${claim}" although ${why}`);
		const arrived: readonly Claim[] = ['arrived', 'went on', 'arrived, then over', 'overwritten'];
		if (arrived.includes(claim) && saved === 0) lie('nothing was saved');
		const json = service.sessions.get(round.sessionId);
		if (claim === 'went on' && json.status !== 'active') lie(`the session was ${json.status}`);
		if (NOT_SENT.has(claim) && saved > 0) lie('it was saved');
		const others =
			service.log.list({ sessionId: round.sessionId }).filter((entry) => entry.savedAt !== null).length - saved;
		const rival = (bySession.get(round.sessionId) ?? []).length > 1;
		if (claim === 'conflicted' && others === 0 && !rival) lie('nobody else answered');
		if (claim === 'overwritten' && others === 0) lie('nobody else answered');
		const movedOn = round.fate === 'moved on';
		if (claim === 'ended' && round.fate !== 'ended' && !movedOn) lie('the session was not over');
		if (claim === 'changed' && round.fate !== 'changed' && !movedOn) lie('the question was the same');
	}

	/** Nobody answers in the service's page unless the run does so. */
	function checkBlame(round: Round, shown: string): void {
		if (!OUTSIDER.test(shown) || service.log.list({ kind: 'page', sessionId: round.sessionId }).length > 0) return;
		const what = 'it was told of somebody outside, who was not there';
		if (!round.broken.includes(what)) round.broken.push(what);
	}

	const stop = slack.changes.listen((change) => {
		if (change.kind === 'view') {
			const round = byView.get(change.id);
			if (round === undefined) return;
			const shown = JSON.stringify(slack.state.views[change.id]?.payload.blocks ?? '');
			const claim = claimIn(shown);
			if (claim !== undefined) check(round, claim);
			checkBlame(round, shown);
		}
		if (change.kind === 'message') {
			const message = slack.state.messages.findLast((one) => one.ts === change.id);
			if (message === undefined) return;
			const shown = JSON.stringify([message.text, message.blocks]);
			const claim = claimIn(shown);
			const session = /f[a-z]\d+x/.exec(shown)?.[0];
			if (session === undefined) return;
			const channel = slack.state.channels.find((one) => one.id === message.channel);
			for (const round of bySession.get(session) ?? []) {
				if (channel?.members.includes(round.actor.user) !== true) continue;
				if (claim !== undefined) check(round, claim);
				checkBlame(round, shown);
			}
		}
	});

	return {
		follow(round) {
			byView.set(round.modal.id, round);
			bySession.set(round.sessionId, [...(bySession.get(round.sessionId) ?? []), round]);
		},
		seen,
		stop,
	};
}
