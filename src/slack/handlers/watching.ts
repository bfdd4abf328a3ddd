import { loggedId } from '../../log.ts';
import type { Discoveries } from '../../watches/discovery.ts';
import type { Subscriptions, WatchOutcome, WatchRequest } from '../../watches/subscribe.ts';
import type { DiscoverySettings, WatchSettings } from '../../watches/watch.ts';
import { outcomesMessage, stillWaitingMessage } from '../blocks/commands.ts';
import { channelRefusalWords } from '../blocks/errors.ts';
import { filesMessage, screenshotMessage } from '../blocks/session-details.ts';
import {
	DISCOVERY_OPTIONS,
	discoveredByWords,
	discoveringWords,
	expectationWords,
	LIST_PAGE,
	leftOutWords,
	notDiscoveringWords,
	tooFastWords,
	unwatchedAllWords,
	unwatchedWords,
	WATCH_OPTIONS,
	watchList,
	watchOutcomeWords,
} from '../blocks/watching.ts';
import type { Channels } from '../channels.ts';
import { codeOf } from '../clients.ts';
import { ACTIONS, decodeTarget } from '../ids.ts';
import type { Links } from '../links.ts';
import { decodeMetadata } from '../metadata.ts';
import { type ReadPermit, TooFastError } from '../person-reads.ts';
import { logAccess, originOf, type PersonRequest, type Press, type SubmittedView } from '../request.ts';
import { type StandingForm, typedIn } from '../session/drafts.ts';
import { withNotes } from '../session/waiting.ts';
import { type AllowedRequest, changing, ifAllowed, NOTHING_TO_DO, silently, type Task, windowPlace } from '../task.ts';
import type { HandlerContext } from './context.ts';

interface Dependencies {
	readonly subscriptions: Subscriptions;
	readonly discoveries: Discoveries;
	readonly channels: Channels;
	readonly links: Links;
}

/**
 * Registers the buttons for watching, and for what a card shows to one person only. Returns watch, unwatch and list for
 * `/session …`, to be called with requests that the access policy allowed. All of them act in the request's channel.
 */
