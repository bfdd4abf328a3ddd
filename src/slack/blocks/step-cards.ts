import type { KnownBlock } from '@slack/types';
import { asks } from '../../questions/open-question.ts';
import { type HistoryEntry, latestHistory } from '../../questions/progress.ts';
import { ACTIONS } from '../ids.ts';
import { quotedMarkdown, quotedNameMrkdwn } from '../text.ts';
import { actionsLine } from '../words.ts';
import { button, buttons, context, divider, section } from './parts.ts';
import type { SessionModel } from './session-model.ts';

const cardText = 1200;

export interface StepCards {
	/** The page that is shown: the one asked for, or the last there is. */
	readonly page: number;
	readonly cards: readonly KnownBlock[];
	readonly navigation: readonly KnownBlock[];
}

/** The messages of one page, newest first, each as text, a line of what was done, and a divider. */
export function stepCards(model: SessionModel, perPage: number): StepCards {
	const { session, question } = model;
	const task = session.messages.findIndex((message) => message.role === 'user');
	const total = session.messages.length - (task === -1 ? 0 : 1);
	if (total === 0) return { page: 0, cards: [], navigation: [] };
	if (perPage === 0) {
		return { page: 0, cards: [], navigation: context('The form takes all the room here, so the steps are left out.') };
	}
	const last = Math.ceil(total / perPage) - 1;
	const page = Math.min(model.metadata.page, last);
	const entries = latestHistory(session, perPage, page * perPage);
	const cards = entries.flatMap((entry, index) => [
		divider(),
		...(index === 0 ? section('*The agent says*') : []),
		...stepCard(entry, question !== null && entry.messageIndex === question.messageIndex),
	]);
	const navigation = buttons(
		page > 0 ? button(ACTIONS.newer, 'Newer steps', { value: String(page - 1) }) : null,
		page < last ? button(ACTIONS.older, 'Older steps', { value: String(page + 1) }) : null,
	);
	return { page, cards, navigation };
}

/** One or two blocks: what was said, and who did what. `asksAbove`: its text stands above the form already. */
function stepCard({ step, message }: HistoryEntry, asksAbove: boolean): KnownBlock[] {
	const said = asksAbove ? '' : quotedMarkdown(message.content, cardText);
	const who = step === null ? roleWords(message.role) : `Step ${step}`;
	const did = actionsLine(message.actions);
	const note = asksAbove
		? 'asks the question above'
		: asks(message)
			? askedWords(message.humanInput.length)
			: said === '' && did === ''
				? 'said nothing'
				: '';
	const says = step === null && said !== '' ? `${who} says\n${said}` : said;
	const facts = [says === said ? who : '', did, note];
	return [...section(says), ...context(facts.filter((part) => part !== '').join(' · '))];
}

function roleWords(role: string): string {
	return role === 'user' ? 'A person' : quotedNameMrkdwn(role, 60) || 'Somebody';
}

function askedWords(items: number): string {
	return items === 1 ? 'asked a question' : `asked ${items} questions`;
}
