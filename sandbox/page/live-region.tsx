import { useEffect, useRef, useState } from 'react';
import type { WireMessage } from '../wire.ts';
import type { PageData } from './page-state.ts';
import { spokenText } from './spoken-text.ts';

/** Announces new messages of others to screen readers. */
export function LiveRegion({ data }: { data: PageData }) {
	const [words, setWords] = useState('');
	const heard = useRef<string | null>(null);
	const { me, people } = data.workspace;
	useEffect(() => {
		const newest: WireMessage | undefined = data.messages.at(-1);
		const ts = newest?.ts ?? '0';
		const before = heard.current;
		heard.current = ts;
		if (before === null || newest === undefined || ts <= before || newest.user === me.id) return;
		const author = people.find((one) => one.id === newest.user)?.realName ?? 'Somebody';
		const note = newest.ephemeral ? ', only visible to you' : '';
		setWords(`${author}${note}: ${spokenText(newest).slice(0, 300)}`);
	}, [data.messages, me.id, people]);
	return (
		<div className="visually-hidden" aria-live="polite" role="log" aria-label="New messages">
			{words}
		</div>
	);
}
