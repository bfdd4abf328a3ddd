import { useEffect, useRef, useState } from 'react';
import { useNames } from './blocks/names.ts';
import { authorOf } from './message.tsx';
import type { PageData } from './page-state.ts';
import { spokenText } from './spoken-text.ts';

/** Those said before stay for a while: a screen reader says what is added. */
const KEPT = 20;

/** Announces new messages of others to screen readers, each as an addition of its own. */
export function LiveRegion({ data }: { data: PageData }) {
	const [said, setSaid] = useState<readonly { ts: string; words: string }[]>([]);
	const heard = useRef<string | null>(null);
	const names = useNames();
	const { messages, workspace } = data;
	useEffect(() => {
		const before = heard.current;
		heard.current = messages.at(-1)?.ts ?? '0';
		if (before === null) return;
		const added = messages
			.filter(({ ts, user }) => ts > before && user !== workspace.me.id)
			.map((message) => {
				const note = message.ephemeral ? ', only visible to you' : '';
				const author = authorOf(message, workspace).realName;
				return { ts: message.ts, words: `${author}${note}: ${spokenText(message, names).slice(0, 300)}` };
			});
		if (added.length > 0) setSaid((earlier) => [...earlier, ...added].slice(-KEPT));
	}, [messages, workspace, names]);
	return (
		<div className="visually-hidden" aria-live="polite" role="log" aria-label="New messages">
			{said.map(({ ts, words }) => (
				<p key={ts}>{words}</p>
			))}
		</div>
	);
}
