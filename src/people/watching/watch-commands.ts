import { loggedId } from '../../kernel/log.ts';
import { mistypedMessage } from '../../screens/help.ts';
import {
	discoveredByWords,
	discoveringWords,
	expectationWords,
	leftOutWords,
	notDiscoveringWords,
	outcomesMessage,
	tooFastWords,
	unwatchAllOffer,
	unwatchedAllWords,
	unwatchedWords,
	WATCHES_KEPT,
	WATCHES_PAGE,
	watchChooser,
	watchingWords,
	watchList,
	watchOutcomeWords,
} from '../../screens/watch.ts';
import type { ChannelSettingsStore } from '../../sessions/channel-settings-store.ts';
import type { registerDiscovery } from '../../sessions/discovery.ts';
import type { Endings } from '../../sessions/endings.ts';
import type { Hooks, Subscriptions, WatchOutcome } from '../../sessions/subscribe.ts';
import type { MessageContent } from '../../slack/blocks.ts';
import { slackCodeOf } from '../../slack/clients.ts';
import type { HandlerContext } from '../../slack/context.ts';
import { isDirectMessage, type UnwatchAll } from '../../slack/ids.ts';
import type { ReadPermit } from '../../slack/person-reads.ts';
import type { AllowedRequest, PersonRequest } from '../../slack/request.ts';
import type { Words } from '../../slack/rich-text.ts';
import type { ChannelKey } from '../../store/watch.ts';
import type { SessionStore } from '../../store/watched-sessions.ts';

export type Discoveries = ReturnType<typeof registerDiscovery>;

