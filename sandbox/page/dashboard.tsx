import { useEffect, useState } from 'react';
import type { WireDashboardSession } from '../wire.ts';
import { look, useDo } from './actions.ts';
import { each } from './each.tsx';

const READ_MS = 1000;

/** A session in the service's own web page, for somebody who does not use Slack. */
export function Dashboard({ id }: { id: string }) {
	const doIt = useDo();
	const [session, setSession] = useState<WireDashboardSession | null>(null);
	const [isMissing, setMissing] = useState(false);
	const [values, setValues] = useState<Record<string, string>>({});
	const [error, setError] = useState<string | null>(null);
	useEffect(() => {
		document.title = `Session ${id} · Dashboard`;
		const read = () =>
			void look<WireDashboardSession>('session', { id }).then((found) => {
				setSession(found);
				setMissing(found === null);
			});
		read();
		const timer = setInterval(read, READ_MS);
		return () => clearInterval(timer);
	}, [id]);
	if (session === null) {
		return (
			<main className="dashboard">
				<h1>Session {id}</h1>
				<p>{isMissing ? 'There is no such session. It may not have begun.' : 'Loading…'}</p>
			</main>
		);
	}
	const { open } = session;
	const key = (place: number) => `${open?.messageIndex} ${place}`;
	return (
		<main className="dashboard">
			<p className="dashboard-brand">Session service · dashboard (a fake of the sandbox)</p>
			<h1>{session.name || `Session ${id}`}</h1>
			<p>
				<code>{id}</code> · {session.status}
			</p>
			{open === null ? (
				<p className="empty">Nothing is asked now.</p>
			) : (
				<form
					className="dashboard-form"
					onSubmit={(event) => {
						event.preventDefault();
						const filled = open.items.map((_item, place) => values[key(place)] ?? '');
						void doIt('answer-agent', { id, values: filled }).then((result) =>
							setError(typeof result.error === 'string' ? result.error : null),
						);
					}}
				>
					<h2>The agent asks</h2>
					{each(open.items, (item, place) => (
						<label>
							<b>{item.title || `Item ${place + 1}`}</b>
							<span className="hint">{item.description.slice(0, 500)}</span>
							<input
								className="field"
								value={values[key(place)] ?? ''}
								onChange={(event) => setValues({ ...values, [key(place)]: event.target.value })}
							/>
						</label>
					))}
					<button type="submit" className="button button-primary">
						Answer here
					</button>
				</form>
			)}
			{error === null ? null : <p role="alert">{error}</p>}
			<h2>Messages</h2>
			<ol className="dashboard-messages">
				{each(session.messages, ({ role, content }) => (
					<li>
						<b>{role}</b> {content.slice(0, 2000)}
					</li>
				))}
			</ol>
		</main>
	);
}
