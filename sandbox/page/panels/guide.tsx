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
			<h3>Nobody forgets</h3>
			<ol>
				<li>
					<kbd>/session settings</kbd>: choose <b>Escalate after</b> 30 min and <b>Mention</b> Grace. Watch a session,
					and do not answer.
				</li>
				<li>
					<b>Trouble</b>, then <b>+15 min</b>: a reminder in the thread. Once more: Grace is mentioned in the channel.
					Watch several sessions (<kbd>/session watch demo yesno code</kbd>): they are one message.
				</li>
				<li>
					Tick days as <b>Quiet hours</b>, then <b>To 22:00</b> and <b>+1 h</b>: nothing. <b>To tomorrow 9:00</b>: one
					message.
				</li>
				<li>
					<b>Hand over</b> a question to Grace, and be Grace at the lower left: she has it in her direct messages, and
					can <b>Give back</b>.
				</li>
				<li>
					In Handraise’s <b>Home</b>, <b>Snooze</b> hides a question from you alone. It is back when its time has come.
				</li>
			</ol>
			<h3>Without ids</h3>
			<ol>
				<li>
					Start <b>yesno</b> and <b>code</b> under <b>Agents</b>. Nobody watches them, but Handraise’s <b>Home</b> shows
					them under <b>Other waiting sessions</b>.
				</li>
				<li>
					In #agents, <kbd>/session watch all</kbd> brings each question into the channel, as soon as an agent asks.{' '}
					<kbd>/session unwatch all</kbd> ends that, and all other watches there.
				</li>
				<li>
					<b>Trouble</b>, then <b>No list</b>, is a service that cannot list its sessions. Handraise says so in the
					channel after five minutes, which moving the time does not shorten, and looks for the list as often. In your
					own Slack, an operator allows all this with <kbd>DISCOVER_SESSIONS=true</kbd>.
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
