import type { ReactNode } from 'react';
import type { PageData } from '../page-state.ts';
import { usePlace } from '../place.ts';
import { typeIn } from '../typed.ts';

/** A press types it into the message box of its channel; Enter sends it. */
function Command({ data, line, channel = 'agents' }: { data: PageData; line: string; channel?: string }) {
	const [place, go] = usePlace();
	const id = data.channels.find((one) => one.name === channel)?.id ?? null;
	const isOpen = place.tab !== 'home' && (place.channel ?? data.channels[0]?.id) === id;
	return (
		<button
			type="button"
			className="command"
			title="Type it into the message box"
			onClick={() => {
				typeIn(line, !isOpen);
				if (!isOpen) go({ channel: id, thread: null });
			}}
		>
			{line}
		</button>
	);
}

function Part({ title, children }: { title: string; children: ReactNode }) {
	return (
		<details>
			<summary>{title}</summary>
			{children}
		</details>
	);
}

export function Guide({ data }: { data: PageData }) {
	const command = (line: string, channel?: string) => (
		<Command data={data} line={line} {...(channel === undefined ? {} : { channel })} />
	);
	return (
		<div className="guide">
			<h3>Two minutes</h3>
			<p>
				An AI agent books a flight and got stuck. Handraise brings its question into Slack, and your answer back. Press
				a command to type it, then Enter.
			</p>
			<ol>
				<li>{command('/session watch flight')} in #agents: the agent’s question comes by itself.</li>
				<li>
					Press a flight. For ten seconds you can press <b>Undo</b>; then the answer is sent, and the agent continues.
				</li>
				<li>
					It asks three more times: yes or no is one press again. Long options and a code need the form behind{' '}
					<b>Answer…</b>
				</li>
				<li>{command('/session demo')} shows a session without watching it, with the form first.</li>
			</ol>
			<Part title="Nobody forgets">
				<ol>
					<li>
						{command('/session settings')}: choose <b>Escalate after</b> 30 min and <b>Mention</b> Grace. Watch a
						session, and do not answer.
					</li>
					<li>
						<b>Trouble</b>, then <b>+15 min</b>: a reminder. Once more: Grace is mentioned in the channel. Watch several
						sessions ({command('/session watch demo yesno code')}): they are one message.
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
						In Handraise’s <b>Home</b>, <b>Snooze</b> hides a question from you alone. It is back when its time has
						come.
					</li>
				</ol>
			</Part>
			<Part title="Without ids">
				<ol>
					<li>
						Start <b>yesno</b> and <b>code</b> under <b>Agents</b>. Nobody watches them, but Handraise’s <b>Home</b>{' '}
						shows them under <b>Other waiting sessions</b>.
					</li>
					<li>
						{command('/session watch all')} brings each question into the channel, as soon as an agent asks.{' '}
						{command('/session unwatch all')} ends that, and all other watches there.
					</li>
					<li>
						<b>Trouble</b>, then <b>No list</b>, is a service that cannot list its sessions. Handraise says so in the
						channel after five minutes, which moving the time does not shorten, and looks for the list as often. In your
						own Slack, an operator allows all this with <kbd>DISCOVER_SESSIONS=true</kbd>.
					</li>
				</ol>
			</Part>
			<Part title="More to try">
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
						Be somebody else at the lower left: a colleague in a second window, a guest, a person of another
						organisation.
					</li>
					<li>
						In a question’s thread, a message’s ⋮ menu has <b>Use as answer</b>.
					</li>
					<li>
						Handraise is not in #general: {command(`/invite @${data.workspace.app.name}`, 'general')} brings it there.
					</li>
				</ul>
			</Part>
		</div>
	);
}
