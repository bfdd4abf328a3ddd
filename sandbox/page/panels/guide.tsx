import type { PageData } from '../page-state.ts';

/** The first steps for a visitor. */
export function Guide({ data }: { data: PageData }) {
	const inAgents = data.channels.find((one) => one.name === 'agents');
	return (
		<div className="guide">
			<p>
				An AI agent books a flight and got stuck: it raised its hand. Handraise brings its question into Slack, and your
				answer back. This page is a Slack workspace that exists only on your machine.
			</p>
			<h3>Two minutes</h3>
			<ol>
				<li>
					In <b>#{inAgents?.name ?? 'agents'}</b> type <kbd>/session watch flight</kbd> and press Enter. The agent’s
					question comes by itself.
				</li>
				<li>
					Press a flight. For ten seconds you can press <b>Undo</b>; then the answer is sent, and the agent goes on.
				</li>
				<li>
					It asks three more times: yes or no is one press again. Long options and a code need the form behind{' '}
					<b>Answer</b>.
				</li>
				<li>
					<kbd>/session demo</kbd> shows a session without watching it, with the form first.
				</li>
			</ol>
			<h3>Then</h3>
			<ul>
				<li>
					<b>Agents</b> starts other sessions: several fields, a one-time code, hostile texts, every ending.
				</li>
				<li>
					<b>Trouble</b> breaks things: the service goes down, Slack is slow, the bot is killed. Answer while it is
					broken; nothing is lost.
				</li>
				<li>
					<b>Traffic</b> shows every call in both directions.
				</li>
				<li>
					Be somebody else at the lower left: a colleague in a second window, a guest, a person of another organisation.
				</li>
				<li>
					In a question’s thread, a message’s ⋮ menu has <b>Use as answer</b>.
				</li>
			</ul>
			<p className="guide-note">
				Handraise is not in #general: <kbd>/invite @{data.workspace.app.name}</kbd> brings it there.
			</p>
		</div>
	);
}