/** Watch, unwatch and list, for allowed requests. All act in the request's channel. */
export function createWatchCommands(
	core: HandlerContext<{ channelSettings: ChannelSettingsStore; sessions: SessionStore }>,
	parts: Pick<Hooks, 'expectPost'> & { subscriptions: Subscriptions; endings: Endings; discoveries: Discoveries },
) {
	const { personReads, reply, channels, clock } = core;
	const { subscriptions, endings, expectPost, discoveries } = parts;
	const errorContext = reply.errorContext();

	async function say(request: PersonRequest, lines: readonly Words[]): Promise<void> {
		await reply.withoutTurn(request, outcomesMessage(lines));
	}

	/** The channel and a permit to read; null when nothing can be watched there, and the person was told why. */
	async function begin(request: AllowedRequest) {
		const { channelId, person } = request;
		// The permit comes first, because Slack limits requests for channel information for all people.
		const permit = await personReads.permit(request);
		const verdict = await channels.mayWatch(request);
		if (verdict.ok && channelId !== null) return { permit, channel: { teamId: person.teamId, channelId } };
		const reason = verdict.ok ? 'no_channel' : verdict.reason;
		await say(request, [reply.words(`watch_${reason}`).text]);
		return null;
	}

	async function watch(request: AllowedRequest, sessionIds: readonly string[]): Promise<void> {
		const begun = await begin(request);
		if (begun === null) return;
		await say(request, await reply.patiently(request, null, subscribe(request, begun, sessionIds)));
	}

	/** Resolves to the lines of the reply. */
	async function subscribe(
		request: PersonRequest,
		{ permit, channel }: { readonly permit: ReadPermit; readonly channel: ChannelKey },
		sessionIds: readonly string[],
	): Promise<readonly Words[]> {
		const watched: Words[] = [];
		const named: [id: string, name: string][] = [];
		const others: Words[] = [];
		let expectation = '';
		let isPostTaken = false;
		for (const [index, sessionId] of sessionIds.entries()) {
			let outcome: WatchOutcome;
			try {
				const { read } = index === 0 ? permit : await personReads.permit(request);
				outcome = await subscriptions.watch({
					...channel,
					userId: request.person.userId,
					sessionId,
					read,
					awaitsPost: !isPostTaken,
				});
			} catch (error) {
				const code = slackCodeOf(error);
				if (code === 'too_fast') {
					others.push(tooFastWords(sessionIds.slice(index), code, reply.errorContext(error)));
					break;
				}
				// An error of one session must not hide the outcomes of the others.
				request.log.error('watch_failed', { session: loggedId(sessionId), code, err: error });
				outcome = { kind: 'unreadable', code };
			}
			const isWatched = 'refused' in outcome && outcome.refused === null;
			const id = 'sessionId' in outcome ? outcome.sessionId : sessionId;
			const words = watchOutcomeWords(id, outcome, errorContext, discoveries.whyNot() === null);
			(isWatched ? watched : others).push(words);
			if ('name' in outcome && isWatched) named.push([id, outcome.name]);
			// Only the last one counts: it includes the sessions before it.
			if (outcome.kind !== 'watching') continue;
			expectation = expectationWords(outcome.expectation);
			isPostTaken ||= outcome.refused === null;
		}
		const lines = [...(watched.length > 1 ? [watchingWords(named)] : watched), ...others];
		return expectation === '' ? lines : [...lines, expectation];
	}

	/** `/session watch` without an id: the sessions that wait, to choose one. */
	async function choose(request: AllowedRequest): Promise<void> {
		const why = discoveries.whyNot();
		if (why !== null) {
			// Where discovery is off, people know the ids of their sessions.
			if (why === 'noList') return say(request, [notDiscoveringWords(why, errorContext.adminContact)]);
			return void (await reply.toPerson(request, mistypedMessage('missing_id')));
		}
		const begun = await begin(request);
		if (begun === null) return;
		const [found, watches] = await Promise.all([discoveries.waiting(), subscriptions.ofChannel(begun.channel)]);
		const cards = watches.filter(({ mode }) => mode !== 'raisedHand');
		const isWatched = (id: string) => cards.some(({ session }) => session.sessionId === id);
		const waiting = found?.sessions.filter(({ sessionId }) => !isWatched(sessionId)) ?? [];
		await reply.withoutTurn(request, watchChooser(waiting, clock.now()));
	}

	/** `/session watch all`: every raised hand comes into the channel. */
	async function watchAll(request: AllowedRequest): Promise<void> {
		const why = discoveries.whyNot();
		if (why !== null) {
			return say(request, [notDiscoveringWords(why, errorContext.adminContact)]);
		}
		const begun = await begin(request);
		if (begun === null) return;
		const { channel } = begun;
		const posted = expectPost(channel.channelId);
		const outcome = await discoveries.begin(channel, request.person.userId);
		const refused = outcome === 'begun' && !isDirectMessage(channel.channelId) ? await posted() : null;
		return say(request, [discoveringWords(outcome, { isListed: discoveries.isListed(), refused })]);
	}

	async function unwatch(request: PersonRequest, sessionIds: readonly string[]): Promise<void> {
		const { channelId } = request;
		const { teamId } = request.person;
		if (channelId === null) return say(request, [reply.words('watch_no_channel').text]);
		const ended: Words[] = [];
		const others: Words[] = [];
		for (const named of sessionIds) {
			const endedIds = await endings.unwatch({ teamId, channelId }, named);
			if (endedIds.length === 0) others.push(unwatchedWords(named, null));
			for (const sessionId of endedIds) {
				const newest = await core.store.sessions.newest({ service: core.serviceUrl, sessionId });
				ended.push(unwatchedWords(sessionId, newest?.snapshot.name ?? ''));
			}
		}
		return say(request, [...(ended.length > 1 ? [unwatchedAllWords(ended.length, false)] : ended), ...others]);
	}

	/** Asks before it ends all that is watched here. */
	async function offerUnwatchAll(request: PersonRequest): Promise<void> {
		const { channelId, person } = request;
		if (channelId === null) return say(request, [reply.words('watch_no_channel').text]);
		const channel = { teamId: person.teamId, channelId };
		const { total, ending } = await watchedIn(channel);
		if (total === 0 && !ending.discovers) return say(request, [unwatchedAllWords(0, false)]);
		await reply.withoutTurn(request, unwatchAllOffer(total, ending));
	}

	/** What *End all* would end now. `newest`: when people watched last; raised hands do not count. */
	async function watchedIn(channel: ChannelKey) {
		const [watches, discovery] = await Promise.all([subscriptions.ofChannel(channel), discoveries.of(channel)]);
		const begun = watches.filter(({ mode }) => mode !== 'raisedHand').map(({ createdAt }) => createdAt);
		const ending = { channelId: channel.channelId, askedAt: clock.now(), discovers: discovery !== null };
		return { total: watches.length, newest: Math.max(0, ...begun), ending };
	}

	/** Ends all that somebody was asked about, or asks again where others are watched by now. */
	async function unwatchAll(asked: PersonRequest, { channelId, askedAt, discovers }: UnwatchAll): Promise<void> {
		const request = { ...asked, channelId };
		const { person } = request;
		const channel = { teamId: person.teamId, channelId };
		const { total, newest, ending } = await watchedIn(channel);
		if (newest > askedAt || (ending.discovers && !discovers)) return replace(request, unwatchAllOffer(total, ending));
		// First, because it adds watches.
		const discovery = await discoveries.end(channel, person.userId);
		const ended = await endings.unwatchAll(channel);
		const words = unwatchedAllWords(ended, discovery !== null);
		// Another press may have ended all, and its result stands there.
		if (ended === 0 && discovery === null) return say(request, [words]);
		await replace(request, outcomesMessage([words]));
	}

	const keep = (request: PersonRequest) => replace(request, outcomesMessage([WATCHES_KEPT]));

	/** Shows a reply in place of the message that was pressed, which only its reader sees. */
	async function replace(request: PersonRequest, content: MessageContent): Promise<void> {
		if (!(await reply.inPlace(request, content))) await reply.withoutTurn(request, content);
	}

	/** `isReplacement`: the page replaces the one whose button was pressed. */
	async function list(request: AllowedRequest, offset: number, isReplacement = false): Promise<void> {
		const { channelId, person } = request;
		if (channelId === null) return say(request, [reply.words('watch_no_channel').text]);
		const channel = { teamId: person.teamId, channelId };
		const [page, discovery] = await Promise.all([
			subscriptions.list(channel, { offset, limit: WATCHES_PAGE }),
			discoveries.of(channel),
		]);
		// The last one of a page has ended.
		if (page.watches.length === 0 && offset > 0)
			return list(request, Math.max(0, offset - WATCHES_PAGE), isReplacement);
		const left = discovery === null ? null : await discoveries.leftOut(discovery);
		const discoveryLines = [
			...(discovery === null ? [] : [discoveredByWords(discovery)]),
			...(left === null ? [] : [leftOutWords(left, errorContext.adminContact)]),
		];
		const content = watchList(page, { channelId, offset }, discoveryLines);
		if (isReplacement && (await reply.inPlace(request, content))) return;
		await reply.toPerson(request, content);
	}

	return { watch, choose, watchAll, unwatch, offerUnwatchAll, unwatchAll, keep, list };
}

export type WatchCommands = ReturnType<typeof createWatchCommands>;
