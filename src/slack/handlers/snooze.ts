import { snoozedUntil } from '../../inbox/inbox.ts';
import { FALLBACK_TIME_ZONE } from '../../inbox/quiet-hours.ts';
import { snoozedInZoneWords } from '../blocks/inbox.ts';
import { textMessage } from '../blocks/parts.ts';
import { ACTIONS, decodeSnooze, questionHash } from '../ids.ts';
import type { PersonRequest } from '../request.ts';
import { changing, ifAllowed, ifAllowedAnywhere, inTurn } from '../task.ts';
import type { HandlerContext } from './context.ts';

/** Registers the menu that snoozes a question in its person's inbox, and the button that shows all again. */
export function registerSnooze(core: HandlerContext): void {
	const { listen, reply, serviceUrl, clock, directory } = core;
	const { inboxes: store } = core.store;

	listen.action(ACTIONS.snooze, (_, { value, row }) => {
		const choice = decodeSnooze(value);
		if (choice === null || row === null) return null;
		const snooze = ifAllowed(row.channelId, async (request) => {
			const { person } = request;
			const open = await store.openQuestions(serviceUrl, person.teamId);
			const asked = open.find(({ question: { sessionId }, fingerprint }) => {
				return questionHash({ sessionId, fingerprint }) === choice.hash;
			});
			// It was settled meanwhile: the inbox shows that by itself.
			if (asked === undefined) return;
			const { question, fingerprint } = asked;
			const timeZone = directory.timeZoneOf(person.userId);
			const until = snoozedUntil(choice.length, clock.now(), timeZone ?? FALLBACK_TIME_ZONE);
			const session = { service: serviceUrl, sessionId: question.sessionId };
			await store.snooze({ person, session, fingerprint, until });
			request.log.info({ session: question.sessionId, length: choice.length }, 'snoozed');
			if (choice.length !== 'tomorrow' || timeZone !== null) return;
			await reply.toPerson(request, textMessage(snoozedInZoneWords(until, FALLBACK_TIME_ZONE)));
		});
		return changing(inTurn(snooze));
	});

	listen.action(ACTIONS.showSnoozed, () => {
		const show = ({ person }: PersonRequest) => store.endSnoozes(serviceUrl, person);
		return changing(inTurn(ifAllowedAnywhere(show)));
	});
}