export function registerWatching(
	{ listen, flow, drafting, personReads, reply, adminContact, clock }: HandlerContext,
	{ subscriptions, discoveries, channels, links }: Dependencies,
) {
	const errorContext = { adminContact } as const;

	async function say(request: PersonRequest, lines: readonly string[], note = ''): Promise<void> {
		await reply.withoutTurn(request, outcomesMessage(lines, note));
	}

	async function watch(
		request: AllowedRequest,
		sessionIds: readonly string[],
		settings: Partial<WatchSettings> = {},
	): Promise<void> {
		const { channelId } = request;
		// The permit comes first, because Slack limits requests for channel information for all people together.
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			logAccess(request, 'watch', sessionIds[0] ?? null, permit.code);
			await reply.slowDown(request, outcomesMessage([tooFastWords(sessionIds, permit, errorContext)]));
			return;
		}
		const verdict = await channels.mayWatch(request);
		if (!verdict.ok || channelId === null) {
			const reason = verdict.ok ? 'no_channel' : verdict.reason;
			for (const sessionId of sessionIds) logAccess(request, 'watch', sessionId, reason);
			await say(request, [channelRefusalWords(reason, adminContact)]);
			return;
		}
		const work = subscribe({ ...request, channelId }, permit, sessionIds, settings);
		const lines = await withNotes(clock, work, async () => {
			await reply.toPerson(request, stillWaitingMessage(null));
			return false;
		});
		await say(request, lines, lines.length === 1 && lines[0]?.startsWith('👀') ? WATCH_OPTIONS : '');
	}

	/** Resolves to the lines of the reply. */
	async function subscribe(
		request: PersonRequest & { readonly channelId: string },
		firstPermit: ReadPermit,
		sessionIds: readonly string[],
		settings: Partial<WatchSettings>,
	): Promise<readonly string[]> {
		const lines: string[] = [];
		let expectation = '';
		for (const [index, sessionId] of sessionIds.entries()) {
			const permit = index === 0 ? firstPermit : await personReads.permit(request);
			if (permit instanceof TooFastError) {
				logAccess(request, 'watch', sessionId, permit.code);
				lines.push(tooFastWords(sessionIds.slice(index), permit, errorContext));
				break;
			}
			const watchRequest: WatchRequest = {
				...request.person,
				channelId: request.channelId,
				sessionId,
				read: permit.read,
				settings,
			};
			// An error of one session must not hide the outcomes of the others.
			const outcome = await subscriptions.watch(watchRequest).catch((error: unknown): WatchOutcome => {
				const code = codeOf(error);
				request.log.error({ session: loggedId(sessionId), code, err: error }, 'a session could not be watched');
				return { kind: 'unreadable', code, retryable: true };
			});
			logAccess(request, 'watch', sessionId, loggedOutcome(outcome));
			lines.push(watchOutcomeWords(sessionId, outcome, errorContext));
			// Only the last one counts: it includes the sessions before it.
			if (outcome.kind === 'watching') expectation = expectationWords(outcome.expectation);
		}
		return expectation === '' ? lines : [...lines, expectation];
	}

	/** `/session watch all`: every raised hand of the account comes into the channel. */
	async function watchAll(request: AllowedRequest, settings: Partial<DiscoverySettings>): Promise<void> {
		const { channelId } = request;
		const { teamId, userId } = request.person;
		const permit = await personReads.permit(request);
		if (permit instanceof TooFastError) {
			logAccess(request, 'watch', null, permit.code);
			return reply.failed(request, permit);
		}
		const why = discoveries.whyNot();
		if (why !== null) {
			logAccess(request, 'watch', null, why);
			return say(request, [notDiscoveringWords(why, adminContact)]);
		}
		const verdict = await channels.mayWatch(request);
		if (!verdict.ok || channelId === null) {
			const reason = verdict.ok ? 'no_channel' : verdict.reason;
			logAccess(request, 'watch', null, reason);
			return say(request, [channelRefusalWords(reason, adminContact)]);
		}
		const outcome = await discoveries.begin({ teamId, channelId }, { userId, settings });
		logAccess(request, 'watch', null, `all_${outcome}`);
		const discovery = outcome === 'changed' ? await discoveries.of({ teamId, channelId }) : null;
		const words = discoveringWords(outcome, { discovery, isListed: discoveries.isListed() });
		return say(request, [words], outcome === 'already' ? '' : DISCOVERY_OPTIONS);
	}

	async function unwatch(request: PersonRequest, sessionIds: readonly string[] | 'all'): Promise<void> {
		const { channelId } = request;
		const { teamId, userId } = request.person;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		if (sessionIds === 'all') {
			// First, because it adds watches.
			const discovery = await discoveries.end({ teamId, channelId }, userId);
			const count = await subscriptions.unwatch({ teamId, channelId }, null);
			logAccess(request, 'unwatch', null, discovery === null && count === 0 ? 'notWatched' : 'ended');
			return say(request, [unwatchedAllWords(count, discovery !== null)]);
		}
		const lines: string[] = [];
		for (const sessionId of sessionIds) {
			const isEnded = (await subscriptions.unwatch({ teamId, channelId }, sessionId)) > 0;
			logAccess(request, 'unwatch', sessionId, isEnded ? 'ended' : 'notWatched');
			lines.push(unwatchedWords(sessionId, isEnded));
		}
		return say(request, lines);
	}

	/** `isReplacement`: the page replaces the one whose button was pressed. */
	async function list(request: AllowedRequest, offset: number, isReplacement = false): Promise<void> {
		const { channelId, person } = request;
		if (channelId === null) return say(request, [channelRefusalWords('no_channel', adminContact)]);
		const channel = { teamId: person.teamId, channelId };
		const [page, discovery] = await Promise.all([
			subscriptions.list(channel, { offset, limit: LIST_PAGE }),
			discoveries.of(channel),
		]);
		const left = discovery === null ? null : await discoveries.leftOut(discovery);
		const discoveryLines = [
			...(discovery === null ? [] : [discoveredByWords(discovery)]),
			...(left === null ? [] : [leftOutWords(left, adminContact)]),
		];
		const content = watchList(page, offset, discoveryLines);
		logAccess(request, 'list', null, 'shown');
		if (isReplacement && (await reply.inPlace(request, content))) return;
		await reply.toPerson(request, content);
	}

	/** Saves the texts in the view's fields as a draft; null when the view cannot be read. */
	async function keepForm({ person }: AllowedRequest, view: SubmittedView): Promise<StandingForm | null> {
		const form = await drafting.read(view);
		if (form !== null) await drafting.keep(person, view.id, form);
		return form;
	}

	/** Shows the modal again, with "Unwatch" instead of "Watch" or the reverse. */
	async function showAgain(request: AllowedRequest, view: SubmittedView, form: StandingForm | null): Promise<void> {
		if (form === null) return;
		await flow.show(request, view, { metadata: form.metadata, typed: typedIn(form), sameReading: true });
	}

	listen.action(ACTIONS.watch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return NOTHING_TO_DO;
		const { channelId } = originOf(asked, view);
		const place = view === null ? channelId : windowPlace(decodeMetadata(view.privateMetadata));
		return changing(
			ifAllowed(place, async (request) => {
				// The draft is saved first, because the person may type while the session is read.
				const form = view === null ? null : await keepForm(request, view);
				// A press inside a modal names no channel.
				await watch({ ...request, channelId }, [target.sessionId]);
				if (view !== null) await showAgain(request, view, form);
			}),
		);
	});

	listen.action(ACTIONS.unwatch, (asked, { value, view }) => {
		const target = decodeTarget(value);
		if (target === null) return NOTHING_TO_DO;
		const { channelId } = originOf(asked, view);
		const { sessionId } = target;
		async function stop(anybody: PersonRequest): Promise<Task> {
			await unwatch({ ...anybody, channelId }, [sessionId]);
			if (view === null) return NOTHING_TO_DO;
			const update = async (request: AllowedRequest) => showAgain(request, view, await keepForm(request, view));
			// The unwatch succeeded, so a refusal to show the session again is not worth a message.
			return ifAllowed(channelId, update, silently);
		}
		const place = windowPlace(decodeMetadata(view?.privateMetadata));
		return changing(ifAllowed({ ...place, inAnyChannel: true }, stop));
	});

	/** Reads the session again, because its links expire, and replies to the person. Resolves to the outcome for the log. */
	async function showPrivately(
		request: AllowedRequest,
		sessionId: string,
		build: typeof filesMessage,
	): Promise<string> {
		try {
			const permit = await personReads.permit(request);
			if (permit instanceof TooFastError) throw permit;
			const work = permit.read(sessionId);
			const { session } = await withNotes(clock, work, async () => {
				await reply.toPerson(request, stillWaitingMessage(sessionId));
				return false;
			});
			const [best, ...others] = build(session, links);
			if (best === undefined) return 'nothing';
			if (await reply.throughResponseUrl(request, best)) return 'shown';
			// Slack refuses a message whose image it cannot download, so there are others.
			for (const other of others) if (await reply.toPerson(request, other)) return 'shown';
			return 'not_shown';
		} catch (error) {
			await reply.failed(request, error, { sessionId });
			return codeOf(error);
		}
	}

	function showAndLog(access: 'files' | 'screenshot', build: typeof filesMessage) {
		return ({ channelId }: PersonRequest, { value }: Press): Task => {
			const target = decodeTarget(value);
			if (target === null) return NOTHING_TO_DO;
			return ifAllowed(channelId, async (request) => {
				logAccess(request, access, target.sessionId, await showPrivately(request, target.sessionId, build));
			});
		};
	}

	listen.action(ACTIONS.showScreenshot, showAndLog('screenshot', screenshotMessage));
	listen.action(ACTIONS.showFiles, showAndLog('files', filesMessage));

	for (const id of [ACTIONS.listOlder, ACTIONS.listNewer]) {
		listen.action(id, ({ channelId }, press) => {
			const offset = Math.max(0, Math.floor(Number(press.value)) || 0);
			return ifAllowed(channelId, (request) => list(request, offset, true));
		});
	}

	return { watch, watchAll, unwatch, list };
}

export type Watching = ReturnType<typeof registerWatching>;

function loggedOutcome(outcome: WatchOutcome): string {
	if (outcome.kind === 'unreadable') return outcome.code;
	return outcome.kind === 'limit' ? `limit_${outcome.limit}` : outcome.kind;
}
