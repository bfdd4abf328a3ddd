import type { AgentAction } from '../../questions/session.ts';
import { quotedNameMrkdwn } from '../text.ts';

/** What the agent did, in mrkdwn: clicked, opened “example.com”, saved “report.pdf”; unknown actions by their name. */
export function actionWords(action: AgentAction): string {
	switch (action.kind) {
		case 'click':
			return 'clicked';
		case 'open': {
			const host = quotedNameMrkdwn(action.host, 80);
			return host === '' ? 'opened a page' : `opened ${host}`;
		}
		case 'done':
			return 'finished';
		case 'saveFile': {
			const file = quotedNameMrkdwn(action.filename, 80) || 'a file';
			return `${action.deleted ? 'deleted' : 'saved'} ${file}`;
		}
		case 'other':
			return quotedNameMrkdwn(action.name.replaceAll('_', ' '), 60) || 'did something';
	}
}

/** Several actions on one line, repeated ones counted, at most `most` of them. Empty when there are none. */
export function actionsLine(actions: readonly AgentAction[], most = 6): string {
	const counted: { words: string; count: number }[] = [];
	for (const action of actions.slice(0, 50)) {
		const words = actionWords(action);
		const last = counted.at(-1);
		if (last?.words === words) last.count += 1;
		else counted.push({ words, count: 1 });
	}
	const shown = counted.slice(0, most).map(({ words, count }) => (count === 1 ? words : `${words} ×${count}`));
	const rest = actions.length - counted.slice(0, most).reduce((sum, { count }) => sum + count, 0);
	return rest > 0 ? `${shown.join(' · ')} · and ${rest} more` : shown.join(' · ');
}
