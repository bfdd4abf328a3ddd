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
					In <b>#{inAgents?.name ?? 'agents'}</b> type <kbd>/session demo</kbd> and press Enter.
				</li>
				<li>Choose a flight, press Send answer, and watch: saved, delivered, agent resumed.</li>
				<li>A few seconds later it asks again: the same command once more.</li>
				<li>
					<kbd>/session watch stepping</kbd> puts a live card into the channel; the questions come by themselves.
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
