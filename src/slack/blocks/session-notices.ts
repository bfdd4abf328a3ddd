import type { KnownBlock } from '@slack/types';
import { statusKind } from '../../questions/status.ts';
import { isBlank, quoted } from '../text.ts';
import { agoText, durationText, errorWords, momentMrkdwn, personMrkdwn, stillWaitingWords } from '../words.ts';
import { context, section } from './parts.ts';
import type { ClaimView, Notice, SessionModel } from './session-model.ts';

/** Notices and claims: at most two blocks. */
export function noticeBlocks(model: SessionModel): KnownBlock[] {
	const notices = model.notices.slice(0, 6).map((notice) => noticeText(notice, model));
	if (model.question?.goneOn === true) {
		notices.push('👣 The agent has gone on since it asked this. You can still answer.');
	}
	if (model.question !== null && statusKind(model.session.status) === 'paused') {
		notices.push('⏸️ The session is paused: your answer is kept there and counts when somebody resumes it.');
	}
	if (model.withoutImages === true) notices.push('🖼️ Slack could not load the screenshot, so it is left out.');
	return [
		...section(linesWithin(notices, 2900)),
		...context(model.question === null ? '' : claimsText(model.claims, model)),
	];
}

/** As many whole lines as fit. */
function linesWithin(lines: readonly string[], limit: number): string {
	let text = '';
	for (const line of lines) if (text.length + line.length < limit) text += text === '' ? line : `\n${line}`;
	return text;
}

/** `✏️ Ada is answering, since 1 min`; empty when nobody is. */
export function claimsText(claims: readonly ClaimView[], { names, now }: Pick<SessionModel, 'names' | 'now'>): string {
	if (claims.length === 0) return '';
	const people = claims.slice(0, 3).map(({ userId, since }) => {
		const person = personMrkdwn(userId, names);
		return since === null || now - since < 60_000 ? person : `${person} (since ${durationText(now - since)})`;
	});
	if (claims.length > 3) people.push(`${claims.length - 3} more`);
	return `✏️ ${people.join(', ')} ${claims.length === 1 ? 'is' : 'are'} answering this. You can answer too; the first answer counts.`;
}

function noticeText(notice: Notice, model: SessionModel): string {
	switch (notice.kind) {
		case 'questionChanged':
			return notice.carried
				? '✏️ The question has changed. This is the new one, with your text where it fits. Please check it.'
				: '✏️ The question has changed. This is the new one.';
		case 'answeredMeanwhile': {
			const { person, values, at } = notice.other;
			const who = person === null ? 'somebody outside Slack' : personMrkdwn(person.userId, model.names);
			const said = values
				.slice(0, 3)
				.map((value) => (value === null ? '> (hidden)' : isBlank(value) ? '' : quoted(value, 300)))
				.filter((line) => line !== '')
				.join('\n');
			const when = at === null ? '' : `, ${agoText(at, model.now)}`;
			return `🔀 Answered meanwhile by ${who}${when}.${said === '' ? '' : `\n${said}`}`;
		}
		case 'draftRestored':
			return `📝 Your text from ${momentMrkdwn(notice.at)} is back in the fields.`;
		case 'prefilled':
			return '📝 The message you chose is in the field. Check it, then send.';
		case 'textUnused':
			return notice.why === 'nothingOpen'
				? '📝 No question is open here, so the message you chose was not used.'
				: '🔒 This asks for a password or code. Those are never taken from a message; please type it here.';
		case 'stillWaiting':
			return `⏳ ${stillWaitingWords(notice.waitedMs)}`;
		case 'readAgain':
			return '🔄 The session was read again meanwhile. This is how it is now; steps may stand on other pages.';
		case 'stale': {
			const { retryAt = null } = notice;
			const { what, text } = errorWords(notice.code, { kept: 'nothing', adminContact: model.adminContact, retryAt });
			return `⚠️ ${retryAt === null ? what : text} You see the session as it was ${agoText(notice.readAt, model.now)}.`;
		}
		case 'ownAnswer':
			return notice.state === 'waiting'
				? `⏳ Your answer from ${momentMrkdwn(notice.at)} could not be delivered yet. Sending another one replaces it.`
				: `📨 Your answer from ${momentMrkdwn(notice.at)} is being delivered.`;
	}
}
